//! `bench soak`: whether `headworks gate` holds more and more while it is overloaded for long.

pub(crate) mod command;
mod table;
mod time_series;
