//! Floating-point operators in Z3's theory of floats.

use crate::term::{Term, constant};
use expr::Op;
use z3::ast::{Ast, BV, Bool, Float, RoundingMode};

/// A float with these bits.
pub(crate) fn from_bits(bits: &BV) -> Float {
    let context = bits.get_ctx();
    let raw = context.get_z3_context();
    // SAFETY: the context and the bit-vector are alive, the sort is made in the same context and
    // has the width of the bit-vector, and `wrap` takes a reference on the result.
    unsafe {
        let ast =
            z3_sys::Z3_mk_fpa_to_fp_bv(raw, bits.get_z3_ast(), raw_sort(raw, bits.get_size()));
        Float::wrap(context, ast.expect("a float of the bit-vector's width"))
    }
}

/// An integer rounded to a float of `width` bits.
pub(crate) fn from_integer(integer: &BV, signed: bool, width: u32) -> Float {
    let context = integer.get_ctx();
    let raw = context.get_z3_context();
    let nearest = RoundingMode::round_nearest_ties_to_even();
    // SAFETY: as in `from_bits`; the rounding mode is alive until the end of the function.
    unsafe {
        let sort = raw_sort(raw, width);
        let ast = if signed {
            z3_sys::Z3_mk_fpa_to_fp_signed(raw, nearest.get_z3_ast(), integer.get_z3_ast(), sort)
        } else {
            z3_sys::Z3_mk_fpa_to_fp_unsigned(raw, nearest.get_z3_ast(), integer.get_z3_ast(), sort)
        };
        Float::wrap(context, ast.expect("a float of an integer"))
    }
}

/// A float rounded to another width.
pub(crate) fn convert(float: &Float, width: u32) -> Float {
    let context = float.get_ctx();
    let raw = context.get_z3_context();
    let nearest = RoundingMode::round_nearest_ties_to_even();
    // SAFETY: as in `from_integer`.
    unsafe {
        let sort = raw_sort(raw, width);
        let ast =
            z3_sys::Z3_mk_fpa_to_fp_float(raw, nearest.get_z3_ast(), float.get_z3_ast(), sort);
        Float::wrap(context, ast.expect("a float of a float"))
    }
}

/// # Safety
/// The context is alive.
unsafe fn raw_sort(context: z3_sys::Z3_context, width: u32) -> z3_sys::Z3_sort {
    // SAFETY: by contract.
    let sort = unsafe {
        if width == 32 {
            z3_sys::Z3_mk_fpa_sort_single(context)
        } else {
            z3_sys::Z3_mk_fpa_sort_double(context)
        }
    };
    sort.expect("the sort of floats")
}

pub(crate) fn arithmetic(op: Op, a: &Float, b: &Float) -> Option<Float> {
    let nearest = RoundingMode::round_nearest_ties_to_even();
    match op {
        Op::FAdd => Some(a.add_with_rounding_mode(b.clone(), &nearest)),
        Op::FSub => Some(a.sub_with_rounding_mode(b.clone(), &nearest)),
        Op::FMul => Some(a.mul_with_rounding_mode(b.clone(), &nearest)),
        Op::FDiv => Some(a.div_with_rounding_mode(b.clone(), &nearest)),
        // Z3's remainder is IEEE's, not C's.
        _ => None,
    }
}

pub(crate) fn comparison(op: Op, a: &Float, b: &Float) -> Bool {
    match op {
        Op::FEq => a.eq_fpa(b.clone()),
        Op::FLt => a.lt(b.clone()),
        Op::FLe => a.le(b.clone()),
        _ => Bool::or(&[a.is_nan(), b.is_nan()]),
    }
}

/// Towards zero, saturated; 0 for a NaN.
pub(crate) fn to_integer(float: &Float, width: u32, signed: bool, bits: u32) -> BV {
    let zero = RoundingMode::round_towards_zero();
    let magnitude = if signed { bits - 1 } else { bits };
    let limit = power_of_two(magnitude, width);
    let (inside, least, greatest, low_limit) = if signed {
        let least = constant(bits, 1 << (bits - 1));
        let inside = float.to_sbv_with_rounding_mode(&zero, bits);
        (inside, least.clone(), least.bvnot(), limit.unary_neg())
    } else {
        let inside = float.to_ubv_with_rounding_mode(&zero, bits);
        (inside, constant(bits, 0), constant(bits, 0).bvnot(), power(0.0, width))
    };
    let saturated = float.ge(limit).ite(&greatest, &inside);
    let saturated = float.le(low_limit).ite(&least, &saturated);
    float.is_nan().ite(&constant(bits, 0), &saturated)
}

/// Infinite where it does not fit, which is what a comparison with it needs.
fn power_of_two(exponent: u32, width: u32) -> Float {
    power(2f64.powi(exponent as i32), width)
}

fn power(value: f64, width: u32) -> Float {
    if width == 32 { Float::from_f32(value as f32) } else { Float::from_f64(value) }
}

impl Term {
    /// The value of a 32- or 64-bit term as a float.
    pub(crate) fn float(&self) -> Float {
        match self {
            Term::Float(float) => float.clone(),
            other => from_bits(&other.bits()),
        }
    }
}
