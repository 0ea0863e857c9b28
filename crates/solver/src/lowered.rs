//! Queries for links that know no texts: operations on texts become formulas over their bytes.

use crate::query::{Lit, Query};
use crate::text_link::has_texts;
use expr::{Dag, Importer};

/// The literals of a query in another Dag, in the same order. Nothing, if the query has no texts.
pub(crate) struct Lowered(Option<(Dag, Vec<Lit>)>);

impl Lowered {
    /// `None` if there are more than `limit` nodes.
    pub(crate) fn new(query: &Query, limit: usize) -> Option<Lowered> {
        if !has_texts(query.dag) {
            return Some(Lowered(None));
        }
        let (mut dag, mut importer) = (Dag::new(), Importer::lowering());
        let mut lits = Vec::new();
        // The goal comes first, because it is the most likely to be too large.
        for lit in query.literals().rev() {
            lits.push(Lit { label: importer.import(query.dag, lit.label, &mut dag), ..lit });
            if dag.len() > limit {
                return None;
            }
        }
        lits.reverse();
        Some(Lowered(Some((dag, lits))))
    }

    pub(crate) fn query<'q>(&'q self, query: &Query<'q>) -> Query<'q> {
        match &self.0 {
            Some((dag, lits)) => match lits.split_last() {
                Some((goal, path)) => Query { dag, path, goal: *goal, ..*query },
                None => *query,
            },
            None => *query,
        }
    }
}
