//! Expressions of pure instructions: what is written on the slow side of a region.

use crate::function::Function;
use crate::llvm::{
    self, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind, Type, Value,
};
use crate::{entry, types};
use trace::{GiveUp, Op};

/// A value together with its label.
#[derive(Clone, Copy)]
pub struct Pair {
    pub value: Value,
    pub label: Value,
}

/// True for instructions that [`Function::expression`] describes.
pub fn is_pure(opcode: LLVMOpcode) -> bool {
    use LLVMOpcode::*;
    matches!(
        opcode,
        LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMUDiv
            | LLVMSDiv
            | LLVMURem
            | LLVMSRem
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMShl
            | LLVMLShr
            | LLVMAShr
            | LLVMFAdd
            | LLVMFSub
            | LLVMFMul
            | LLVMFDiv
            | LLVMFRem
            | LLVMFNeg
            | LLVMICmp
            | LLVMFCmp
            | LLVMTrunc
            | LLVMZExt
            | LLVMSExt
            | LLVMPtrToInt
            | LLVMIntToPtr
            | LLVMBitCast
            | LLVMFPTrunc
            | LLVMFPExt
            | LLVMFPToSI
            | LLVMFPToUI
            | LLVMSIToFP
            | LLVMUIToFP
            | LLVMGetElementPtr
            | LLVMSelect
            | LLVMExtractValue
            | LLVMInsertValue
            | LLVMFreeze
            | LLVMAddrSpaceCast
    )
}

pub fn is_integer_operator(opcode: LLVMOpcode) -> bool {
    integer_op(opcode).is_some()
}

fn integer_op(opcode: LLVMOpcode) -> Option<Op> {
    Some(match opcode {
        LLVMOpcode::LLVMAdd => Op::Add,
        LLVMOpcode::LLVMSub => Op::Sub,
        LLVMOpcode::LLVMMul => Op::Mul,
        LLVMOpcode::LLVMUDiv => Op::UDiv,
        LLVMOpcode::LLVMSDiv => Op::SDiv,
        LLVMOpcode::LLVMURem => Op::URem,
        LLVMOpcode::LLVMSRem => Op::SRem,
        LLVMOpcode::LLVMAnd => Op::And,
        LLVMOpcode::LLVMOr => Op::Or,
        LLVMOpcode::LLVMXor => Op::Xor,
        LLVMOpcode::LLVMShl => Op::Shl,
        LLVMOpcode::LLVMLShr => Op::LShr,
        LLVMOpcode::LLVMAShr => Op::AShr,
        _ => return None,
    })
}

/// A comparison of integers by an operator of expressions: whether it is negated, and whether its
/// operands change places.
pub fn comparison(comparison: Value) -> (Op, bool, bool) {
    use LLVMIntPredicate::*;
    match llvm::int_predicate(comparison) {
        LLVMIntEQ => (Op::Eq, false, false),
        LLVMIntNE => (Op::Eq, true, false),
        LLVMIntULT => (Op::Ult, false, false),
        LLVMIntULE => (Op::Ule, false, false),
        LLVMIntUGT => (Op::Ult, false, true),
        LLVMIntUGE => (Op::Ule, false, true),
        LLVMIntSLT => (Op::Slt, false, false),
        LLVMIntSLE => (Op::Sle, false, false),
        LLVMIntSGT => (Op::Slt, false, true),
        LLVMIntSGE => (Op::Sle, false, true),
    }
}

fn float_op(opcode: LLVMOpcode) -> Option<Op> {
    Some(match opcode {
        LLVMOpcode::LLVMFAdd => Op::FAdd,
        LLVMOpcode::LLVMFSub => Op::FSub,
        LLVMOpcode::LLVMFMul => Op::FMul,
        LLVMOpcode::LLVMFDiv => Op::FDiv,
        LLVMOpcode::LLVMFRem => Op::FRem,
        _ => return None,
    })
}

impl Function<'_> {
    pub fn pair(&self, value: Value) -> Pair {
        Pair { value, label: self.label_of(value) }
    }

    /// Labels of an instruction's result.
    pub fn expression(&mut self, instruction: Value) -> Vec<Value> {
        use LLVMOpcode::*;
        let opcode = llvm::opcode(instruction);
        match opcode {
            LLVMCall => return self.intrinsic_expression(instruction),
            LLVMExtractValue | LLVMInsertValue => return self.aggregate(instruction),
            LLVMSelect => return self.select(instruction),
            _ => {}
        }
        let first = self.pair(llvm::operand(instruction, 0));
        if let Some(op) = integer_op(opcode) {
            let second = self.pair(llvm::operand(instruction, 1));
            self.check_integer(op, first, second, instruction);
            return vec![self.binary_label(op, first, second, instruction)];
        }
        if let Some(op) = float_op(opcode) {
            let second = self.pair(llvm::operand(instruction, 1));
            return vec![self.float_label(op, first, second, instruction)];
        }
        let label = match opcode {
            LLVMICmp => self.compare(instruction),
            LLVMFCmp => self.compare_float(instruction),
            LLVMFNeg => self.negate_float(first),
            LLVMGetElementPtr => self.address(instruction),
            LLVMFreeze | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMTrunc | LLVMZExt
            | LLVMSExt => self.cast(opcode, first, instruction),
            _ => self.float_cast(opcode, first, instruction),
        };
        if types::scalar_bits(llvm::type_of(instruction)).is_some() {
            vec![label]
        } else {
            self.labels_of(llvm::operand(instruction, 0))
        }
    }

    /// Signed arithmetic that must not overflow, and shifts.
    fn check_integer(&mut self, op: Op, a: Pair, b: Pair, instruction: Value) {
        let bits = self.width(llvm::type_of(instruction));
        if !(1..=64).contains(&bits) {
            return;
        }
        let arithmetic =
            matches!(op, Op::Add | Op::Sub | Op::Mul) && llvm::has_no_signed_wrap(instruction);
        let shift = matches!(op, Op::Shl | Op::LShr | Op::AShr) && !llvm::is_constant(b.value);
        let width = self.builder().const_i32(bits);
        if arithmetic {
            let site = self.site(instruction);
            let op = self.builder().const_i32(op as u32);
            let (a_bits, b_bits) = (self.bits(a.value), self.bits(b.value));
            self.call(entry::__tg_signed, [op, width, a.label, b.label, a_bits, b_bits, site]);
        } else if shift {
            let site = self.site(instruction);
            self.call(entry::__tg_shift, [width, b.label, self.bits(b.value), site]);
        }
    }

    /// Label of `a op b`, whose value is `result`.
    pub fn binary_label(&self, op: Op, a: Pair, b: Pair, result: Value) -> Value {
        let builder = self.builder();
        let bits = self.width(llvm::type_of(a.value));
        let (op, width) = (builder.const_i32(op as u32), builder.const_i32(bits));
        if bits <= 64 {
            let arguments = [op, width, a.label, b.label, self.bits(a.value), self.bits(b.value)];
            return self.call(entry::__tg_binary, arguments);
        }
        let (wide_a, wide_b) = (self.wide(a.value), self.wide(b.value));
        let arguments = [op, width, a.label, b.label, wide_a, wide_b, self.bits(result)];
        self.call(entry::__tg_binary_wide, arguments)
    }

    /// A value as the 128 bits that the runtime takes for wide integers.
    pub fn wide(&self, value: Value) -> Value {
        let builder = self.builder();
        builder.zext_or_trunc(self.as_integer(value), builder.i128)
    }

    pub fn float_label(&self, op: Op, a: Pair, b: Pair, result: Value) -> Value {
        let builder = self.builder();
        let bits = builder.const_i32(self.width(llvm::type_of(a.value)));
        let arguments = [
            builder.const_i32(op as u32),
            bits,
            a.label,
            b.label,
            self.bits(a.value),
            self.bits(b.value),
            self.bits(result),
        ];
        self.call(entry::__tg_float, arguments)
    }

    pub fn not_label(&self, label: Value, value: Value) -> Value {
        let builder = self.builder();
        let width = builder.const_i32(self.width(llvm::type_of(value)));
        self.call(
            entry::__tg_unary,
            [builder.const_i32(Op::Not as u32), width, label, self.bits(value)],
        )
    }

    pub fn give_up(&mut self, label: Value, reason: GiveUp, instruction: Value) {
        let site = self.site(instruction);
        let builder = self.builder();
        self.call(
            entry::__tg_give_up,
            [label, builder.const_i32(reason as u32), site, builder.const_i32(0)],
        );
    }

    fn compare(&mut self, instruction: Value) -> Value {
        let [a, b] = [0, 1].map(|i| self.pair(llvm::operand(instruction, i)));
        let (op, is_negated, is_swapped) = comparison(instruction);
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        if !is_negated {
            return self.binary_label(op, a, b, instruction);
        }
        let equal = self.builder().compare(LLVMIntPredicate::LLVMIntEQ, a.value, b.value);
        let label = self.binary_label(op, a, b, equal);
        self.not_label(label, equal)
    }

    fn compare_float(&mut self, instruction: Value) -> Value {
        use LLVMRealPredicate::*;
        let (a, b) =
            (self.pair(llvm::operand(instruction, 0)), self.pair(llvm::operand(instruction, 1)));
        if !types::is_float(llvm::type_of(a.value)) {
            return self.zero();
        }
        match llvm::real_predicate(instruction) {
            LLVMRealPredicateFalse | LLVMRealPredicateTrue => self.zero(),
            LLVMRealOEQ => self.ordered(Op::FEq, LLVMRealOEQ, a, b).label,
            LLVMRealOLT => self.ordered(Op::FLt, LLVMRealOLT, a, b).label,
            LLVMRealOLE => self.ordered(Op::FLe, LLVMRealOLE, a, b).label,
            LLVMRealOGT => self.ordered(Op::FLt, LLVMRealOLT, b, a).label,
            LLVMRealOGE => self.ordered(Op::FLe, LLVMRealOLE, b, a).label,
            LLVMRealUNO => self.ordered(Op::FUno, LLVMRealUNO, a, b).label,
            LLVMRealORD => self.not(self.ordered(Op::FUno, LLVMRealUNO, a, b)),
            LLVMRealUNE => self.not(self.ordered(Op::FEq, LLVMRealOEQ, a, b)),
            LLVMRealUGT => self.not(self.ordered(Op::FLe, LLVMRealOLE, a, b)),
            LLVMRealUGE => self.not(self.ordered(Op::FLt, LLVMRealOLT, a, b)),
            LLVMRealULT => self.not(self.ordered(Op::FLe, LLVMRealOLE, b, a)),
            LLVMRealULE => self.not(self.ordered(Op::FLt, LLVMRealOLT, b, a)),
            LLVMRealUEQ => self.equal_or_unordered(a, b).label,
            LLVMRealONE => self.not(self.equal_or_unordered(a, b)),
        }
    }

    fn ordered(&self, op: Op, predicate: LLVMRealPredicate, a: Pair, b: Pair) -> Pair {
        let value = self.builder().compare_float(predicate, a.value, b.value);
        Pair { value, label: self.float_label(op, a, b, value) }
    }

    fn equal_or_unordered(&self, a: Pair, b: Pair) -> Pair {
        let equal = self.ordered(Op::FEq, LLVMRealPredicate::LLVMRealOEQ, a, b);
        let unordered = self.ordered(Op::FUno, LLVMRealPredicate::LLVMRealUNO, a, b);
        self.binary(Op::Or, LLVMOpcode::LLVMOr, equal, unordered)
    }

    fn not(&self, pair: Pair) -> Value {
        self.not_label(pair.label, pair.value)
    }

    /// Computes a value together with its label.
    pub fn binary(&self, op: Op, opcode: LLVMOpcode, a: Pair, b: Pair) -> Pair {
        let value = self.builder().binary(opcode, a.value, b.value);
        Pair { value, label: self.binary_label(op, a, b, value) }
    }

    fn negate_float(&self, x: Pair) -> Value {
        let builder = self.builder();
        let ty = llvm::type_of(x.value);
        if !types::is_float(ty) {
            return self.zero();
        }
        let bits = self.width(ty);
        let integer = Pair { value: self.as_integer(x.value), label: x.label };
        let sign = builder.const_int(builder.int_type(bits), 1 << (bits - 1));
        self.binary(Op::Xor, LLVMOpcode::LLVMXor, integer, Pair { value: sign, label: self.zero() })
            .label
    }

    fn cast(&mut self, opcode: LLVMOpcode, x: Pair, instruction: Value) -> Value {
        let builder = self.builder();
        let (from, to) = (llvm::type_of(x.value), llvm::type_of(instruction));
        if !matches!(opcode, LLVMOpcode::LLVMTrunc | LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMSExt)
            && self.width(from) == self.width(to)
        {
            return x.label;
        }
        let op = match opcode {
            LLVMOpcode::LLVMSExt => Op::SExt,
            _ if self.width(from) > self.width(to) => Op::Extract,
            _ => Op::ZExt,
        };
        self.extend_label(op, x, builder.const_i32(self.width(to)), instruction)
    }

    fn extend_label(&self, op: Op, x: Pair, to: Value, result: Value) -> Value {
        let builder = self.builder();
        let from = self.width(llvm::type_of(x.value));
        let op = builder.const_i32(op as u32);
        if from <= 64 && llvm::constant_bits(to) <= 64 {
            return self.call(
                entry::__tg_cast,
                [op, builder.const_i32(from), to, x.label, self.bits(x.value)],
            );
        }
        self.call(entry::__tg_cast_wide, [op, to, x.label, self.bits(result)])
    }

    /// A value extended or truncated to `bits` bits, with its label.
    pub fn resize(&self, x: Pair, bits: u32, signed: bool) -> Pair {
        let builder = self.builder();
        let ty = builder.int_type(bits);
        let from = self.width(llvm::type_of(x.value));
        if from == bits {
            return Pair { value: self.as_integer(x.value), label: x.label };
        }
        let integer = self.as_integer(x.value);
        let value = if signed {
            builder.sext_or_trunc(integer, ty)
        } else {
            builder.zext_or_trunc(integer, ty)
        };
        let op = if from > bits {
            Op::Extract
        } else if signed {
            Op::SExt
        } else {
            Op::ZExt
        };
        Pair { value, label: self.extend_label(op, x, builder.const_i32(bits), value) }
    }

    fn float_cast(&mut self, opcode: LLVMOpcode, x: Pair, instruction: Value) -> Value {
        let builder = self.builder();
        let (from, to) = (llvm::type_of(x.value), llvm::type_of(instruction));
        let op = match opcode {
            LLVMOpcode::LLVMFPTrunc | LLVMOpcode::LLVMFPExt => Op::FConv,
            LLVMOpcode::LLVMFPToSI => Op::FToS,
            LLVMOpcode::LLVMFPToUI => Op::FToU,
            LLVMOpcode::LLVMSIToFP => Op::SToF,
            LLVMOpcode::LLVMUIToFP => Op::UToF,
            _ => return x.label,
        };
        let (from_bits, to_bits) = (self.width(from), self.width(to));
        if !(1..=64).contains(&from_bits) || !(1..=64).contains(&to_bits) {
            let reason =
                if from_bits == 0 || to_bits == 0 { GiveUp::LongDouble } else { GiveUp::Float };
            self.give_up(x.label, reason, instruction);
            return self.zero();
        }
        let arguments = [
            builder.const_i32(op as u32),
            builder.const_i32(to_bits),
            x.label,
            self.bits(instruction),
        ];
        self.call(entry::__tg_float_unary, arguments)
    }

    /// Label of an address computation: the base, then index by index.
    fn address(&mut self, gep: Value) -> Value {
        let builder = self.builder();
        let base = llvm::operand(gep, 0);
        let mut at = Pair { value: self.bits(base), label: self.label_of(base) };
        let mut ty = llvm::gep_source_type(gep);
        for (position, index) in crate::function::operands(gep).skip(1).enumerate() {
            if position > 0 && llvm::kind(ty) == LLVMTypeKind::LLVMStructTypeKind {
                let field = llvm::constant_bits(index) as u32;
                at = self.step(at, None, self.layout().field_offset(ty, field));
                ty = llvm::struct_element(ty, field);
                continue;
            }
            let array = ty;
            if position > 0 {
                ty = llvm::element_type(ty);
            }
            let scale = self.layout().size(ty);
            match llvm::as_constant_int(index) {
                Some(constant) => {
                    let wide = builder.sext_or_trunc(constant, builder.i64);
                    at = self.step(at, None, llvm::constant_bits(wide).wrapping_mul(scale));
                }
                None => {
                    let index = self.resize(self.pair(index), 64, true);
                    if position > 0 && !llvm::is_constant(index.label) {
                        self.check_index(gep, position, array, index);
                    }
                    at = self.step(at, Some(index), scale);
                }
            }
        }
        at.label
    }

    /// That an index is beyond an array inside of an object is a property, wherever the array is.
    /// What is read and written is still the whole object's.
    fn check_index(&mut self, gep: Value, position: usize, array: Type, index: Pair) {
        let is_array =
            llvm::kind(array) == LLVMTypeKind::LLVMArrayTypeKind && llvm::array_size(array) > 1;
        // The bounds of a variable are checked anyway, and an array at the end of a struct may be
        // longer than it says.
        let base = llvm::operand(gep, 0);
        let is_open = || self.is_variable_of(base, array) || llvm::is_last_member(base, array);
        if !is_array || position == 1 && is_open() {
            return;
        }
        let site = self.site(gep);
        // An address that is only passed on may be the array's end. A check holds for those after
        // it.
        let most = if is_accessed(gep) { 0 } else { 1 };
        for more in (0..=most).rev() {
            let count = self.builder().const_i64(llvm::array_size(array) + more);
            self.call(entry::__tg_member, [count, index.label, index.value, site]);
        }
    }

    /// Whether a pointer is a variable that has just this size.
    fn is_variable_of(&self, pointer: Value, ty: Type) -> bool {
        let global = llvm::as_global_variable(pointer).map(llvm::value_type);
        let variable = global.or_else(|| llvm::as_alloca(pointer).map(llvm::allocated_type));
        variable.is_some_and(|variable| self.layout().size(variable) == self.layout().size(ty))
    }

    /// `at + index * scale`, or `at + scale` without an index.
    fn step(&self, at: Pair, index: Option<Pair>, scale: u64) -> Pair {
        let builder = self.builder();
        let scale = builder.const_i64(scale);
        let one = Pair { value: builder.const_i64(1), label: self.zero() };
        let index = index.unwrap_or(one);
        let label =
            self.call(entry::__tg_index, [at.label, index.label, at.value, index.value, scale]);
        let distance = builder.binary(LLVMOpcode::LLVMMul, index.value, scale);
        Pair { value: builder.binary(LLVMOpcode::LLVMAdd, at.value, distance), label }
    }

    fn select(&mut self, instruction: Value) -> Vec<Value> {
        let [condition, yes, no] = [0, 1, 2].map(|i| llvm::operand(instruction, i));
        let ty = llvm::type_of(instruction);
        let condition = self.pair(condition);
        if types::scalar_bits(ty).is_some() {
            return vec![self.select_label(condition, self.pair(yes), self.pair(no))];
        }
        let builder = self.builder();
        let choose = |(y, n)| builder.select(condition.value, y, n);
        let labels = self.labels_of(yes).into_iter().zip(self.labels_of(no)).map(choose).collect();
        self.give_up(condition.label, GiveUp::Intrinsic, instruction);
        labels
    }

    pub fn select_label(&self, condition: Pair, yes: Pair, no: Pair) -> Value {
        let builder = self.builder();
        let bits = self.width(llvm::type_of(yes.value));
        let width = builder.const_i32(bits);
        let chosen = self.bits(condition.value);
        let [lc, ly, ln] = [condition, yes, no].map(|pair| pair.label);
        if bits <= 64 {
            let (yes, no) = (self.bits(yes.value), self.bits(no.value));
            return self.call(entry::__tg_select, [width, lc, ly, ln, chosen, yes, no]);
        }
        let (yes, no) = (self.wide(yes.value), self.wide(no.value));
        self.call(entry::__tg_select_wide, [width, lc, ly, ln, chosen, yes, no])
    }

    fn aggregate(&mut self, instruction: Value) -> Vec<Value> {
        let whole = llvm::operand(instruction, 0);
        let path = llvm::indices(instruction);
        let Some(range) = types::part(self.layout(), llvm::type_of(whole), &path) else {
            return self.labels_of(instruction);
        };
        let mut labels = self.labels_of(whole);
        if llvm::opcode(instruction) == LLVMOpcode::LLVMExtractValue {
            return labels.get(range).map(<[Value]>::to_vec).unwrap_or_default();
        }
        let inserted = self.labels_of(llvm::operand(instruction, 1));
        if range.end <= labels.len() && inserted.len() == range.len() {
            labels.splice(range, inserted);
        }
        labels
    }
}

/// Whether an access or a further computation of an address uses an address.
fn is_accessed(address: Value) -> bool {
    use LLVMOpcode::*;
    llvm::users(address).into_iter().filter_map(llvm::as_instruction).any(
        |user| match llvm::opcode(user) {
            LLVMStore => llvm::operand(user, 1) == address,
            opcode => {
                matches!(opcode, LLVMLoad | LLVMGetElementPtr | LLVMAtomicRMW | LLVMAtomicCmpXchg)
            }
        },
    )
}
