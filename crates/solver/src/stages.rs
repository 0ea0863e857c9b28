//! The stages of the chain, one in a file. [`crate::chain`] puts them into their order.

mod cache;
mod hashing;
mod link;
mod local;
mod lowering;
mod oversize;
mod product;
mod ranges;
mod selective;
mod slicing;
mod strings;
mod subsumption;
mod trivial;
mod unary;

pub(crate) use cache::CacheStage;
pub(crate) use hashing::HashingStage;
pub(crate) use link::LinkStage;
pub(crate) use local::LocalStage;
pub(crate) use lowering::LoweringStage;
pub(crate) use oversize::OversizeStage;
pub(crate) use product::ProductStage;
pub(crate) use ranges::RangesStage;
pub(crate) use selective::{FEW, MANY, Selective};
pub(crate) use slicing::SlicingStage;
pub(crate) use strings::StringsStage;
pub(crate) use subsumption::SubsumptionStage;
pub(crate) use trivial::TrivialStage;
pub(crate) use unary::UnaryStage;
