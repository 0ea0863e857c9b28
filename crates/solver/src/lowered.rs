//! Queries for links that know no texts: operations on texts become formulas over their bytes.

use crate::query::{Lit, Query};
use crate::text_link::has_texts;
use expr::{Dag, Importer};

/// The literals of a query in another Dag, in the same order. Nothing, if the query has no texts.
pub(crate) struct Lowered(Option<(Dag, Vec<Lit>, Lit)>);

impl Lowered {
    pub(crate) fn new(query: &Query) -> Lowered {
        if !has_texts(query.dag) {
            return Lowered(None);
        }
        let (mut dag, mut importer) = (Dag::new(), Importer::lowering());
        let mut lower = |lit: Lit| Lit { label: importer.import(query.dag, lit.label, &mut dag), ..lit };
        let path = query.path.iter().map(|&lit| lower(lit)).collect();
        let goal = lower(query.goal);
        Lowered(Some((dag, path, goal)))
    }

    /// How many nodes there are now.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |(dag, ..)| dag.len())
    }

    pub(crate) fn query<'q>(&'q self, query: &Query<'q>) -> Query<'q> {
        match &self.0 {
            Some((dag, path, goal)) => Query { dag, path, goal: *goal, ..*query },
            None => *query,
        }
    }
}
