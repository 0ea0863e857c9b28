//! Queries for links that know no texts: operations on texts become formulas over their bytes.

use crate::query::{Lit, Query};
use crate::slice::Slice;
use expr::{Dag, Importer};

/// The literals of a query in another Dag, in the same order. `None` if there are more than
/// `max_nodes` nodes.
pub(crate) fn lowered(query: &Query, max_nodes: usize) -> Option<Slice> {
    let (mut dag, mut importer) = (Dag::new(), Importer::lowering());
    let mut lits = Vec::new();
    // The goal comes first, because it is the most likely to be too large.
    for lit in query.literals().rev() {
        lits.push(Lit { label: importer.import(query.dag, lit.label, &mut dag), ..lit });
        if dag.len() > max_nodes {
            return None;
        }
    }
    lits.reverse();
    Some(Slice::of(dag, lits))
}
