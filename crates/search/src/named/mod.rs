//! Whitebox search over the tokens of named lexers.
//!
//! What a lexer delivers is a variable of its own, with its codes as values, and the lexer's own
//! conditions are no steps of the path: the search is about the program after the lexer. It is
//! whitebox search over *token inputs*; here they are made of runs, and turned into texts before
//! they are run.

mod codes;
mod inputs;
mod pieces;

use std::cell::RefCell;
use std::rc::Rc;

pub use codes::Codes;
use inputs::MAX_ADDED;
pub use inputs::{Run, TokenInputs, TokenOf, View};
use pieces::Pieces;

use crate::{Context, Next, Ran, SavedSearch, Sentences, Strategy, Whitebox, WhiteboxOptions};

pub struct Named<'s> {
    name: &'static str,
    search: Whitebox<'s>,
    inputs: Rc<RefCell<TokenInputs>>,
    pieces: Pieces,
    /// The token input that was proposed last.
    proposed: Option<Vec<u8>>,
}

impl<'s> Named<'s> {
    pub const NAME: &'static str = "whitebox-tokens";

    pub fn new(options: WhiteboxOptions) -> Named<'s> {
        Named::searching(Named::NAME, Rc::default(), Whitebox::new(options))
    }

    /// Proposes sentences of a language only, which is given over token inputs.
    pub fn within<S: Sentences + 's>(
        options: WhiteboxOptions,
        sentences: impl FnOnce(Rc<RefCell<TokenInputs>>) -> S,
    ) -> Named<'s> {
        let inputs = Rc::default();
        let search = Whitebox::within(options, sentences(Rc::clone(&inputs)));
        Named::searching(Whitebox::NAME_WITHIN, inputs, search)
    }

    fn searching(
        name: &'static str,
        inputs: Rc<RefCell<TokenInputs>>,
        search: Whitebox<'s>,
    ) -> Named<'s> {
        Named { name, search, inputs, pieces: Pieces::default(), proposed: None }
    }

    /// Token inputs are longer than texts.
    fn with_room<T>(
        &mut self,
        context: &mut Context<'_>,
        work: impl FnOnce(&mut Whitebox<'s>, &mut Context<'_>) -> T,
    ) -> T {
        context.max_len += MAX_ADDED;
        let result = work(&mut self.search, context);
        context.max_len -= MAX_ADDED;
        result
    }
}

impl Strategy for Named<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn next(&mut self, context: &mut Context<'_>) -> Next {
        self.proposed = None;
        let mut proposal = match self.with_room(context, |search, context| search.next(context)) {
            Next::Run(proposal) => proposal,
            other => return other,
        };
        let text = self.pieces.spell(&self.inputs.borrow().view(&proposal.input));
        let Some(text) = text.filter(|text| text.len() <= context.max_len) else {
            return Next::Busy;
        };
        self.proposed = Some(std::mem::replace(&mut proposal.input, text));
        Next::Run(proposal)
    }

    fn learn(&mut self, ran: Ran<'_>, context: &mut Context<'_>) {
        let proposed = self.proposed.take();
        let (input, path) = match ran.path {
            Some(path) => {
                let (input, path) = self.inputs.borrow_mut().add(ran.input, path);
                if let Some((_, run)) = self.inputs.borrow().view(&input).run {
                    self.pieces.learn(run);
                }
                (input, Some(path))
            }
            None => (proposed.unwrap_or_else(|| TokenInputs::fresh(ran.input)), None),
        };
        let ran = Ran { input: &input, path, ..ran };
        self.with_room(context, |search, context| search.learn(ran, context));
    }

    fn queue(&self) -> usize {
        self.search.queue()
    }

    fn takes_any_input(&self) -> bool {
        self.search.takes_any_input()
    }

    fn save(&self) -> Option<SavedSearch> {
        let mut saved = self.search.save()?;
        let inputs = self.inputs.borrow();
        for waiting in &mut saved.waiting {
            *waiting = inputs.view(waiting).text.to_vec();
        }
        Some(saved)
    }

    fn restore(&mut self, saved: &SavedSearch) {
        self.search.restore(saved);
    }
}
