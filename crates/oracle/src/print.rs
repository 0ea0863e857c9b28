//! Programs as C, many in one file: a compilation and a derivation serve all of them.

use std::fmt::Write as _;

use crate::ast::{Expr, Op, Program, Stmt, StmtOp, Table, TableKind};
use crate::plants;

const PRELUDE: &str = include_str!("prelude.c");

/// A file whose first argument says which program it is.
pub fn file(programs: &[Program]) -> String {
    let mut text = PRELUDE.to_owned();
    if programs.iter().any(|program| !plants_of(&program.body).is_empty()) {
        text.push_str(plants::SUPPORT);
    }
    for (number, program) in programs.iter().enumerate() {
        text.push_str(&Printer { number, marks: 0, depth: 1 }.program(program));
    }
    text.push_str("\nstatic const struct program programs[] = {\n");
    for (number, program) in programs.iter().enumerate() {
        let _ = writeln!(text, "    {{{}, run_{number}}},", program.reader.0);
    }
    text.push_str("};\n");
    text
}

struct Printer {
    number: usize,
    marks: u32,
    depth: usize,
}

impl Printer {
    fn program(&mut self, program: &Program) -> String {
        let body = self.block(&program.body);
        let tables = |printer: &Printer, print: fn(&Printer, usize, &Table) -> String| -> String {
            let used = program.tables.iter().enumerate();
            let used =
                used.filter(|(number, _)| body.contains(&format!("t{}_{number}[", printer.number)));
            used.map(|(number, table)| print(printer, number, table)).collect()
        };
        let mut text = String::from("\n") + &tables(self, Printer::global_table);
        let plants = plants_of(&program.body);
        plants.iter().for_each(|&plant| text.push_str(&plants::definition(plant, self.number)));
        let _ = writeln!(text, "static void run_{}(const u8 *in, size_t n) {{", self.number);
        text.push_str(
            "    u8 stack[32] = {0}, *heap = calloc(1, 32);\n    struct fields fields = {0};\n",
        );
        text.push_str("    char text[4] = {0};\n    memcpy(text, in, n);\n");
        text.push_str(&tables(self, Printer::start_of_table));
        for (number, (ty, value)) in program.vars.iter().enumerate() {
            if body.contains(&format!("v{number}")) {
                let _ = writeln!(text, "    {} v{number} = ({0}){value}ll;", ty.name);
            }
        }
        text.push_str(&body);
        text.push_str("end:\n    free(heap);\n}\n");
        text
    }

    fn global_table(&self, number: usize, table: &Table) -> String {
        let (ty, size, values) = (table.ty.name, table.values.len(), listed(&table.values));
        let name = format!("t{}_{number}", self.number);
        match table.kind {
            TableKind::Constant => format!("static const {ty} {name}[{size}] = {{{values}}};\n"),
            TableKind::Filled => format!("static {ty} {name}[{size}];\n"),
            TableKind::Local => String::new(),
        }
    }

    fn start_of_table(&self, number: usize, table: &Table) -> String {
        let (ty, size) = (table.ty.name, table.values.len());
        let name = format!("t{}_{number}", self.number);
        match table.kind {
            TableKind::Constant => String::new(),
            TableKind::Filled => {
                let (first, step) = (table.values[0], table.values[1]);
                let value = format!("({ty})((u64){first}ll + i * (u64){step}ll)");
                format!("    for (u64 i = 0; i < {size}; i++) {name}[i] = {value};\n")
            }
            TableKind::Local => {
                format!("    {ty} {name}[{size}] = {{{}}};\n", listed(&table.values))
            }
        }
    }

    fn block(&mut self, body: &[Stmt]) -> String {
        body.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    /// A body that leaves its mark on the path.
    fn marked(&mut self, body: &[Stmt]) -> String {
        self.depth += 1;
        let text = format!("{}m({});\n{}", self.indent(), self.mark(), self.block(body));
        self.depth -= 1;
        text
    }

    fn mark(&mut self) -> u32 {
        self.marks += 1;
        self.marks
    }

    fn indent(&self) -> String {
        "    ".repeat(self.depth)
    }

    fn stmt(&mut self, stmt: &Stmt) -> String {
        let indent = self.indent();
        let exprs: Vec<String> = stmt.exprs.iter().map(|expr| self.expr(expr)).collect();
        match &stmt.op {
            StmtOp::Assign(var) => format!("{indent}v{var} = {};\n", exprs[0]),
            StmtOp::If => {
                let [then, otherwise] = [0, 1].map(|side| self.marked(&stmt.bodies[side]));
                format!(
                    "{indent}if ({}) {{\n{then}{indent}}} else {{\n{otherwise}{indent}}}\n",
                    exprs[0]
                )
            }
            StmtOp::Switch(ty, groups) => {
                self.switch(&format!("({}){}", ty.name, exprs[0]), groups, &stmt.bodies)
            }
            StmtOp::Count(most, var) => {
                let (limit, i) = (most + 1, format!("i{}", self.depth));
                let head = format!(
                    "{indent}for (u32 {i} = 0; {i} < (u32)({}) % {limit}; {i}++) {{\n",
                    exprs[0]
                );
                let assign = format!("{indent}    v{var} = {i};\n");
                head + &assign + &self.marked(&stmt.bodies[0]) + &indent + "}\n"
            }
            StmtOp::Until(most) => {
                let i = format!("i{}", self.depth);
                let head = format!("{indent}for (int {i} = 0; {i} < {most}; {i}++) {{\n");
                let leave = format!("{indent}    if ({}) break;\n", exprs[0]);
                head + &leave + &self.marked(&stmt.bodies[0]) + &indent + "}\n"
            }
            StmtOp::Store(region, place, ty) => {
                let (region, ty) = (region.0, ty.name);
                format!(
                    "{indent}((struct any_{ty} *)({region} + {place}))->value = {};\n",
                    exprs[0]
                )
            }
            StmtOp::StoreAt(region) => {
                format!("{indent}{}[{} & 31] = (u8){};\n", region.0, exprs[0], exprs[1])
            }
            StmtOp::SetBitField(field) => {
                format!("{indent}fields.{} = {};\n", field_name(*field), exprs[0])
            }
            StmtOp::SetElement(table) => {
                let name = format!("t{}_{table}", self.number);
                let index = format!("{} & (sizeof {name} / sizeof *{name} - 1)", exprs[0]);
                format!("{indent}{name}[{index}] = {};\n", exprs[1])
            }
            StmtOp::Copy((to, at), (from, start)) => {
                let (to, from) = (to.0, from.0);
                format!("{indent}memmove({to} + {at}, {from} + {start}, {} & 7);\n", exprs[0])
            }
            StmtOp::Fill(region, at) => {
                format!("{indent}memset({} + {at}, (int){}, 5);\n", region.0, exprs[0])
            }
            StmtOp::Return => format!("{indent}goto end;\n"),
            StmtOp::Plant(plant) => {
                let mark = self.mark();
                format!(
                    "{indent}m({mark});\n{indent}plant_{}_{plant}((u32){});\n",
                    self.number, exprs[0]
                )
            }
        }
    }

    fn switch(&mut self, value: &str, groups: &[(Vec<i64>, bool)], bodies: &[Vec<Stmt>]) -> String {
        let indent = self.indent();
        let mut text = format!("{indent}switch ({value}) {{\n");
        for ((values, falls), body) in groups.iter().zip(bodies) {
            values.iter().for_each(|value| text.push_str(&format!("{indent}case {value}ll:\n")));
            text.push_str(&self.marked(body));
            text.push_str(&if *falls { String::new() } else { format!("{indent}    break;\n") });
        }
        let others = self.marked(&bodies[groups.len()]);
        text + &format!("{indent}default:\n{others}{indent}}}\n")
    }

    fn expr(&mut self, expr: &Expr) -> String {
        // Both sides of a choice leave a mark, so the order of the numbers is that of the text.
        let mut args = expr.args.iter().map(|arg| self.expr(arg)).collect::<Vec<_>>().into_iter();
        let mut next = || args.next().expect("an operand");
        match &expr.op {
            Op::Const(ty, value) => format!("(({}){value}ll)", ty.name),
            Op::Byte(at) => format!("in[{at}]"),
            Op::Len => "(u32)n".to_owned(),
            Op::Var(var) => format!("v{var}"),
            Op::Prefix(op, ty) => format!("(({0})({op}({0}){1}))", ty.name, next()),
            Op::Infix(op, ty) => {
                format!("(({0})(({0}){1} {op} ({0}){2}))", ty.name, next(), next())
            }
            Op::Masked(op, ty) => {
                format!(
                    "(({0})(({0}){1} {op} (({0})(({0}){2} & 127) | 1)))",
                    ty.name,
                    next(),
                    next()
                )
            }
            Op::Guarded(name, ty) | Op::OfTwo(name, ty) => {
                format!("{name}_{0}(({0}){1}, ({0}){2})", ty.name, next(), next())
            }
            Op::Shift(op, ty) => {
                format!(
                    "(({0})(({0}){1} {op} ((u32){2} & {3})))",
                    ty.name,
                    next(),
                    next(),
                    ty.bits - 1
                )
            }
            Op::Compare(op, ty) => format!("(({0}){1} {op} ({0}){2})", ty.name, next(), next()),
            Op::Both => format!("({} && (m({}), {}))", next(), self.mark(), next()),
            Op::Either => format!("({} || (m({}), {}))", next(), self.mark(), next()),
            Op::Choice => {
                let [first, second] = [self.mark(), self.mark()];
                format!("({} ? (m({first}), {}) : (m({second}), {}))", next(), next(), next())
            }
            Op::Cast(ty) => format!("(({}){})", ty.name, next()),
            Op::Element(table) => {
                let name = format!("t{}_{table}", self.number);
                format!("{name}[{} & (sizeof {name} / sizeof *{name} - 1)]", next())
            }
            Op::Function(name) if name.starts_with("is") => {
                format!("({name}((u8){}) != 0)", next())
            }
            Op::Function(name) if name.starts_with("to") => format!("{name}((u8){})", next()),
            Op::Function(name) => format!("{name}((u64){})", next()),
            Op::Text(question, text) => question_about(question, text, args.next()),
            Op::Load(region, place, ty) => {
                format!("((struct any_{} *)({} + {place}))->value", ty.name, region.0)
            }
            Op::At(region) => format!("{}[{} & 31]", region.0, next()),
            Op::BitField(field) => format!("fields.{}", field_name(*field)),
            Op::Member("fields", which) => format!("get_field(fields, {which})"),
            Op::Member(shape, which) => {
                format!("member_{shape}(make_{shape}((u64){}, (u64){}), {which})", next(), next())
            }
            Op::Indirect => format!("functions[{} & 3]((u32){})", next(), next()),
            Op::Float(op, value) if ["<", ">=", "=="].contains(op) => {
                format!("((double)(i16){} {op} {value:?})", next())
            }
            Op::Float(op, value) => format!("((i32)((float)(i16){} {op} {value:?}f))", next()),
        }
    }
}

/// Questions are templates: `S` stands for the text, `B` for its size, `X` for the number.
fn question_about(question: &str, text: &[u8], number: Option<String>) -> String {
    let literal: String = text.iter().map(|byte| format!("\\x{byte:02x}\"\"")).collect();
    let filled =
        question.replace('S', &format!("\"{literal}\"")).replace('B', &text.len().to_string());
    filled.replace('X', number.as_deref().unwrap_or("0"))
}

fn field_name(field: usize) -> char {
    (b'a' + field as u8) as char
}

fn listed(values: &[i64]) -> String {
    values.iter().map(|value| format!("{value}ll")).collect::<Vec<_>>().join(", ")
}

/// The numbers of the plants in a body, each once.
pub(crate) fn plants_of(body: &[Stmt]) -> Vec<usize> {
    let mut found = Vec::new();
    for stmt in body {
        found.extend(match stmt.op {
            StmtOp::Plant(plant) => vec![plant],
            _ => stmt.bodies.iter().flat_map(|body| plants_of(body)).collect(),
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}
