//! How many derivations and strings there are, and all of them one after the other.

pub mod bounded;
pub mod count;
pub mod enumerate;
pub mod lightest;
pub mod space;
pub mod spaces;
