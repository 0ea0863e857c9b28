//! Operator precedence, worked into the rules for parsing.
//!
//! `e ::= e '*' e | e '+' e | '-' e | x` with precedences becomes one nonterminal per level: `e0
//! ::= e0 '+' e1 | e1`, `e1 ::= e1 '*' e2 | e2`, `e2 ::= '-' e1 | x`. The language stays the same;
//! what changes is that (nearly) one derivation is left, the one that the precedences ask for, and
//! that parsing long chains of operators takes linear time. Non-associative operators associate to
//! the left.

use crate::model::core::{Core, NtId, ProdId, RawNt, RawProd, Sym};
use crate::model::{Grammar, Prec};

/// A core for parsing, and which production of the original core each of its productions is. Those
/// that only lead from one level to the next are none.
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
    let core = Core::from_raw(nts, core.start, core.terminals());
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

    fn rewrite(
        &self,
        core: &Core,
        nt: NtId,
        nts: &mut Vec<RawNt>,
        original: &mut Vec<Vec<Option<ProdId>>>,
    ) {
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
        self.loose_suffixes(core, &ids, nts, original);
    }

    /// `x is null * y`, where `is null` binds less than `*`: what ends with a suffix can be the
    /// left operand of anything. So wherever an operand of level k stands on the left, `ck ::= e0
    /// 'is null'` may too, for all suffixes below k.
    fn loose_suffixes(
        &self,
        core: &Core,
        ids: &[NtId],
        nts: &mut Vec<RawNt>,
        original: &mut Vec<Vec<Option<ProdId>>>,
    ) {
        let placed = |shapes: &[Shape]| -> Vec<(ProdId, usize, Vec<Sym>)> {
            let of = self.shapes.iter().filter(|s| shapes.contains(&s.1));
            of.map(|&(p, shape, prec)| (p, self.place(core.rhs(p), shape, prec, ids)))
                .map(|(p, (level, rhs))| (p, level, rhs))
                .collect()
        };
        let suffixes = placed(&[Shape::Suffix]);
        let operators = placed(&[Shape::Suffix, Shape::Binary]);
        let mut closed_below: Vec<Option<NtId>> = vec![None; ids.len()];
        let mut made: Option<(usize, NtId)> = None;
        for (k, id) in ids.iter().enumerate() {
            let left = |o: &&(ProdId, usize, Vec<Sym>)| o.2[0] == Sym::nonterminal(*id);
            let below: Vec<_> = suffixes.iter().filter(|s| s.1 < k).collect();
            if below.is_empty() || !operators.iter().any(|o| left(&o)) {
                continue;
            }
            // Levels between the same two suffixes share one.
            let shared = made.filter(|(suffixes, _)| *suffixes == below.len());
            let closed = shared.map_or(NtId::from(nts.len()), |(_, closed)| closed);
            if shared.is_none() {
                nts.push(RawNt { prods: Vec::new(), ..nts[ids[0].index()].clone() });
                original.push(Vec::new());
            }
            made = Some((below.len(), closed));
            closed_below[k] = Some(closed);
            let mut put = |nt: NtId, rhs: Vec<Sym>, p: ProdId| {
                let (alt, weight) = (core.prod(p).alt, core.prod(p).weight);
                nts[nt.index()].prods.push(RawProd { rhs, alt, weight });
                original[nt.index()].push(Some(p));
            };
            for (p, level, rhs) in below.iter().filter(|_| shared.is_none()) {
                put(closed, rhs.clone(), *p);
                if let Some(operand) = closed_below[*level] {
                    put(closed, with_left(rhs, operand), *p);
                }
            }
            for (p, level, rhs) in operators.iter().filter(left) {
                put(ids[*level], with_left(rhs, closed), *p);
            }
        }
    }

    /// The level a production belongs to, and its right-hand side there.
    fn place(
        &self,
        rhs: &[Sym],
        shape: Shape,
        prec: Option<Prec>,
        ids: &[NtId],
    ) -> (usize, Vec<Sym>) {
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

fn with_left(rhs: &[Sym], operand: NtId) -> Vec<Sym> {
    let mut rhs = rhs.to_vec();
    rhs[0] = Sym::nonterminal(operand);
    rhs
}

fn shape(rhs: &[Sym], me: Sym) -> Shape {
    match (rhs.len() > 1 && rhs[0] == me, rhs.len() > 1 && rhs[rhs.len() - 1] == me) {
        (true, true) => Shape::Binary,
        (true, false) => Shape::Suffix,
        (false, true) => Shape::Prefix,
        (false, false) => Shape::Primary,
    }
}
