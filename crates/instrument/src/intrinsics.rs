//! LLVM's intrinsic functions.

use crate::expressions::Pair;
use crate::function::Function;
use crate::llvm::{self, LLVMIntPredicate, LLVMOpcode, Value};
use crate::{entry, types};
use trace::{GiveUp, Op, VaList};

/// The name of the intrinsic that is called, if one is.
pub fn intrinsic_name(call: Value) -> Option<String> {
    let function = llvm::as_function(llvm::called(call))?;
    Some(llvm::name(function)).filter(|name| name.starts_with("llvm."))
}

/// `llvm.umin.i32` is `umin`, `llvm.uadd.sat.i8` is `uadd.sat`.
fn base(name: &str) -> &str {
    let name = name.strip_prefix("llvm.").unwrap_or(name);
    let of_two_words = FOLLOWED.iter().filter(|followed| followed.contains('.'));
    let word = || name.split('.').next().unwrap_or(name);
    of_two_words.copied().find(|followed| name.starts_with(followed)).unwrap_or_else(word)
}

const FOLLOWED: [&str; 23] = [
    "ctpop",
    "ctlz",
    "cttz",
    "bswap",
    "abs",
    "smin",
    "smax",
    "umin",
    "umax",
    "fshl",
    "fshr",
    "fabs",
    "sqrt",
    "fmuladd",
    "expect",
    "uadd.with",
    "sadd.with",
    "usub.with",
    "ssub.with",
    "umul.with",
    "smul.with",
    "uadd.sat",
    "usub.sat",
];

/// True if the result's label is an expression of the operands' labels.
pub fn is_followed(name: &str) -> bool {
    FOLLOWED.contains(&base(name))
}

/// Intrinsics that do nothing with values.
fn is_harmless(base: &str) -> bool {
    matches!(
        base,
        "dbg"
            | "assume"
            | "donothing"
            | "lifetime"
            | "invariant"
            | "stackrestore"
            | "prefetch"
            | "va_end"
            | "trap"
    )
}

/// Questions that are answered when the program is compiled, whatever the value is.
fn asks_the_compiler(name: &str) -> bool {
    name.starts_with("llvm.is.constant") || name.starts_with("llvm.objectsize")
}

impl Function<'_> {
    pub fn intrinsic(&mut self, call: Value, name: &str) {
        let base = base(name);
        match base {
            _ if is_followed(name) => self.defer_followed(call),
            "memcpy" | "memmove" => self.copy(call),
            "memset" => self.fill(call),
            "va_start" => self.va_start(call),
            "va_copy" => self.va_copy(call),
            "lifetime" if name.starts_with("llvm.lifetime.start") => self.lifetime_start(call),
            _ if is_harmless(base) || asks_the_compiler(name) => {}
            _ => {
                let used: Vec<Value> = (0..llvm::argument_count(call))
                    .map(|i| llvm::operand(call, i))
                    .filter(|v| self.may_be_symbolic(*v))
                    .collect();
                if !used.is_empty() {
                    self.drop_labels(call, &used, GiveUp::Intrinsic);
                }
            }
        }
    }

    fn defer_followed(&mut self, call: Value) {
        let narrow = (0..llvm::argument_count(call)).all(|i| {
            types::scalar_bits(llvm::type_of(llvm::operand(call, i))).is_some_and(|bits| bits <= 64)
        });
        if narrow {
            return self.defer(call);
        }
        let used: Vec<Value> =
            (0..llvm::argument_count(call)).map(|i| llvm::operand(call, i)).collect();
        self.drop_labels(call, &used, GiveUp::Intrinsic);
    }

    fn argument(&self, call: Value, index: u32) -> Pair {
        self.pair(llvm::operand(call, index))
    }

    /// Labels of an intrinsic's result, on the slow side.
    pub fn intrinsic_expression(&mut self, call: Value) -> Vec<Value> {
        let name = intrinsic_name(call).unwrap_or_default();
        let x = self.argument(call, 0);
        let label = match base(&name) {
            "expect" => x.label,
            "ctpop" => self.unary_label(Op::Ctpop, x),
            "ctlz" => self.unary_label(Op::Ctlz, x),
            "cttz" => self.unary_label(Op::Cttz, x),
            "bswap" => self.unary_label(Op::Bswap, x),
            "abs" => self.absolute(x),
            "smin" => {
                self.smaller(Op::Slt, LLVMIntPredicate::LLVMIntSLT, x, self.argument(call, 1))
            }
            "smax" => self.larger(Op::Slt, LLVMIntPredicate::LLVMIntSLT, x, self.argument(call, 1)),
            "umin" => {
                self.smaller(Op::Ult, LLVMIntPredicate::LLVMIntULT, x, self.argument(call, 1))
            }
            "umax" => self.larger(Op::Ult, LLVMIntPredicate::LLVMIntULT, x, self.argument(call, 1)),
            "fshl" => self.funnel(call, true),
            "fshr" => self.funnel(call, false),
            "fabs" => self.absolute_float(x),
            "sqrt" => self.square_root(x, call),
            "fmuladd" => self.multiply_add(call),
            "uadd.sat" | "usub.sat" => self.saturating(call, base(&name)),
            _ => return self.with_overflow(call, base(&name)),
        };
        vec![label]
    }

    fn unary_label(&self, op: Op, x: Pair) -> Value {
        let builder = self.builder();
        let width = builder.const_i32(self.width(llvm::type_of(x.value)));
        self.call(
            entry::__tg_unary,
            [builder.const_i32(op as u32), width, x.label, self.bits(x.value)],
        )
    }

    fn constant(&self, like: Value, value: u64) -> Pair {
        Pair { value: self.builder().const_int(llvm::type_of(like), value), label: self.zero() }
    }

    fn test(&self, op: Op, predicate: LLVMIntPredicate, a: Pair, b: Pair) -> Pair {
        let value = self.builder().compare(predicate, a.value, b.value);
        Pair { value, label: self.binary_label(op, a, b, value) }
    }

    /// `if a < b { a } else { b }`
    fn smaller(&self, op: Op, predicate: LLVMIntPredicate, a: Pair, b: Pair) -> Value {
        let less = self.test(op, predicate, a, b);
        self.select_label(less, a, b)
    }

    /// `if a < b { b } else { a }`
    fn larger(&self, op: Op, predicate: LLVMIntPredicate, a: Pair, b: Pair) -> Value {
        let less = self.test(op, predicate, a, b);
        self.select_label(less, b, a)
    }

    /// `if x < 0 { 0 - x } else { x }`
    fn absolute(&self, x: Pair) -> Value {
        let zero = self.constant(x.value, 0);
        let negative = self.test(Op::Slt, LLVMIntPredicate::LLVMIntSLT, x, zero);
        let negated = self.binary(Op::Sub, LLVMOpcode::LLVMSub, zero, x);
        self.select_label(negative, negated, x)
    }

    /// `(x << s) | (y >> (w - s))`, and the mirror image, for `s` taken modulo the width
    fn funnel(&self, call: Value, left: bool) -> Value {
        let (high, low, amount) =
            (self.argument(call, 0), self.argument(call, 1), self.argument(call, 2));
        let width = self.width(llvm::type_of(high.value)) as u64;
        let modulus = self.constant(high.value, width);
        let shift = self.binary(Op::URem, LLVMOpcode::LLVMURem, amount, modulus);
        let rest = self.binary(Op::Sub, LLVMOpcode::LLVMSub, modulus, shift);
        let (up, down) = if left { (shift, rest) } else { (rest, shift) };
        let upper = self.shifted(Op::Shl, high, up);
        let lower = self.shifted(Op::LShr, low, down);
        self.binary(Op::Or, LLVMOpcode::LLVMOr, upper, lower).label
    }

    /// A shift that gives 0 for amounts of at least the width, as the runtime's operators do.
    fn shifted(&self, op: Op, x: Pair, amount: Pair) -> Pair {
        let builder = self.builder();
        let ty = llvm::type_of(x.value);
        let width = builder.const_int(ty, self.width(ty) as u64);
        let fits = builder.compare(LLVMIntPredicate::LLVMIntULT, amount.value, width);
        let safe = builder.select(fits, amount.value, builder.const_int(ty, 0));
        let opcode = if op == Op::Shl { LLVMOpcode::LLVMShl } else { LLVMOpcode::LLVMLShr };
        let shifted = builder.binary(opcode, x.value, safe);
        let value = builder.select(fits, shifted, builder.const_int(ty, 0));
        Pair { value, label: self.binary_label(op, x, amount, value) }
    }

    fn absolute_float(&self, x: Pair) -> Value {
        let builder = self.builder();
        let bits = self.width(llvm::type_of(x.value));
        let integer = Pair { value: self.as_integer(x.value), label: x.label };
        let mask = builder.const_int(builder.int_type(bits), (1 << (bits - 1)) - 1);
        self.binary(Op::And, LLVMOpcode::LLVMAnd, integer, Pair { value: mask, label: self.zero() })
            .label
    }

    fn square_root(&self, x: Pair, call: Value) -> Value {
        let builder = self.builder();
        let bits = builder.const_i32(self.width(llvm::type_of(x.value)));
        let op = builder.const_i32(Op::FSqrt as u32);
        self.call(entry::__tg_float_unary, [op, bits, x.label, self.bits(call)])
    }

    /// `a * b + c`, which x86-64 computes in two steps
    fn multiply_add(&self, call: Value) -> Value {
        let [a, b, c] = [0, 1, 2].map(|i| self.argument(call, i));
        let value = self.builder().binary(LLVMOpcode::LLVMFMul, a.value, b.value);
        let product = Pair { value, label: self.float_label(Op::FMul, a, b, value) };
        self.float_label(Op::FAdd, product, c, call)
    }

    /// `uadd.sat`: all ones on overflow; `usub.sat`: 0 on overflow
    fn saturating(&self, call: Value, base: &str) -> Value {
        let (a, b) = (self.argument(call, 0), self.argument(call, 1));
        if base == "uadd.sat" {
            let sum = self.binary(Op::Add, LLVMOpcode::LLVMAdd, a, b);
            let overflow = self.test(Op::Ult, LLVMIntPredicate::LLVMIntULT, sum, a);
            return self.select_label(overflow, self.constant(a.value, u64::MAX), sum);
        }
        let difference = self.binary(Op::Sub, LLVMOpcode::LLVMSub, a, b);
        let overflow = self.test(Op::Ult, LLVMIntPredicate::LLVMIntULT, a, b);
        self.select_label(overflow, self.constant(a.value, 0), difference)
    }

    /// The result and "it did not fit", found by computing in twice the width.
    fn with_overflow(&self, call: Value, base: &str) -> Vec<Value> {
        let (a, b) = (self.argument(call, 0), self.argument(call, 1));
        let bits = self.width(llvm::type_of(a.value));
        let (op, opcode) = match &base[1..4] {
            "add" => (Op::Add, LLVMOpcode::LLVMAdd),
            "sub" => (Op::Sub, LLVMOpcode::LLVMSub),
            _ => (Op::Mul, LLVMOpcode::LLVMMul),
        };
        let signed = base.starts_with('s');
        let result = self.binary(op, opcode, a, b);
        let (wide_a, wide_b) = (self.resize(a, bits * 2, signed), self.resize(b, bits * 2, signed));
        let exact = self.binary(op, opcode, wide_a, wide_b);
        let back = self.resize(result, bits * 2, signed);
        let fits = self.test(Op::Eq, LLVMIntPredicate::LLVMIntEQ, exact, back);
        vec![result.label, self.not_label(fits.label, fits.value)]
    }

    fn copy(&mut self, call: Value) {
        let [to, from, size] = [0, 1, 2].map(|i| llvm::operand(call, i));
        self.flush(call, &[to, from, size]);
        let [lt, lf, ls] = [to, from, size].map(|v| self.label_of(v));
        let [to, from, size] = [to, from, size].map(|v| self.bits(v));
        self.builder().before(call);
        self.call(entry::__tg_copy, [to, from, size, lt, lf, ls]);
    }

    fn fill(&mut self, call: Value) {
        let [to, byte, size] = [0, 1, 2].map(|i| llvm::operand(call, i));
        self.flush(call, &[to, byte, size]);
        let arguments = [
            self.bits(to),
            self.bits(size),
            self.label_of(byte),
            self.label_of(to),
            self.label_of(size),
        ];
        self.call(entry::__tg_fill, arguments);
    }

    fn va_start(&mut self, call: Value) {
        let Some(next) = llvm::next_instruction(call) else { return };
        let Some(kept) = self.varargs else { return };
        self.flush(next, &[]);
        self.call(entry::__tg_va_start, [llvm::operand(call, 0), kept]);
    }

    fn va_copy(&mut self, call: Value) {
        let builder = self.builder();
        builder.before(call);
        let (to, from) = (self.bits(llvm::operand(call, 0)), self.bits(llvm::operand(call, 1)));
        let zero = self.zero();
        self.call(
            entry::__tg_copy,
            [to, from, builder.const_i64(size_of::<VaList>() as u64), zero, zero, zero],
        );
    }

    fn lifetime_start(&mut self, call: Value) {
        let pointer = llvm::operand(call, llvm::argument_count(call) - 1);
        let Some(alloca) = llvm::as_alloca(pointer) else { return };
        let size = self.layout().size(llvm::allocated_type(alloca));
        let Some(next) = llvm::next_instruction(call) else { return };
        let builder = self.builder();
        builder.before(next);
        if size > 0 {
            self.call(entry::__tgi_clear, [self.bits(pointer), builder.const_i64(size)]);
        }
    }
}
