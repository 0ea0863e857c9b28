//! The functions that instrumented code calls have the types that the table says.

use crate::start::*;
use runtime_core::regions::consumers::*;
use runtime_core::{
    address::*, build::*, calls::*, checks::*, covered::*, events::*, floats::*, hashes::*,
    memory::*, objects::*, regions::*, shadow::*, state::*,
};
use runtime_models::outside::{crossings::*, lent::*, output::*};
use runtime_models::{heap::*, outside::*, words::*};
use trace::entry::types::{Global, Label, PureRegion, VARARGS, VaList, c_char, c_int};

macro_rules! check {
    ($($name:ident($($parameter:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        $(const _: unsafe extern "C" fn($($ty),*) $(-> $result)? = $name;)*
    };
}

trace::for_each_entry!(check);
