//! Rules that do not contain themselves, folded into the rules that use them, for parsing what is
//! very ambiguous.
//!
//! In `doc ::= (line NL)*`, `line ::= '<' any* '>' | any`, `any ::= '<' | '>' | NL | …` every place
//! of an input may be the beginning of a line that has not ended yet. Earley's items say where they
//! began, so a set holds as many as there are places before it, and time is quadratic. But where no
//! rule contains itself, other than as a list, the beginning does not matter: the rules are one
//! finite automaton. `flatten` makes the automaton of each rule that has to stay (the start, and
//! what is recursive) into left-linear productions, `K ::= Aq` for a last position q, `Aq ::= x`
//! for a first one, `Aq ::= Ap x` where x may follow p, whose items all begin where K does. The
//! marks between symbols say which tree was meant (`restore`).

use crate::model::analysis::components;
use crate::model::core::{Core, NtId, ProdId, RawNt, RawProd, Sym};
use crate::parse::fragment::{Fragment, Mark, Marks};
use crate::trees::tree::{Label, Reversed, Tree};

/// Fragments may hold this much in all: rules that are used in many places are copied often.
const MAX_SIZE: usize = 200_000;

/// Left-linear productions for a core, and what they stand for.
pub(crate) struct Flat {
    pub core: Core,
    /// Of each production: marks after everything, and marks before the last symbol.
    marks: Vec<(Marks, Marks)>,
}

/// What a nonterminal becomes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// Stays as it is: each production is one terminal.
    Tokens,
    /// Stays, as an automaton.
    Kept,
    /// `L ::= base | L x`, folded into what uses it.
    List,
    Folded,
}

struct Flattener<'c> {
    core: &'c Core,
    original: &'c [Option<ProdId>],
    kinds: Vec<Kind>,
    fragments: Vec<Option<Fragment>>,
    size: usize,
}

/// `None` if the automata would be too large. `original` names the production of the trees' core
/// for each of `core`'s.
pub(crate) fn flatten(core: &Core, original: &[Option<ProdId>]) -> Option<Flat> {
    let component = components(&uses(core));
    let kinds = core.nt_ids().map(|nt| kind(core, original, &component, nt)).collect();
    let fragments = vec![None; core.nts.len()];
    let mut flattener = Flattener { core, original, kinds, fragments, size: 0 };
    // What a nonterminal uses has a smaller number, or is recursive and stays.
    let mut order: Vec<NtId> = core.nt_ids().collect();
    order.sort_by_key(|nt| component[nt.index()]);
    for nt in order {
        let fragment = flattener.fragment(nt)?;
        flattener.fragments[nt.index()] = Some(fragment);
    }
    flattener.finish()
}

fn uses(core: &Core) -> Vec<Vec<NtId>> {
    let of = |nt| {
        core.prods_of(nt).flat_map(|p| core.rhs(p)).filter_map(|s| s.as_nonterminal()).collect()
    };
    core.nt_ids().map(of).collect()
}

fn kind(core: &Core, original: &[Option<ProdId>], component: &[u32], nt: NtId) -> Kind {
    let is_token = |p: ProdId| matches!(core.rhs(p), [s] if s.as_terminal().is_some());
    let me = |s: &Sym| *s == Sym::nonterminal(nt);
    let near =
        |s: &Sym| s.as_nonterminal().is_some_and(|n| component[n.index()] == component[nt.index()]);
    let recursive = |p: &ProdId| core.rhs(*p).iter().any(near);
    let lists = |p: ProdId| {
        let rhs = core.rhs(p);
        rhs.len() > 1 && me(&rhs[0]) && !rhs[1..].iter().any(near) && original[p.index()].is_some()
    };
    if core.prods_of(nt).all(is_token) {
        Kind::Tokens
    } else if nt == core.start {
        Kind::Kept
    } else if !core.prods_of(nt).any(|p| recursive(&p)) {
        Kind::Folded
    } else if core.prods_of(nt).filter(recursive).all(lists) {
        Kind::List
    } else {
        Kind::Kept
    }
}

impl Flattener<'_> {
    fn fragment(&mut self, nt: NtId) -> Option<Fragment> {
        let mut base = Fragment::default();
        let mut more = Fragment::default();
        for p in self.core.prods_of(nt) {
            let recursive = self.kinds[nt.index()] == Kind::List
                && self.core.rhs(p).first() == Some(&Sym::nonterminal(nt));
            let body = self.sequence(&self.core.rhs(p)[usize::from(recursive)..])?;
            match (self.original[p.index()], recursive) {
                (Some(shown), true) => more = more.or(&body.before(Mark::Item(shown, nt))),
                (Some(shown), false) => {
                    base = base.or(&body.after(Mark::Open(shown)).before(Mark::Close(shown)));
                }
                (None, _) => base = base.or(&body),
            }
            self.pay(base.size() + more.size())?;
        }
        if self.kinds[nt.index()] != Kind::List {
            return Some(base);
        }
        self.pay((base.last.len() + more.last.len()) * more.first.len())?;
        Some(base.after(Mark::Begin(nt)).repeating(&more))
    }

    fn sequence(&mut self, symbols: &[Sym]) -> Option<Fragment> {
        let mut all = Fragment::nothing();
        for symbol in symbols {
            let part = match symbol.as_nonterminal() {
                Some(nt) if matches!(self.kinds[nt.index()], Kind::List | Kind::Folded) => {
                    self.fragments[nt.index()].clone()?
                }
                _ => Fragment::symbol(*symbol),
            };
            self.pay(part.size() + all.last.len() * part.first.len())?;
            all = all.then(&part);
        }
        Some(all)
    }

    fn pay(&mut self, size: usize) -> Option<()> {
        self.size += size;
        (self.size <= MAX_SIZE).then_some(())
    }

    fn finish(self) -> Option<Flat> {
        let mut nts: Vec<RawNt> =
            self.core.nt_ids().map(|nt| self.bare(&self.core.nt(nt).name)).collect();
        let mut marks: Vec<Vec<(Marks, Marks)>> = vec![Vec::new(); nts.len()];
        for nt in self.core.nt_ids() {
            let fragment = self.fragments[nt.index()].as_ref()?;
            match self.kinds[nt.index()] {
                Kind::List | Kind::Folded => {}
                Kind::Tokens => self.tokens(nt, &mut nts, &mut marks),
                Kind::Kept => self.left_linear(nt, fragment, &mut nts, &mut marks),
            }
        }
        let core = Core::from_raw(nts, self.core.start, self.core.terminals());
        Some(Flat { core, marks: marks.concat() })
    }

    fn bare(&self, name: &str) -> RawNt {
        RawNt { name: name.to_string(), rule: None, prods: Vec::new() }
    }

    fn tokens(&self, nt: NtId, nts: &mut [RawNt], marks: &mut [Vec<(Marks, Marks)>]) {
        for p in self.core.prods_of(nt) {
            nts[nt.index()].prods.push(plain(self.core.rhs(p).to_vec()));
            let around = self.original[p.index()].map_or_else(Default::default, |shown| {
                (vec![Mark::Close(shown)], vec![Mark::Open(shown)])
            });
            marks[nt.index()].push(around);
        }
    }

    fn left_linear(
        &self,
        nt: NtId,
        fragment: &Fragment,
        nts: &mut Vec<RawNt>,
        marks: &mut Vec<Vec<(Marks, Marks)>>,
    ) {
        let base = nts.len();
        let reached = |position: u32| Sym::nonterminal(NtId::from(base + position as usize));
        let name = self.core.nt(nt).name.clone();
        nts.extend(fragment.symbols.iter().map(|_| self.bare(&name)));
        marks.resize(nts.len(), Vec::new());
        let mut add = |lhs: usize, rhs: Vec<Sym>, after: &Marks, before: &Marks| {
            nts[lhs].prods.push(plain(rhs));
            marks[lhs].push((after.clone(), before.clone()));
        };
        let none = Marks::new();
        if let Some(empty) = &fragment.empty {
            add(nt.index(), Vec::new(), empty, &none);
        }
        for (last, after) in &fragment.last {
            add(nt.index(), vec![reached(*last)], after, &none);
        }
        for (first, before) in &fragment.first {
            add(base + *first as usize, vec![fragment.symbols[*first as usize]], &none, before);
        }
        for (from, to, before) in &fragment.follow {
            let symbol = fragment.symbols[*to as usize];
            add(base + *to as usize, vec![reached(*from), symbol], &none, before);
        }
    }
}

fn plain(rhs: Vec<Sym>) -> RawProd {
    RawProd { rhs, alt: 0, weight: 1.0 }
}

enum Task {
    Node(usize),
    Marks(ProdId),
}

impl Flat {
    /// The tree that a tree of the left-linear productions stands for.
    pub fn restore(&self, tree: &Tree) -> Tree {
        let mut done = Reversed::new(tree.text.len() as u32);
        let mut open: Vec<Frame> = Vec::new();
        let mut todo = vec![Task::Node(0)];
        while let Some(task) = todo.pop() {
            match task {
                Task::Marks(p) => self.apply(&self.marks[p.index()].1, &mut open, &mut done),
                Task::Node(i) => match tree.nodes[i].label {
                    Label::Token(t) => done.token(t, tree.nodes[i].start, tree.nodes[i].end),
                    Label::Prod(p) => {
                        self.apply(&self.marks[p.index()].0, &mut open, &mut done);
                        let mut children: Vec<Task> = tree.children(i).map(Task::Node).collect();
                        let last = children.pop();
                        todo.append(&mut children);
                        todo.push(Task::Marks(p));
                        todo.extend(last);
                    }
                },
            }
        }
        let mut restored = done.into_tree(&tree.text);
        restored.set_spans();
        restored
    }

    /// From right to left: a node's end comes first.
    fn apply(&self, marks: &[Mark], open: &mut Vec<Frame>, done: &mut Reversed) {
        for mark in marks.iter().rev() {
            let after = done.nodes.len() as u32;
            match *mark {
                Mark::Close(prod) => open.push(Frame { prod, list: None, after }),
                Mark::Item(prod, list) => open.push(Frame { prod, list: Some(list), after }),
                Mark::Open(_) => open.pop().into_iter().for_each(|frame| frame.close(done)),
                Mark::Begin(list) => {
                    while let Some(frame) = open.pop_if(|frame| frame.list == Some(list)) {
                        frame.close(done);
                    }
                }
            }
        }
    }
}

/// A node whose beginning is still to come.
struct Frame {
    prod: ProdId,
    list: Option<NtId>,
    after: u32,
}

impl Frame {
    fn close(self, done: &mut Reversed) {
        done.close(self.prod, self.after, done.leftmost);
    }
}
