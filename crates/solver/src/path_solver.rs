//! All questions about one path: what they have in common is computed once.

use crate::chain::Chain;
use crate::query::{Answer, Lit, Query};
use expr::Dag;

/// A path condition of one run, prepared for many queries.
pub struct PathSolver<'a> {
    dag: &'a Dag,
    path: &'a [Lit],
    current: &'a [u8],
    max_len: usize,
}

impl<'a> PathSolver<'a> {
    /// `path` holds on `current`.
    pub fn new(dag: &'a Dag, path: &'a [Lit], current: &'a [u8], max_len: usize) -> PathSolver<'a> {
        PathSolver { dag, path, current, max_len }
    }

    /// An input that follows the path up to literal `index` and there makes it false.
    pub fn flip(&mut self, chain: &mut Chain, index: usize) -> Answer {
        self.solve(chain, index, &[], self.path[index].negated())
    }

    /// An input on which the first `prefix` literals of the path, all of `extra` and the `goal` hold.
    pub fn solve(&mut self, chain: &mut Chain, prefix: usize, extra: &[Lit], goal: Lit) -> Answer {
        let literals = [&self.path[..prefix], extra].concat();
        chain.solve(&Query::new(self.dag, &literals, goal, self.current, self.max_len))
    }
}
