//! Input that comes in parts from several places, and the container that holds it.
//!
//! A *container* is an input like any other, so that everything that makes, runs and keeps inputs
//! works on it. It begins with a line of text that names the parts and their sizes. After that each
//! part has a slot, which never moves, whatever the other parts are:
//!
//! * a part of *data* (standard input, a file) has its length, in one byte or in two with the low
//!   one first, then as many bytes as it can hold;
//! * a *text* (an argument) has its bytes only, and ends at the first zero;
//! * a part of *choices* (what the environment does) has its bytes only. Zero is the usual choice.
//!
//! So lengths are bytes of the input that a search can solve for. What is behind a length is zero.
//! This crate runs nothing, and does not know what the parts are for.

mod container;
mod layout;

pub use container::{ContainerError, Parts};
pub use layout::{Kind, Layout, LayoutError, Part};
