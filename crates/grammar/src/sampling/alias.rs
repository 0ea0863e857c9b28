//! Walker's alias method: a weighted choice among n with one random number and one comparison.
//! Entry i says up to which fraction i itself is meant, and which other one beyond it.

/// Thresholds are fractions of 2^32.
/// `sums` are the weights, each with those before it.
pub(crate) fn alias_table(sums: impl ExactSizeIterator<Item = f64> + Clone) -> Vec<(u32, u32)> {
    let n = sums.len();
    let total = sums.clone().last().unwrap_or(1.0);
    let mut before = 0.0;
    let mut share: Vec<f64> = Vec::with_capacity(n);
    for sum in sums {
        share.push((sum - before) / total * n as f64);
        before = sum;
    }
    let mut table = vec![(u32::MAX, 0u32); n];
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| share[*i] < 1.0);
    while let (Some(s), Some(&l)) = (small.pop(), large.last()) {
        table[s] = ((share[s] * 4_294_967_296.0) as u32, l as u32);
        share[l] -= 1.0 - share[s];
        if share[l] < 1.0 {
            large.pop();
            small.push(l);
        }
    }
    small.into_iter().chain(large).for_each(|i| table[i] = (u32::MAX, i as u32));
    table
}
