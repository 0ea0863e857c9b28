//! `cover`: which rules, alternatives and k-paths trees exercise, and sampling until all k-paths
//! appear.
//!
//! A k-path is a chain of k rules in which each next one stands in an alternative of the one before
//! it. What an EBNF operator became is no rule: it is looked through.

use crate::model::RuleId;
use crate::model::core::{Core, NtId, ProdId, Sym};
use crate::model::language::Language;
use crate::sampling::sample::Sampler;
use crate::trees::tree::{Label, Tree};
use fastrand::Rng;
use rustc_hash::{FxHashMap, FxHashSet};

pub type Path = Vec<RuleId>;

#[derive(Default, Debug)]
pub struct Coverage {
    pub k: usize,
    pub rules: FxHashSet<RuleId>,
    pub alternatives: FxHashSet<(RuleId, u32)>,
    pub paths: FxHashSet<Path>,
}

impl Coverage {
    pub fn new(k: usize) -> Coverage {
        Coverage { k, ..Coverage::default() }
    }

    pub fn add(&mut self, core: &Core, tree: &Tree) {
        // Rules above the current node, with where their subtrees end.
        let mut open: Vec<(usize, RuleId)> = Vec::new();
        for (i, node) in tree.nodes.iter().enumerate() {
            while open.last().is_some_and(|(end, _)| *end <= i) {
                open.pop();
            }
            let Label::Prod(p) = node.label else { continue };
            let Some(rule) = core.nt(core.lhs(p)).rule else { continue };
            self.rules.insert(rule);
            self.alternatives.insert((rule, core.prod(p).alt));
            open.push((i + node.size as usize, rule));
            if self.k > 0 && open.len() >= self.k {
                self.paths.insert(open[open.len() - self.k..].iter().map(|(_, r)| *r).collect());
            }
        }
    }
}

/// Rules that stand in the alternatives of each rule, with the production and position that lead
/// there.
pub struct RuleGraph {
    /// By nonterminal of a rule: the next rule's nonterminal and a shortest way to it.
    next: Vec<Vec<(NtId, Way)>>,
    start: NtId,
}

/// Which production to take, and which symbol of it to follow, several times.
type Way = Vec<(ProdId, usize)>;

impl RuleGraph {
    pub fn new(language: &Language) -> RuleGraph {
        let core = &language.core;
        let next = core.nt_ids().map(|nt| reach(language, nt)).collect();
        RuleGraph { next, start: core.start }
    }

    /// All k-paths that some sentence contains, at most `limit`; true if there are more.
    pub fn paths(&self, core: &Core, k: usize, limit: usize) -> (Vec<Vec<NtId>>, bool) {
        let mut all = Vec::new();
        let mut todo: Vec<Vec<NtId>> = self
            .reachable()
            .into_iter()
            .filter(|nt| core.nt(*nt).rule.is_some())
            .map(|nt| vec![nt])
            .collect();
        todo.reverse();
        while let Some(path) = todo.pop() {
            if path.len() >= k {
                if all.len() == limit {
                    return (all, true);
                }
                all.push(path);
                continue;
            }
            let last = path[path.len() - 1];
            for (nt, _) in self.next[last.index()].iter().rev() {
                let mut longer = path.clone();
                longer.push(*nt);
                todo.push(longer);
            }
        }
        (all, false)
    }

    fn reachable(&self) -> Vec<NtId> {
        let mut all = vec![self.start];
        let mut seen: FxHashSet<NtId> = FxHashSet::from_iter([self.start]);
        let mut i = 0;
        while i < all.len() {
            for (nt, _) in &self.next[all[i].index()] {
                if seen.insert(*nt) {
                    all.push(*nt);
                }
            }
            i += 1;
        }
        all
    }

    /// A shortest way from the start to a nonterminal.
    fn way_to(&self, target: NtId) -> Option<Way> {
        let mut from: FxHashMap<NtId, (NtId, &Way)> = FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([self.start]);
        while let Some(nt) = queue.pop_front() {
            if nt == target {
                let mut ways: Vec<&Way> = Vec::new();
                let mut at = nt;
                while at != self.start {
                    let (up, way) = from[&at];
                    ways.push(way);
                    at = up;
                }
                return Some(ways.into_iter().rev().flatten().copied().collect());
            }
            for (next, way) in &self.next[nt.index()] {
                if *next != self.start && !from.contains_key(next) {
                    from.insert(*next, (nt, way));
                    queue.push_back(*next);
                }
            }
        }
        None
    }

    fn way_along(&self, path: &[NtId]) -> Option<Way> {
        let mut way = self.way_to(path[0])?;
        for pair in path.windows(2) {
            let step = self.next[pair[0].index()].iter().find(|(nt, _)| *nt == pair[1])?;
            way.extend(&step.1);
        }
        Some(way)
    }
}

/// Rules below a nonterminal, looking through nonterminals without a rule.
fn reach(language: &Language, nt: NtId) -> Vec<(NtId, Way)> {
    let core = &language.core;
    let productive =
        |s: &Sym| s.as_nonterminal().is_none_or(|n| language.analysis.productive[n.index()]);
    let lexemes = |s: &Sym| s.as_terminal().is_none_or(|t| !language.lexemes[t.index()].is_empty());
    let mut found: Vec<(NtId, Way)> = Vec::new();
    let mut seen: FxHashSet<NtId> = FxHashSet::default();
    let mut queue = std::collections::VecDeque::from([(nt, Way::new())]);
    while let Some((from, way)) = queue.pop_front() {
        for p in core.prods_of(from) {
            let rhs = core.rhs(p);
            if !rhs.iter().all(|s| productive(s) && lexemes(s)) {
                continue;
            }
            for (i, child) in
                rhs.iter().enumerate().filter_map(|(i, s)| s.as_nonterminal().map(|n| (i, n)))
            {
                if !seen.insert(child) {
                    continue;
                }
                let mut longer = way.clone();
                longer.push((p, i));
                if core.nt(child).rule.is_some() {
                    found.push((child, longer));
                } else {
                    queue.push_back((child, longer));
                }
            }
        }
    }
    found
}

/// Trees that together contain every k-path; `each` may stop by returning false.
pub fn sample_paths(
    language: &Language,
    sampler: &mut Sampler,
    k: usize,
    size: usize,
    rng: &mut Rng,
    mut each: impl FnMut(Tree) -> bool,
) {
    const LIMIT: usize = 1_000_000;
    let core = &language.core;
    let graph = RuleGraph::new(language);
    let mut coverage = Coverage::new(k);
    for path in graph.paths(core, k, LIMIT).0 {
        let rules: Path = path.iter().filter_map(|nt| core.nt(*nt).rule).collect();
        if coverage.paths.contains(&rules) {
            continue;
        }
        let Some(way) = graph.way_along(&path) else { continue };
        let tree = tree_along(
            language,
            sampler,
            &way,
            *path.last().expect("k is at least one"),
            size,
            rng,
        );
        coverage.add(core, &tree);
        if !each(tree) {
            return;
        }
    }
}

/// A tree that follows a way, with random small subtrees beside it.
fn tree_along(
    language: &Language,
    sampler: &mut Sampler,
    way: &[(ProdId, usize)],
    last: NtId,
    size: usize,
    rng: &mut Rng,
) -> Tree {
    let mut tree = sampler.tree(last, rng, size);
    for &(p, position) in way.iter().rev() {
        tree = wrap(language, sampler, p, position, tree, size, rng);
    }
    tree
}

/// A node for production `p` whose child at `position` is `child`.
fn wrap(
    language: &Language,
    sampler: &mut Sampler,
    p: ProdId,
    position: usize,
    child: Tree,
    size: usize,
    rng: &mut Rng,
) -> Tree {
    let mut tree = Tree::default();
    tree.nodes.push(crate::trees::tree::Node { label: Label::Prod(p), size: 1, start: 0, end: 0 });
    for (i, sym) in language.core.rhs(p).iter().enumerate() {
        if i == position {
            append(&mut tree, &child);
            continue;
        }
        match sym.as_terminal() {
            Some(t) => {
                let start = tree.text.len() as u32;
                sampler.lexeme(t, rng, 4, &mut tree.text);
                let end = tree.text.len() as u32;
                tree.nodes.push(crate::trees::tree::Node {
                    label: Label::Token(t),
                    size: 1,
                    start,
                    end,
                });
            }
            None => {
                let part =
                    sampler.tree(sym.as_nonterminal().expect("not a terminal"), rng, size / 4);
                append(&mut tree, &part);
            }
        }
    }
    tree.nodes[0].size = tree.nodes.len() as u32;
    tree.set_spans();
    tree
}

fn append(tree: &mut Tree, part: &Tree) {
    let offset = tree.text.len() as u32;
    tree.text.extend_from_slice(&part.text);
    let shifted = part.nodes.iter().map(|n| crate::trees::tree::Node {
        start: n.start + offset,
        end: n.end + offset,
        ..*n
    });
    tree.nodes.extend(shifted);
}
