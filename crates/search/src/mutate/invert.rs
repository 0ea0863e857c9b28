//! Which bytes of the input make an expression have a value: computed backwards, where bytes flow
//! into it unchanged or through operations that can be turned round.

use expr::{Dag, Label, Op};

/// Operations that are looked at, at most, and of those on the way to the bits of a part.
const MAX_STEPS: u32 = 256;
const MAX_DEPTH: u32 = 8;
/// Wider values are not looked at.
const WIDEST: u32 = 64;

/// A byte of the input and what it has to be.
pub(super) type Byte = (usize, u8);

/// Bytes with which `label` has the value, all others staying as they are. `None` if that cannot
/// be told.
pub(super) fn invert(dag: &Dag, label: Label, value: u64) -> Option<Vec<Byte>> {
    let mut inversion = Inversion { dag, bytes: Vec::new(), steps: MAX_STEPS };
    inversion.set(label, value)?;
    let mut bytes = inversion.bytes;
    bytes.sort_unstable();
    bytes.dedup();
    let is_one_value = bytes.windows(2).all(|pair| pair[0].0 != pair[1].0);
    (is_one_value && !bytes.is_empty()).then_some(bytes)
}

struct Inversion<'a> {
    dag: &'a Dag,
    bytes: Vec<Byte>,
    /// That are left.
    steps: u32,
}

impl Inversion<'_> {
    fn set(&mut self, label: Label, value: u64) -> Option<()> {
        let dag = self.dag;
        self.steps = self.steps.checked_sub(1)?;
        if dag.bits(label) > WIDEST || value & !mask(dag.bits(label)) != 0 {
            return None;
        }
        let node = *dag.node(label);
        match dag.op(label) {
            Op::Input => {
                self.bytes.push((node.a as usize, value as u8));
                Some(())
            }
            Op::Const => (node.const_value() == value).then_some(()),
            Op::ZExt => self.set(node.a, value),
            Op::SExt => {
                let narrow = value & mask(dag.bits(node.a));
                let fits = sign_extend(narrow, dag.bits(node.a)) & mask(dag.bits(label)) == value;
                fits.then(|| self.set(node.a, narrow))?
            }
            Op::Concat => {
                let low = dag.bits(node.b);
                self.set(node.a, value >> low)?;
                self.set(node.b, value & mask(low))
            }
            Op::Extract => self.replace(node.a, (u32::from(node.aux), dag.bits(label)), value),
            Op::Bswap => {
                let swapped = value.swap_bytes() >> (u64::BITS - dag.bits(label));
                self.set(node.a, swapped)
            }
            Op::Not => self.set(node.a, !value & mask(dag.bits(label))),
            Op::Ite if dag.value(node.a) & 1 == 1 => self.set(node.b, value),
            Op::Ite => self.set(node.c, value),
            _ => {
                let before = self.bytes.len();
                self.set_by_constant(label, value).or_else(|| {
                    self.bytes.truncate(before);
                    self.set_apart(label, value)
                })
            }
        }
    }

    /// Sets some bits of an expression, the others being what they were on the run.
    fn replace(&mut self, label: Label, (low, bits): (u32, u32), value: u64) -> Option<()> {
        if self.dag.bits(label) > WIDEST {
            return None;
        }
        let replaced = mask(bits) << low;
        let rest = self.dag.value(label) & mask(self.dag.bits(label)) & !replaced;
        self.set(label, rest | value << low & replaced)
    }

    /// An operation of which one operand is constant.
    fn set_by_constant(&mut self, label: Label, value: u64) -> Option<()> {
        let (dag, bits) = (self.dag, self.dag.bits(label));
        // What else a node has may be the number of a table.
        let [a, b, _] = dag.operands(label);
        if a == 0 || b == 0 {
            return None;
        }
        let constant = |label| dag.as_constant(label).and_then(|value| u64::try_from(value).ok());
        let (left, right) = (constant(a), constant(b));
        let (other, known) = match (left, right) {
            (None, Some(known)) => (a, known),
            (Some(known), None) => (b, known),
            _ => return None,
        };
        let is_left = right.is_some();
        let shift = u32::try_from(known).ok().filter(|shift| *shift < bits);
        match dag.op(label) {
            Op::Add => self.set(other, value.wrapping_sub(known) & mask(bits)),
            Op::Sub if is_left => self.set(other, value.wrapping_add(known) & mask(bits)),
            Op::Sub => self.set(other, known.wrapping_sub(value) & mask(bits)),
            Op::Xor => self.set(other, value ^ known),
            Op::Mul if known != 0 && value.is_multiple_of(known) => self.set(other, value / known),
            Op::And if value & !known == 0 => {
                let rest = dag.value(other) & mask(bits) & !known;
                self.set(other, rest | value)
            }
            Op::Or if value & known == known => {
                let hidden = dag.value(other) & mask(bits) & known;
                self.set(other, value & !known | hidden)
            }
            Op::Shl if is_left => {
                let shift = shift.filter(|shift| value & mask(*shift) == 0)?;
                self.set(other, value >> shift)
            }
            Op::LShr if is_left => {
                let shift =
                    shift.filter(|shift| value.leading_zeros() >= u64::BITS - bits + shift)?;
                self.replace(other, (shift, bits - shift), value)
            }
            _ => None,
        }
    }

    /// A number that is put together of parts that have no bit in common.
    fn set_apart(&mut self, label: Label, value: u64) -> Option<()> {
        let (dag, node) = (self.dag, *self.dag.node(label));
        if !matches!(dag.op(label), Op::Or | Op::Xor | Op::Add) {
            return None;
        }
        let [left, right] = [node.a, node.b].map(|part| possible_bits(dag, part, MAX_DEPTH));
        if left & right != 0 || value & !(left | right) != 0 {
            return None;
        }
        self.set(node.a, value & left)?;
        self.set(node.b, value & right)
    }
}

/// Bits that may be set.
fn possible_bits(dag: &Dag, label: Label, depth: u32) -> u64 {
    let all = mask(dag.bits(label).min(WIDEST));
    let Some(depth) = depth.checked_sub(1).filter(|_| dag.bits(label) <= WIDEST) else {
        return all;
    };
    let node = *dag.node(label);
    let of = |label| possible_bits(dag, label, depth);
    let shift = || dag.as_constant(node.b).filter(|shift| *shift < u128::from(dag.bits(label)));
    match dag.op(label) {
        Op::Const => node.const_value(),
        Op::ZExt => of(node.a),
        Op::Concat => of(node.a) << dag.bits(node.b) | of(node.b),
        Op::And => of(node.a) & of(node.b),
        Op::Or | Op::Xor => of(node.a) | of(node.b),
        Op::Shl => shift().map_or(all, |shift| of(node.a) << shift & all),
        Op::LShr => shift().map_or(all, |shift| of(node.a) >> shift),
        _ => all,
    }
}

/// As many low bits.
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS.saturating_sub(bits)).unwrap_or(0)
}

fn sign_extend(value: u64, bits: u32) -> u64 {
    let shift = u64::BITS - bits;
    ((value << shift) as i64 >> shift) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use expr::{Assignment, parse};

    /// Bytes that make the expression have the value, which evaluation checks.
    #[track_caller]
    fn inverted(lines: &str, value: u64) -> Option<Vec<Byte>> {
        let mut dag = Dag::new();
        let label = *parse(lines, &mut dag).expect("an expression").last().expect("a root");
        let found = invert(&dag, label, value)?;
        let mut input = [0; 8];
        found.iter().for_each(|(place, byte)| input[*place] = *byte);
        assert_eq!(dag.eval(label, &Assignment::new(input)), u128::from(value), "{lines}");
        Some(found)
    }

    #[test]
    fn bytes_of_a_number_are_found_in_both_byte_orders() {
        let number = "%1 = (concat 16 (input 1) (input 0))\n";
        let little = format!("{number}root %1\n");
        assert_eq!(inverted(&little, 0x1234), Some(vec![(0, 0x34), (1, 0x12)]));
        let big = format!("{number}%2 = (bswap 16 %1)\nroot %2\n");
        assert_eq!(inverted(&big, 0x1234), Some(vec![(0, 0x12), (1, 0x34)]));
        let parts = "%1 = (zext 32 (input 3))\n%2 = (shl 32 %1 (const 32 0x8))\n\
                     %3 = (zext 32 (input 2))\n%4 = (or 32 %2 %3)\nroot %4\n";
        assert_eq!(inverted(parts, 0x1234), Some(vec![(2, 0x34), (3, 0x12)]));
        assert_eq!(inverted(parts, 0x1_2345), None, "too large");
    }

    #[test]
    fn operations_with_constants_are_turned_round() {
        let of = |lines: &str, value| inverted(&format!("{lines}root %2\n"), value);
        let wide = "%1 = (zext 32 (input 0))\n";
        assert_eq!(
            of(&format!("{wide}%2 = (sub 32 %1 (const 32 0x30))\n"), 9),
            Some(vec![(0, b'9')])
        );
        assert_eq!(of(&format!("{wide}%2 = (mul 32 %1 (const 32 0x4))\n"), 12), Some(vec![(0, 3)]));
        assert_eq!(of(&format!("{wide}%2 = (mul 32 %1 (const 32 0x4))\n"), 13), None);
        assert_eq!(
            of(&format!("{wide}%2 = (xor 32 %1 (const 32 0xff))\n"), 0xF0),
            Some(vec![(0, 15)])
        );
        assert_eq!(of(&format!("{wide}%2 = (and 32 %1 (const 32 0x7))\n"), 5), Some(vec![(0, 5)]));
        let signed = "%1 = (sext 32 (input 0))\n%2 = (add 32 %1 (const 32 0x1))\n";
        assert_eq!(of(signed, 0xFFFF_FFFF), Some(vec![(0, 0xFE)]));
        assert_eq!(of(signed, 0xFF), None);
    }

    #[test]
    fn a_byte_that_would_be_two_values_is_no_answer() {
        let twice = "%1 = (concat 16 (input 0) (input 0))\nroot %1\n";
        assert_eq!(inverted(twice, 0x1111), Some(vec![(0, 0x11)]));
        assert_eq!(inverted(twice, 0x1122), None);
    }

    /// A read has the number of its table where others have an operand.
    #[test]
    fn reads_are_not_turned_round() {
        let tables = (0..64).map(|number| format!("t{number} = {number:02x}\n"));
        let lines = tables.collect::<String>()
            + "%1 = (zext 64 (input 0))\n\
            %2 = (read 8 t63 %1)\nroot %2\n";
        assert_eq!(inverted(&lines, 0x12), None);
    }
}
