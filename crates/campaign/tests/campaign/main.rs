//! Campaigns over a fake program: what ends up on disk and on the screen.

mod damage;
mod fake;
mod inputs;
mod output;
mod replay;
