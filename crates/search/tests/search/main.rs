//! Searches over programs that are closures: no process, no clock, no file.

mod baselines;
mod engine;
mod exhaustive;
mod harness;
mod program;
mod random;
mod whitebox;
