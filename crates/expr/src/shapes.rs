//! What a run wrote with shapes (see [`trace::SHAPED`]) as an ordinary [`Dag`]: each shape becomes
//! nodes at each place where something refers to it, and nowhere else.
//!
//! What comes out is checked by [`Dag::from_raw`]; here only what would go wrong on the way is.

use crate::dag::{Dag, operands_of};
use crate::validate::BadDag;
use run::{Recorded, TableData};
use rustc_hash::FxHashMap;
use trace::{LENGTH, Label, Length, LengthKind, Node, Op, Places, SHAPED, Shaped};

impl Dag {
    /// The expressions of a run, and the labels by which it refers to them changed to those that
    /// they have now. Labels that stand for nothing become [`Label::MAX`].
    pub fn from_recorded<'a>(
        recorded: Recorded,
        used: impl Iterator<Item = &'a mut Label>,
    ) -> Result<Dag, BadDag> {
        let Recorded { nodes, values, mut tables, shapes, input_len } = recorded;
        if shapes.is_empty() {
            return Dag::from_raw(nodes, values, tables, input_len);
        }
        if (nodes.len() as u64) < u64::from(input_len) + 2 {
            return Err(BadDag::InputMissing { nodes: nodes.len(), input_len });
        }
        if values.len() != nodes.len() {
            return Err(BadDag::ValuesMissing { nodes: nodes.len(), values: values.len() });
        }
        let mut unfolding = Unfolding::new(&shapes, input_len, nodes.len());
        for (node, value) in nodes.iter().zip(values) {
            unfolding.node(*node, value, &mut tables)?;
        }
        for table in 0..tables.len() {
            unfolding.table(table, &mut tables)?;
        }
        for label in used {
            *label = unfolding.label(*label).unwrap_or(Label::MAX);
        }
        let Unfolding { nodes, values, unfolded, .. } = unfolding;
        let mut dag = Dag::from_raw(nodes, values, tables, input_len)?;
        unfolded.into_iter().for_each(|label| dag.find_value(label));
        Ok(dag)
    }
}

struct Unfolding<'a> {
    shapes: &'a [Node],
    places: Places,
    input_len: u32,
    nodes: Vec<Node>,
    values: Vec<u64>,
    /// The labels that the nodes of the run have now.
    labels: Vec<Label>,
    /// Those of shapes at their places; constants are at place 0.
    known: FxHashMap<Label, Label>,
    /// Labels of nodes that the run has no values of, in order.
    unfolded: Vec<Label>,
    /// Tables whose labels are changed.
    seen: Vec<bool>,
    waiting: Vec<u32>,
}

impl<'a> Unfolding<'a> {
    fn new(shapes: &'a [Node], input_len: u32, nodes: usize) -> Unfolding<'a> {
        Unfolding {
            shapes,
            places: Places::of(input_len),
            input_len,
            nodes: Vec::with_capacity(2 * nodes),
            values: Vec::with_capacity(2 * nodes),
            labels: Vec::with_capacity(nodes),
            known: FxHashMap::default(),
            unfolded: Vec::new(),
            seen: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Takes over the next node of the run.
    fn node(&mut self, mut node: Node, value: u64, tables: &mut [TableData]) -> Result<(), BadDag> {
        let op = Op::from_byte(node.op).unwrap_or(Op::Const);
        for operand in [&mut node.a, &mut node.b, &mut node.c].into_iter().take(op.arity()) {
            *operand = self.label(*operand)?;
        }
        if op.has_table() {
            self.table(node.b as usize, tables)?;
        }
        self.labels.push(self.nodes.len() as Label);
        self.nodes.push(node);
        self.values.push(value);
        Ok(())
    }

    fn table(&mut self, number: usize, tables: &mut [TableData]) -> Result<(), BadDag> {
        let Some(labels) = tables.get_mut(number).and_then(|table| table.labels.as_mut()) else {
            return Ok(());
        };
        if self.seen.len() <= number {
            self.seen.resize(number + 1, false);
        }
        if !std::mem::replace(&mut self.seen[number], true) {
            for label in labels {
                *label = self.label(*label)?;
            }
        }
        Ok(())
    }

    fn label(&mut self, label: Label) -> Result<Label, BadDag> {
        if label & (SHAPED | LENGTH) == 0 {
            let known = self.labels.get(label as usize).copied();
            return known
                .ok_or(BadDag::Operand { label: self.labels.len() as Label, operand: label });
        }
        match self.known.get(&label) {
            Some(known) => Ok(*known),
            None if label & SHAPED == 0 => self.length(label),
            None => self.unfold(label),
        }
    }

    /// What is asked about the length.
    fn length(&mut self, label: Label) -> Result<Label, BadDag> {
        let Length { kind, number } = Length::of(label).ok_or(BadDag::Shape { label })?;
        let len = 1 + self.input_len;
        let is_number = Length { kind: LengthKind::Number, number }.label();
        let node = match kind {
            LengthKind::Number => Node::constant(64, u64::from(number)),
            LengthKind::Less => Node::binary(Op::Ult, 1, len, self.label(is_number)?),
            LengthKind::Equal => Node::binary(Op::Eq, 1, len, self.label(is_number)?),
            LengthKind::Rest => Node::binary(Op::Sub, 64, len, self.label(is_number)?),
            LengthKind::NotLess | LengthKind::NotEqual => {
                Node::unary(Op::Not, 1, self.label(Length { kind, number }.negated().label())?)
            }
        };
        Ok(self.add(label, node))
    }

    fn add(&mut self, label: Label, node: Node) -> Label {
        let new = self.nodes.len() as Label;
        self.known.insert(label, new);
        self.nodes.push(node);
        self.values.push(0);
        self.unfolded.push(new);
        new
    }

    fn unfold(&mut self, label: Label) -> Result<Label, BadDag> {
        let Shaped { shape, place } = self.places.split(label);
        if label >> 1 >= SHAPED || place >= self.input_len {
            return Err(BadDag::Shape { label });
        }
        self.waiting.push(shape);
        while let Some(&shape) = self.waiting.last() {
            if self.place(shape, place, label)? {
                self.waiting.pop();
            }
        }
        self.known_at(shape, place).ok_or(BadDag::Shape { label })
    }

    fn known_at(&self, shape: u32, place: u32) -> Option<Label> {
        if shape == 0 {
            return Some(1 + place);
        }
        let is_constant = self.shapes.get(shape as usize)?.op == Op::Const as u8;
        self.known.get(&self.places.label(shape, if is_constant { 0 } else { place })).copied()
    }

    /// Makes the node of a shape at a place, or waits for its operands, which is false.
    fn place(&mut self, shape: u32, place: u32, label: Label) -> Result<bool, BadDag> {
        if self.known_at(shape, place).is_some() {
            return Ok(true);
        }
        let bad = BadDag::Shape { label };
        let mut node = *self.shapes.get(shape as usize).ok_or(bad.clone())?;
        let op = Op::from_byte(node.op)
            .filter(|op| op.arity() > 0 || *op == Op::Const)
            .ok_or(bad.clone())?;
        let before = self.waiting.len();
        for operand in &operands_of(&node)[..op.arity()] {
            if *operand >= shape {
                return Err(bad);
            }
            if self.known_at(*operand, place).is_none() {
                self.waiting.push(*operand);
            }
        }
        if self.waiting.len() > before {
            return Ok(false);
        }
        for operand in [&mut node.a, &mut node.b, &mut node.c].into_iter().take(op.arity()) {
            *operand = self.known_at(*operand, place).ok_or(bad.clone())?;
        }
        self.add(self.places.label(shape, if op == Op::Const { 0 } else { place }), node);
        Ok(true)
    }
}
