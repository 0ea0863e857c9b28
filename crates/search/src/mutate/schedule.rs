//! Which input is changed next: of a few that are drawn, the one that had the fewest turns for its
//! power, so that new inputs catch up with old ones. Power have inputs that opened much, that do
//! what few runs do, and that do it in few steps.

use fastrand::Rng;

use super::queue::Queue;

/// Inputs that are drawn for each turn.
const DRAWN: usize = 4;
/// What an input that is the cheapest one for some outcome has more.
const CHEAPEST: u32 = 4;

/// The number of an entry; `None` if there is none.
pub(super) fn pick(queue: &Queue, rng: &mut Rng) -> Option<usize> {
    let count = queue.entries().len();
    let drawn = (0..DRAWN).map(|_| (count > 0).then(|| rng.usize(0..count)));
    drawn.flatten().min_by_key(|number| cost(queue, *number))
}

/// Children of what hangs tend to hang, so that such inputs come only if there are hardly any
/// others.
fn cost(queue: &Queue, number: usize) -> (bool, u32, usize) {
    let entry = &queue.entries()[number];
    // In parts of a turn, which would be lost in a division.
    const PARTS: u32 = 256;
    let turns = entry.turns.saturating_mul(PARTS);
    (entry.hangs, turns / power(queue, number), entry.input.len())
}

fn power(queue: &Queue, number: usize) -> u32 {
    let opened = match queue.entries()[number].new_outcomes {
        0 => 1,
        opened => 2 + opened.ilog2(),
    };
    let cheapest = if queue.is_cheapest(number) { CHEAPEST } else { 1 };
    opened * cheapest * (1 + queue.rarity(number))
}

#[cfg(test)]
mod tests {
    use super::super::queue::tests::queue;
    use super::*;
    use crate::Outcome;

    /// How often each entry is picked, which are of one length.
    fn picks(queue: &mut Queue, turns: u32) -> Vec<u32> {
        let (mut rng, before) = (Rng::with_seed(1), taken(queue));
        for _ in 0..turns {
            let number = pick(queue, &mut rng).expect("an entry");
            queue.entry(number).expect("its number").turns += 1;
        }
        taken(queue).iter().zip(before).map(|(after, before)| after - before).collect()
    }

    fn taken(queue: &Queue) -> Vec<u32> {
        let mut turns: Vec<u32> = queue.entries().iter().map(|entry| entry.turns).collect();
        turns.resize(4, 0);
        turns
    }

    #[test]
    fn what_opened_much_has_more_turns_and_what_hangs_hardly_any() {
        let mut queue = queue(&[
            (b"one", 1, Outcome::Exit(0), &[(0, 1)]),
            (b"two", 64, Outcome::Exit(0), &[(1, 1)]),
            (b"six", 64, Outcome::Timeout, &[(2, 1)]),
        ]);
        let picked = picks(&mut queue, 3000);
        assert!(picked[1] > 2 * picked[0], "{picked:?}");
        assert!(10 * picked[2] < picked[0], "{picked:?}");
    }

    #[test]
    fn a_new_input_catches_up() {
        let mut queue = queue(&[
            (b"one", 1, Outcome::Exit(0), &[(0, 1)]),
            (b"two", 1, Outcome::Exit(0), &[(1, 1)]),
            (b"six", 1, Outcome::Exit(0), &[(2, 1)]),
        ]);
        for old in [0, 1] {
            queue.entry(old).expect("an entry").turns = 500;
        }
        let picked = picks(&mut queue, 300);
        assert!(picked[2] > 180, "{picked:?}");
    }

    #[test]
    fn without_inputs_there_is_none() {
        assert_eq!(pick(&Queue::default(), &mut Rng::with_seed(1)), None);
    }
}
