//! A strategy for one part of inputs that come from several sources: the other parts are those of
//! an input that was found before.

use search::{Context, Next, Proposal, Ran, Strategy};
use sources::Layout;

/// Lets a strategy that needs no traces make the bytes of one part.
pub struct InPart<'s> {
    inner: Box<dyn Strategy + 's>,
    layout: Layout,
    number: usize,
}

impl<'s> InPart<'s> {
    /// `number` is that of the part in the layout.
    pub fn new(inner: Box<dyn Strategy + 's>, layout: Layout, number: usize) -> InPart<'s> {
        InPart { inner, layout, number }
    }

    fn capacity(&self) -> usize {
        self.layout.parts().get(self.number).map_or(0, |part| part.capacity)
    }

    /// An input that was found, with these bytes in the part.
    fn with_bytes(&self, bytes: Vec<u8>, context: &mut Context<'_>) -> Vec<u8> {
        let entries = context.corpus.entries();
        let base = match entries.len() {
            0 => None,
            count => entries.get(context.rng.usize(0..count)),
        };
        let parts = base.and_then(|entry| self.layout.split(&entry.input).ok());
        let mut parts = parts.unwrap_or_else(|| vec![Vec::new(); self.layout.parts().len()]);
        if let Some(part) = parts.get_mut(self.number) {
            *part = bytes;
        }
        self.layout.join(&parts)
    }
}

impl Strategy for InPart<'_> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn wrapped(&self) -> Option<&dyn Strategy> {
        Some(&*self.inner)
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        let whole = std::mem::replace(&mut context.max_len, self.capacity());
        let next = self.inner.next(context);
        context.max_len = whole;
        match next {
            Next::Run(Proposal { input, symbolic, origin }) => {
                let input = self.with_bytes(input, context);
                Next::Run(Proposal { input, symbolic, origin })
            }
            other => other,
        }
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        let parts = self.layout.split(ran.input).unwrap_or_default();
        if let Some(bytes) = parts.get(self.number) {
            self.inner.learn(Ran { input: bytes, path: None, ..ran }, context);
        }
    }
}
