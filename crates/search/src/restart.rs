//! What a search does that has nothing left to try: it starts again from somewhere else, as DART
//! does where its solver cannot lead it on.

use std::ops::Range;

use crate::{Context, Mutate, Proposal, Random};

/// One restart in so many is a random input, the others are changes of what was found.
const RANDOM_ONE_IN: u32 = 8;

/// An input that may lead to where no flip led. Only bytes in `holes` may be changed, if there are
/// any.
pub fn restart(holes: Option<&[Range<usize>]>, context: &mut Context<'_>) -> Proposal {
    context.stats.restarts += 1;
    let Proposal { input, origin, .. } = match context.rng.u32(0..RANDOM_ONE_IN) {
        0 => Random::once(context),
        _ => Mutate::once(context),
    };
    let input = match holes {
        Some(holes) => within(holes, &input, context),
        None => input,
    };
    Proposal { input, symbolic: true, origin }
}

/// An input that was found, with the bytes of another one in its holes.
fn within(holes: &[Range<usize>], filling: &[u8], context: &mut Context<'_>) -> Vec<u8> {
    let found = context.corpus.entries();
    let end = holes.iter().map(|hole| hole.end).max().unwrap_or(0);
    let mut input = match found.len() {
        0 => vec![b'a'; end],
        count => found[context.rng.usize(0..count)].input.clone(),
    };
    for place in holes.iter().cloned().flatten() {
        if let (Some(byte), Some(other)) = (input.get_mut(place), filling.get(place)) {
            *byte = *other;
        }
    }
    input
}
