//! The core: a grammar in plain BNF, which all algorithms work on: `context_free::Productions`,
//! and what their author calls them.
//!
//! EBNF operators become nonterminals without a rule of their own (they are left out of trees):
//! `x*` is `L ::= | L x`, `x+` is `L ::= x | L x`, `x?` is `O ::= | x`, a group is its
//! alternatives.

use crate::model::{Expr, Grammar, Lexing, RuleId, TerminalId};
use context_free::Productions;
use context_free::earley::recognize::Recognizer;
use rustc_hash::FxHashMap;

pub use context_free::{NtId, ProdId, Sym};

#[derive(Clone, Debug)]
pub struct Nonterminal {
    pub name: String,
    /// `None` for what an EBNF operator became.
    pub rule: Option<RuleId>,
}

/// What the author of a production says about it.
#[derive(Clone, Copy, Debug)]
pub struct Production {
    /// Which alternative of the rule it spells.
    pub alt: u32,
    pub weight: f64,
}

#[derive(Clone, Debug)]
pub struct Core {
    pub productions: Productions,
    pub nts: Vec<Nonterminal>,
    prods: Vec<Production>,
    pub start: NtId,
}

/// A production before the tables are laid out.
#[derive(Clone, Debug)]
pub struct RawProd {
    pub rhs: Vec<Sym>,
    pub alt: u32,
    pub weight: f64,
}

/// A nonterminal before the tables are laid out.
#[derive(Clone, Debug)]
pub struct RawNt {
    pub name: String,
    pub rule: Option<RuleId>,
    pub prods: Vec<RawProd>,
}

impl Core {
    pub fn new(grammar: &Grammar) -> Core {
        let mut builder = Builder::new(grammar);
        builder.rules();
        let core = Core::from_raw(builder.nts, NtId(grammar.start.0), grammar.terminals.len());
        let ends: Vec<bool> = grammar.terminals.iter().map(|t| t.end_of_input).collect();
        if ends.contains(&true) {
            crate::model::end_of_input::eliminate(&core, &ends)
        } else {
            core
        }
    }

    pub fn from_raw(raw: Vec<RawNt>, start: NtId, terminals: usize) -> Core {
        let productions = Productions::new(terminals);
        let nts = Vec::with_capacity(raw.len());
        let mut core = Core { productions, nts, prods: Vec::new(), start };
        for RawNt { name, rule, prods } in raw {
            core.productions.add_nonterminal();
            core.nts.push(Nonterminal { name, rule });
            for RawProd { rhs, alt, weight } in prods {
                core.productions.add_production(rhs);
                core.prods.push(Production { alt, weight });
            }
        }
        core
    }

    /// The inverse of `from_raw`, for transformations.
    pub fn to_raw(&self) -> Vec<RawNt> {
        let raw_prod = |p: ProdId| {
            let prod = self.prod(p);
            RawProd { rhs: self.rhs(p).to_vec(), alt: prod.alt, weight: prod.weight }
        };
        self.nt_ids()
            .map(|nt| RawNt {
                name: self.nt(nt).name.clone(),
                rule: self.nt(nt).rule,
                prods: self.prods_of(nt).map(raw_prod).collect(),
            })
            .collect()
    }

    pub fn nt(&self, id: NtId) -> &Nonterminal {
        &self.nts[id.index()]
    }

    pub fn prod(&self, id: ProdId) -> &Production {
        &self.prods[id.index()]
    }

    #[inline]
    pub fn lhs(&self, id: ProdId) -> NtId {
        self.productions.lhs(id)
    }

    #[inline]
    pub fn rhs(&self, id: ProdId) -> &[Sym] {
        self.productions.rhs(id)
    }

    #[inline]
    pub fn prods_of(&self, nt: NtId) -> impl DoubleEndedIterator<Item = ProdId> + use<> {
        self.productions.prods_of(nt)
    }

    pub fn nt_ids(&self) -> impl DoubleEndedIterator<Item = NtId> + use<> {
        self.productions.nt_ids()
    }

    pub fn prod_ids(&self) -> impl DoubleEndedIterator<Item = ProdId> + use<> {
        self.productions.prod_ids()
    }

    /// A recogniser of the sentences.
    pub fn recognizer(&self) -> Recognizer {
        Recognizer::for_goal(&self.productions, self.start)
    }

    /// Number of terminals.
    pub fn terminals(&self) -> usize {
        self.productions.terminals()
    }

    /// Total number of symbols on right-hand sides.
    pub fn size(&self) -> usize {
        self.productions.size()
    }
}

struct Builder<'g> {
    grammar: &'g Grammar,
    nts: Vec<RawNt>,
    made: FxHashMap<Expr, NtId>,
    /// The rule being translated, for names.
    context: String,
}

impl<'g> Builder<'g> {
    fn new(grammar: &'g Grammar) -> Builder<'g> {
        let nts = grammar.rules.iter().enumerate().map(|(i, rule)| RawNt {
            name: rule.name.clone(),
            rule: Some(RuleId::from(i)),
            prods: Vec::new(),
        });
        Builder { grammar, nts: nts.collect(), made: FxHashMap::default(), context: String::new() }
    }

    fn rules(&mut self) {
        for (i, rule) in self.grammar.rules.iter().enumerate() {
            self.context.clone_from(&rule.name);
            for (alt, alternative) in rule.alternatives.iter().enumerate() {
                let mut rhs = Vec::new();
                self.sequence(&alternative.body, &mut rhs);
                self.nts[i].prods.push(RawProd {
                    rhs,
                    alt: alt as u32,
                    weight: alternative.weight,
                });
            }
        }
    }

    /// Appends what `expr` is to a right-hand side.
    fn sequence(&mut self, expr: &Expr, rhs: &mut Vec<Sym>) {
        match expr {
            Expr::Empty => {}
            Expr::Terminal(t) => rhs.push(self.terminal(*t)),
            Expr::Rule(r) => rhs.push(Sym::nonterminal(NtId(r.0))),
            Expr::Seq(parts) => parts.iter().for_each(|part| self.sequence(part, rhs)),
            Expr::Repeat { inner, min, max } => self.repetition(inner, *min, *max, rhs),
            Expr::Choice(_) => {
                let nt = self.auxiliary(expr);
                rhs.push(Sym::nonterminal(nt));
            }
        }
    }

    /// In a scannerless grammar a terminal that matches the empty string becomes optional, so that
    /// the terminals themselves are never empty. A lexer never delivers an empty token.
    fn terminal(&mut self, t: TerminalId) -> Sym {
        let terminal = self.grammar.terminal(t);
        let optional =
            self.grammar.lexing == Lexing::Scannerless && terminal.pattern.matches_empty();
        if !optional || terminal.end_of_input {
            return Sym::terminal(t);
        }
        let body = Expr::Terminal(t).repeat(0, Some(1));
        if let Some(&nt) = self.made.get(&body) {
            return Sym::nonterminal(nt);
        }
        let mut prods = vec![alternative(Vec::new(), 0)];
        if terminal.pattern.as_literal().is_none_or(|lit| !lit.is_empty()) {
            prods.push(alternative(vec![Sym::terminal(t)], 1));
        }
        Sym::nonterminal(self.add(body, "?", prods))
    }

    fn repetition(&mut self, inner: &Expr, min: u32, max: Option<u32>, rhs: &mut Vec<Sym>) {
        let (copies, list_min) = match max {
            None if min <= 1 => (0, min),
            None => (min - 1, 1),
            Some(_) => (min, 0),
        };
        for _ in 0..copies {
            self.sequence(inner, rhs);
        }
        match max {
            None => {
                let list = self.list(inner, list_min);
                rhs.push(Sym::nonterminal(list));
            }
            Some(max) if max > min => {
                let optional = self.up_to(inner, max - min);
                rhs.push(Sym::nonterminal(optional));
            }
            Some(_) => {}
        }
    }

    /// `L ::= | L x` or `L ::= x | L x`.
    fn list(&mut self, inner: &Expr, min: u32) -> NtId {
        let key = inner.clone().repeat(min, None);
        if let Some(&nt) = self.made.get(&key) {
            return nt;
        }
        let list = self.add(key, if min == 0 { "*" } else { "+" }, Vec::new());
        let mut item = Vec::new();
        self.sequence(inner, &mut item);
        let first = if min == 0 { Vec::new() } else { item.clone() };
        let mut more = vec![Sym::nonterminal(list)];
        more.extend(item);
        self.nts[list.index()].prods = vec![alternative(first, 0), alternative(more, 1)];
        list
    }

    /// At most `count` times: `O1 ::= | x`, `O2 ::= | x O1`, …
    fn up_to(&mut self, inner: &Expr, count: u32) -> NtId {
        let mut item = Vec::new();
        self.sequence(inner, &mut item);
        let mut last: Option<NtId> = None;
        for k in 1..=count {
            let key = inner.clone().repeat(0, Some(k));
            last = Some(match self.made.get(&key) {
                Some(&nt) => nt,
                None => {
                    let mut some = item.clone();
                    some.extend(last.map(Sym::nonterminal));
                    self.add(key, "?", vec![alternative(Vec::new(), 0), alternative(some, 1)])
                }
            });
        }
        last.expect("count is at least one")
    }

    /// A choice becomes a nonterminal.
    fn auxiliary(&mut self, expr: &Expr) -> NtId {
        if let Some(&nt) = self.made.get(expr) {
            return nt;
        }
        let nt = self.add(expr.clone(), "()", Vec::new());
        let Expr::Choice(parts) = expr else { unreachable!("only choices need a name") };
        for (i, part) in parts.iter().enumerate() {
            let mut rhs = Vec::new();
            self.sequence(part, &mut rhs);
            self.nts[nt.index()].prods.push(alternative(rhs, i as u32));
        }
        nt
    }

    fn add(&mut self, key: Expr, suffix: &str, prods: Vec<RawProd>) -> NtId {
        let id = NtId::from(self.nts.len());
        self.nts.push(RawNt { name: format!("{}{suffix}", self.context), rule: None, prods });
        self.made.insert(key, id);
        id
    }
}

fn alternative(rhs: Vec<Sym>, alt: u32) -> RawProd {
    RawProd { rhs, alt, weight: 1.0 }
}
