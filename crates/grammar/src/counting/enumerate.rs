//! `enumerate`: all strings of a `Space`, one after the other, without holding them.
//!
//! The walk keeps a stack of open choices and a list of what is still to be written. Small nodes at
//! the end of a string are tabulated once, so that the innermost loop copies a few bytes per
//! string.

use crate::counting::space::{Kind, NodeId, Space};
use crate::model::TerminalId;
use num_bigint::BigUint;
use std::ops::{ControlFlow, Deref};

/// Strings of a node are tabulated up to this many bytes.
const TABLE_BYTES: usize = 16 << 10;
const ALL_TABLES: usize = 32 << 20;
const NIL: u32 = u32::MAX;

/// What is handed out: the bytes of the lexemes, and the tokens as (terminal, where its lexeme
/// begins).
pub struct Found<'a> {
    pub text: &'a [u8],
    pub tokens: &'a [(TerminalId, u32)],
}

/// `S` is a space, borrowed or shared.
pub struct Enumerator<S> {
    space: S,
    tables: Vec<Option<Box<[u8]>>>,
    agenda: Vec<Todo>,
    frames: Vec<Frame>,
    text: Vec<u8>,
    tokens: Vec<(TerminalId, u32)>,
}

/// Still to be written, and what comes after it.
#[derive(Clone, Copy)]
struct Todo {
    node: NodeId,
    next: u32,
}

/// An open choice: what was chosen, and how to get back to before it.
#[derive(Clone, Copy)]
struct Frame {
    node: NodeId,
    choice: u32,
    last: u32,
    next: u32,
    agenda: u32,
    text: u32,
    tokens: u32,
}

impl<S: Deref<Target = Space>> Enumerator<S> {
    pub fn new(space: S) -> Enumerator<S> {
        let mut enumerator = Enumerator {
            tables: vec![None; space.kinds.len()],
            space,
            agenda: Vec::new(),
            frames: Vec::new(),
            text: Vec::new(),
            tokens: Vec::new(),
        };
        enumerator.tabulate();
        enumerator
    }

    /// Calls `each` for the strings from number `from` on, at most `limit` of them.
    pub fn run<F>(
        &mut self,
        from: &BigUint,
        limit: Option<&BigUint>,
        mut each: F,
    ) -> ControlFlow<()>
    where
        F: FnMut(Found) -> ControlFlow<()>,
    {
        let mut skip = from.clone();
        let mut left = limit.cloned();
        for at in 0..self.space.roots.len() {
            let root = self.space.roots[at];
            if left.as_ref().is_some_and(|l| *l == BigUint::ZERO) {
                break;
            }
            let count = self.space.count(root).clone();
            if skip >= count {
                skip -= count;
                continue;
            }
            let available = count - &skip;
            let wanted = left.as_ref().map_or(available.clone(), |l| l.min(&available).clone());
            self.walk(root, &skip, &wanted, &mut each)?;
            skip = BigUint::ZERO;
            if let Some(left) = &mut left {
                *left -= wanted;
            }
        }
        ControlFlow::Continue(())
    }

    fn walk<F>(
        &mut self,
        root: NodeId,
        skip: &BigUint,
        wanted: &BigUint,
        each: &mut F,
    ) -> ControlFlow<()>
    where
        F: FnMut(Found) -> ControlFlow<()>,
    {
        self.agenda.clear();
        self.frames.clear();
        self.text.clear();
        self.tokens.clear();
        let mut decisions =
            if *skip == BigUint::ZERO { Vec::new() } else { self.decisions(root, skip) };
        decisions.reverse();
        let mut left = u128::try_from(wanted).unwrap_or(u128::MAX);
        let mut at = self.push(root, NIL);
        loop {
            let done = self.forward(at, &mut decisions, &mut left, each)?;
            if !done {
                let found = Found { text: &self.text, tokens: &self.tokens };
                each(found)?;
                left -= 1;
            }
            if left == 0 {
                return ControlFlow::Continue(());
            }
            match self.back() {
                Some(next) => at = next,
                None => return ControlFlow::Continue(()),
            }
        }
    }

    fn push(&mut self, node: NodeId, next: u32) -> u32 {
        self.agenda.push(Todo { node, next });
        self.agenda.len() as u32 - 1
    }

    /// Writes everything on the agenda. True if the last part was handed out string by string
    /// already.
    #[inline]
    fn forward<F>(
        &mut self,
        mut at: u32,
        decisions: &mut Vec<u32>,
        left: &mut u128,
        each: &mut F,
    ) -> ControlFlow<(), bool>
    where
        F: FnMut(Found) -> ControlFlow<()>,
    {
        while at != NIL {
            let Todo { node, next } = self.agenda[at as usize];
            if let Kind::Mark(terminal) = self.space.kinds[node.0 as usize] {
                self.tokens.push((terminal, self.text.len() as u32));
                at = next;
                continue;
            }
            let (choices, first) = self.choices(node);
            let choice = if choices > 1 { decisions.pop().unwrap_or(0) } else { 0 };
            if next == NIL && self.tables[node.0 as usize].is_some() {
                self.tail(node, choice, left, each)?;
                return ControlFlow::Continue(true);
            }
            if choices > 1 {
                self.frames.push(Frame {
                    node,
                    choice,
                    last: choices - 1,
                    next,
                    agenda: self.agenda.len() as u32,
                    text: self.text.len() as u32,
                    tokens: self.tokens.len() as u32,
                });
            }
            at = self.write(node, first, choice, next);
        }
        ControlFlow::Continue(false)
    }

    /// Number of choices at a node, and the first option.
    #[inline]
    fn choices(&self, node: NodeId) -> (u32, u32) {
        if self.tables[node.0 as usize].is_some() {
            return (self.space.counts[node.0 as usize].iter_u32_digits().next().unwrap_or(0), 0);
        }
        match self.space.kinds[node.0 as usize] {
            Kind::Bytes { from, to } | Kind::Choice { from, to } => (to - from, from),
            Kind::Mark(_) => (1, 0),
        }
    }

    /// Writes one choice of a node; returns what to do next.
    #[inline]
    fn write(&mut self, node: NodeId, first: u32, choice: u32, next: u32) -> u32 {
        if let Some(table) = &self.tables[node.0 as usize] {
            let width = self.space.width[node.0 as usize].expect("tables have a width") as usize;
            let from = choice as usize * width;
            self.text.extend_from_slice(&table[from..from + width]);
            return next;
        }
        match self.space.kinds[node.0 as usize] {
            Kind::Bytes { .. } => {
                self.text.push(self.space.pool[(first + choice) as usize]);
                next
            }
            Kind::Choice { .. } => {
                let (from, to) = self.space.options[(first + choice) as usize];
                let mut at = next;
                for part in (from..to).rev() {
                    at = self.push(self.space.parts[part as usize], at);
                }
                at
            }
            Kind::Mark(_) => next,
        }
    }

    /// The innermost loop: all strings of a tabulated node at the end.
    #[inline]
    fn tail<F>(&mut self, node: NodeId, from: u32, left: &mut u128, each: &mut F) -> ControlFlow<()>
    where
        F: FnMut(Found) -> ControlFlow<()>,
    {
        let table = self.tables[node.0 as usize].as_ref().expect("checked");
        let width = self.space.width[node.0 as usize].expect("tables have a width") as usize;
        let start = self.text.len();
        self.text.resize(start + width, 0);
        let (count, _) = self.choices(node);
        let end = if *left < u128::from(count - from) { from + *left as u32 } else { count };
        *left -= u128::from(end - from);
        for choice in from as usize..end as usize {
            self.text[start..].copy_from_slice(&table[choice * width..(choice + 1) * width]);
            each(Found { text: &self.text, tokens: &self.tokens })?;
        }
        self.text.truncate(start);
        ControlFlow::Continue(())
    }

    /// Goes on to the next choice of the last open frame.
    #[inline]
    fn back(&mut self) -> Option<u32> {
        while let Some(frame) = self.frames.last_mut() {
            if frame.choice == frame.last {
                self.frames.pop();
                continue;
            }
            frame.choice += 1;
            let frame = *frame;
            self.agenda.truncate(frame.agenda as usize);
            self.text.truncate(frame.text as usize);
            self.tokens.truncate(frame.tokens as usize);
            let (_, first) = self.choices(frame.node);
            return Some(self.write(frame.node, first, frame.choice, frame.next));
        }
        None
    }

    /// The choices that lead to string number `index` of `root`.
    fn decisions(&self, root: NodeId, index: &BigUint) -> Vec<u32> {
        let mut decisions = Vec::new();
        let mut todo = vec![(root, index.clone())];
        while let Some((node, index)) = todo.pop() {
            let (choices, first) = self.choices(node);
            let whole = self.tables[node.0 as usize].is_some();
            match self.space.kinds[node.0 as usize] {
                Kind::Choice { .. } if !whole => {
                    let (choice, rest) = self.option_of(first, choices, index);
                    if choices > 1 {
                        decisions.push(choice);
                    }
                    self.split(first + choice, rest, &mut todo);
                }
                Kind::Mark(_) => {}
                _ if choices > 1 => decisions.push(index.iter_u32_digits().next().unwrap_or(0)),
                _ => {}
            }
        }
        decisions
    }

    fn option_of(&self, first: u32, choices: u32, mut index: BigUint) -> (u32, BigUint) {
        for choice in 0..choices {
            let count = self.space.option_count(first + choice);
            if index < count {
                return (choice, index);
            }
            index -= count;
        }
        unreachable!("the index is below the count")
    }

    /// Divides an index among the parts of an option, the last part being the lowest digit.
    fn split(&self, option: u32, mut index: BigUint, todo: &mut Vec<(NodeId, BigUint)>) {
        for &part in self.space.option(option).iter().rev() {
            let count = self.space.count(part);
            todo.push((part, &index % count));
            index /= count;
        }
    }

    /// Tables for nodes with few bytes in all and without tokens inside; children before parents.
    fn tabulate(&mut self) {
        let mut used = 0;
        let mut state = vec![0u8; self.space.kinds.len()];
        let mut todo: Vec<NodeId> = self.space.roots.clone();
        while let Some(&node) = todo.last() {
            let i = node.0 as usize;
            let Kind::Choice { from, to } = self.space.kinds[i] else {
                todo.pop();
                if let Kind::Bytes { from, to } = self.space.kinds[i] {
                    self.tables[i] = Some(self.space.pool[from as usize..to as usize].into());
                }
                continue;
            };
            state[i] = state[i].saturating_add(1);
            if state[i] == 1 {
                (from..to).for_each(|o| todo.extend_from_slice(self.space.option(o)));
                continue;
            }
            todo.pop();
            if state[i] == 2 && used < ALL_TABLES {
                self.tables[i] = self.table(node, from, to);
                used += self.tables[i].as_ref().map_or(0, |t| t.len());
            }
        }
    }

    fn table(&self, node: NodeId, from: u32, to: u32) -> Option<Box<[u8]>> {
        let width = self.space.width[node.0 as usize].filter(|w| *w > 0)? as usize;
        let count =
            usize::try_from(self.space.count(node)).ok().filter(|c| c * width <= TABLE_BYTES)?;
        let mut all = Vec::with_capacity(count * width);
        for option in from..to {
            let mut product: Vec<Vec<u8>> = vec![Vec::new()];
            for part in self.space.option(option) {
                let table = self.tables[part.0 as usize].as_ref();
                let width = self.space.width[part.0 as usize].expect("parts of a node with a width")
                    as usize;
                let strings: Vec<&[u8]> = match table {
                    Some(table) => table.chunks(width).collect(),
                    None if width == 0 && !self.has_mark(*part) => vec![&[]],
                    None => return None,
                };
                product =
                    product.iter().flat_map(|p| strings.iter().map(|s| [p, *s].concat())).collect();
            }
            product.iter().for_each(|s| all.extend_from_slice(s));
        }
        Some(all.into())
    }

    fn has_mark(&self, node: NodeId) -> bool {
        // A node without width is either a mark or a way to write nothing, possibly in several
        // ways.
        matches!(self.space.kinds[node.0 as usize], Kind::Mark(_))
            || *self.space.count(node) != BigUint::from(1u32)
    }
}
