//! Parquet tables, one per kind of row: written in row groups of bounded size, read back group
//! by group.
//!
//! The derive macro that comes with the Parquet library cannot read a column with nulls, and
//! "no status, because no response came" is a null; so a row's columns are listed with
//! [`table!`] instead, which gives the struct, the schema, the writer and the reader at once.

mod cell;
mod column;
mod reader;
mod row;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use cell::{Cell, named_cell};
pub(crate) use column::{Columns, field, read_column, schema_of, write_column};
pub use reader::TableReader;
pub use row::Row;
pub(crate) use row::{Sealed, table};
pub use writer::TableWriter;
