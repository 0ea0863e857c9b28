//! Smaller programs: what is left out may not matter for a disagreement.

use crate::ast::{Expr, I32, Op, Program, Stmt};

/// Programs that are one step smaller, the largest steps first.
pub fn smaller(program: &Program) -> Vec<Program> {
    let with = |body: Vec<Stmt>| Program { body, ..program.clone() };
    let mut candidates: Vec<Program> = bodies(&program.body).into_iter().map(with).collect();
    candidates
        .retain(|candidate| candidate.size() < program.size() || is_simpler(candidate, program));
    candidates.sort_by_key(Program::size);
    candidates.dedup();
    candidates
}

/// Of the same size, but with a constant in the place of something else.
fn is_simpler(candidate: &Program, program: &Program) -> bool {
    candidate.size() == program.size() && candidate != program
}

fn bodies(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut found = Vec::new();
    for (at, stmt) in body.iter().enumerate() {
        let replaced = |by: Vec<Stmt>| [&body[..at], &by, &body[at + 1..]].concat();
        found.push(replaced(Vec::new()));
        found.extend(
            stmt.bodies
                .iter()
                .filter(|inner| !inner.is_empty())
                .map(|inner| replaced(inner.clone())),
        );
        found.extend(stmts(stmt).into_iter().map(|stmt| replaced(vec![stmt])));
    }
    found
}

fn stmts(stmt: &Stmt) -> Vec<Stmt> {
    let mut found = Vec::new();
    for (at, expr) in stmt.exprs.iter().enumerate() {
        found.extend(exprs(expr).into_iter().map(|expr| {
            let mut stmt = stmt.clone();
            stmt.exprs[at] = expr;
            stmt
        }));
    }
    for (at, body) in stmt.bodies.iter().enumerate() {
        found.extend(bodies(body).into_iter().map(|body| {
            let mut stmt = stmt.clone();
            stmt.bodies[at] = body;
            stmt
        }));
    }
    found
}

fn exprs(expr: &Expr) -> Vec<Expr> {
    let mut found: Vec<Expr> = expr.args.clone();
    if !matches!(expr.op, Op::Const(..) | Op::Byte(_)) {
        found.extend([0, 1].map(|value| Expr::leaf(Op::Const(I32, value))));
        found.push(Expr::leaf(Op::Byte(0)));
    }
    for (at, arg) in expr.args.iter().enumerate() {
        found.extend(exprs(arg).into_iter().map(|arg| {
            let mut expr = expr.clone();
            expr.args[at] = arg;
            expr
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Kind, program};

    /// Without an end, shrinking would not have one.
    #[test]
    fn every_chain_of_steps_ends_at_the_empty_program() {
        let mut program = program(Kind::Engine, 3);
        while let Some(next) = smaller(&program).into_iter().next() {
            program = next;
        }
        assert_eq!(program.body, Vec::new());
    }
}
