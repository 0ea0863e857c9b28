//! Operator precedence, worked into the rules for parsing.
//!
//! `e ::= e '*' e | e '+' e | '-' e | x` with precedences becomes one nonterminal per level:
//! `e0 ::= e0 '+' e1 | e1`, `e1 ::= e1 '*' e2 | e2`, `e2 ::= '-' e1 | x`. The language stays the same; what
//! changes is that (nearly) one derivation is left, the one that the precedences ask for, and that parsing
//! long chains of operators takes linear time. Non-associative operators associate to the left.

use crate::core::{Core, NtId, ProdId, RawNt, RawProd, Sym};
use crate::model::{Grammar, Prec};

/// A core for parsing, and which production of the original core each of its productions is. Those that only
/// lead from one level to the next are none.
pub struct Stratified {
    pub core: Core,
    pub original: Vec<Option<ProdId>>,
}

pub fn stratify(grammar: &Grammar, core: &Core) -> Stratified {
    let mut nts: Vec<RawNt> = core.to_raw();
    let mut original: Vec<Vec<Option<ProdId>>> =
        core.nt_ids().map(|nt| core.prods_of(nt).map(Some).collect()).collect();
    for nt in core.nt_ids() {
        if let Some(levels) = Levels::of(grammar, core, nt) {
            levels.rewrite(core, nt, &mut nts, &mut original);
        }
    }
    let core = Core::from_raw(nts, core.start, core.terminals);
    Stratified { core, original: original.concat() }
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Binary,
    Suffix,
    Prefix,
    Primary,
}

struct Levels {
    /// Distinct levels of operators with something on their left, loosest first.
    levels: Vec<u32>,
    shapes: Vec<(ProdId, Shape, Option<Prec>)>,
}

impl Levels {
    fn of(grammar: &Grammar, core: &Core, nt: NtId) -> Option<Levels> {
        let rule = grammar.rule(core.nt(nt).rule?);
        let me = Sym::nonterminal(nt);
        let shapes: Vec<_> = core
            .prods_of(nt)
            .map(|p| {
                let prec = rule.alternatives[core.prod(p).alt as usize].prec;
                (p, shape(core.rhs(p), me), prec)
            })
            .collect();
        let operators = shapes.iter().filter(|s| matches!(s.1, Shape::Binary | Shape::Suffix));
        let mut levels: Vec<u32> = operators.map(|s| s.2.map_or(0, |p| p.level)).collect();
        levels.sort_unstable();
        levels.dedup();
        // A binary operator without any precedence is meant to be ambiguous.
        let known = shapes.iter().any(|s| s.2.is_some());
        (known && !levels.is_empty()).then_some(Levels { levels, shapes })
    }

    fn rewrite(&self, core: &Core, nt: NtId, nts: &mut Vec<RawNt>, original: &mut Vec<Vec<Option<ProdId>>>) {
        let top = self.levels.len();
        let ids: Vec<NtId> =
            (0..=top).map(|l| if l == 0 { nt } else { NtId::from(nts.len() + l - 1) }).collect();
        let (name, rule) = (nts[nt.index()].name.clone(), nts[nt.index()].rule);
        nts.extend((0..top).map(|_| RawNt { name: name.clone(), rule, prods: Vec::new() }));
        original.extend((0..top).map(|_| Vec::new()));
        nts[nt.index()].prods.clear();
        original[nt.index()].clear();
        let mut put = |level: usize, rhs: Vec<Sym>, from: Option<ProdId>| {
            let (alt, weight) = from.map_or((0, 1.0), |p| (core.prod(p).alt, core.prod(p).weight));
            nts[ids[level].index()].prods.push(RawProd { rhs, alt, weight });
            original[ids[level].index()].push(from);
        };
        for &(p, shape, prec) in &self.shapes {
            let (level, rhs) = self.place(core.rhs(p), shape, prec, &ids);
            put(level, rhs, Some(p));
        }
        for level in 0..top {
            put(level, vec![Sym::nonterminal(ids[level + 1])], None);
        }
    }

    /// The level a production belongs to, and its right-hand side there.
    fn place(&self, rhs: &[Sym], shape: Shape, prec: Option<Prec>, ids: &[NtId]) -> (usize, Vec<Sym>) {
        let top = self.levels.len();
        let level = prec.map_or(0, |p| self.levels.partition_point(|l| *l < p.level));
        let right_assoc = prec.is_some_and(|p| p.right);
        let mut rhs = rhs.to_vec();
        let last = rhs.len().saturating_sub(1);
        match shape {
            Shape::Primary => return (top, rhs),
            Shape::Prefix => {
                rhs[last] = Sym::nonterminal(ids[level]);
                return (top, rhs);
            }
            Shape::Suffix => rhs[0] = Sym::nonterminal(ids[level]),
            Shape::Binary => {
                rhs[0] = Sym::nonterminal(ids[if right_assoc { level + 1 } else { level }]);
                rhs[last] = Sym::nonterminal(ids[if right_assoc { level } else { level + 1 }]);
            }
        }
        (level, rhs)
    }
}

fn shape(rhs: &[Sym], me: Sym) -> Shape {
    match (rhs.len() > 1 && rhs[0] == me, rhs.len() > 1 && rhs[rhs.len() - 1] == me) {
        (true, true) => Shape::Binary,
        (true, false) => Shape::Suffix,
        (false, true) => Shape::Prefix,
        (false, false) => Shape::Primary,
    }
}
