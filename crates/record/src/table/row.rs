//! [`Row`], and the macro `table!` that defines rows.

use parquet::errors::Result;
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::TypePtr;

use super::column::Columns;

/// A row of one of the record's tables.
pub trait Row: Sealed + Sized {
    /// The columns, in order.
    #[doc(hidden)]
    fn schema() -> Result<TypePtr>;

    /// Writes `rows` as one row group, column by column.
    #[doc(hidden)]
    fn write_group(rows: &[Self], columns: &mut Columns<'_>) -> Result<()>;

    /// Reads the rows of a group; columns are found by name, so their order does not matter.
    #[doc(hidden)]
    fn read_group(group: &dyn RowGroupReader) -> Result<Vec<Self>>;
}

mod sealed {
    /// Schemas are defined in this crate and nowhere else.
    pub trait Sealed {}
}

pub(crate) use sealed::Sealed;

/// Defines a row type: a struct whose fields are the columns.
macro_rules! table {
    (
        $(#[$about:meta])*
        pub struct $row:ident {
            $($(#[$about_column:meta])* pub $column:ident: $cell:ty,)*
        }
    ) => {
        $(#[$about])*
        pub struct $row {
            $($(#[$about_column])* pub $column: $cell,)*
        }

        impl $crate::table::Sealed for $row {}

        impl $crate::table::Row for $row {
            fn schema() -> parquet::errors::Result<parquet::schema::types::TypePtr> {
                $crate::table::schema_of(vec![
                    $($crate::table::field::<$cell>(stringify!($column))?,)*
                ])
            }

            fn write_group(
                rows: &[Self],
                columns: &mut $crate::table::Columns<'_>,
            ) -> parquet::errors::Result<()> {
                $($crate::table::write_column(rows.iter().map(|row| &row.$column), columns)?;)*
                Ok(())
            }

            fn read_group(
                group: &dyn parquet::file::reader::RowGroupReader,
            ) -> parquet::errors::Result<Vec<Self>> {
                $(let mut $column =
                    $crate::table::read_column::<$cell>(group, stringify!($column))?.into_iter();)*
                Ok(std::iter::from_fn(|| Some(Self { $($column: $column.next()?,)* })).collect())
            }
        }
    };
}

pub(crate) use table;
