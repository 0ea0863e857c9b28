//! Path conditions of hand-made traces.

mod broken;
mod conditions;
mod switches;
