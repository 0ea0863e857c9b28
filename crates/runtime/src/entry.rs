//! The functions that instrumented code calls have the types that the table says.

use crate::models::heap::*;
use crate::regions::endings::*;
use crate::{
    address::*, build::*, calls::*, checks::*, covered::*, events::*, floats::*, memory::*, objects::*,
    outside::*, regions::*, samples::*, shadow::*, start::*, state::*, words::*,
};
use trace::entry::types::{Global, Label, PureRegion, VARARGS, VaList, c_char, c_int};

macro_rules! check {
    ($($name:ident($($parameter:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        $(const _: unsafe extern "C" fn($($ty),*) $(-> $result)? = $name;)*
    };
}

trace::for_each_entry!(check);
