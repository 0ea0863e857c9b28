//! Searches over programs that are closures: no process, no clock, no file.

mod baselines;
mod engine;
mod examination;
mod exhaustive;
mod finds;
mod hangs;
mod keep;
mod loops;
mod mutate;
mod whitebox;
