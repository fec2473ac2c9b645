//! One column: its place in the schema, writing it, reading it.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::RowGroupReader;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::{Type, TypePtr};

use super::Cell;

/// The columns of a row group that is being written, left to right.
pub struct Columns<'a>(pub(super) SerializedRowGroupWriter<'a, File>);

/// The column `name` of cells `C`.
pub(crate) fn field<C: Cell>(name: &str) -> Result<TypePtr> {
    let repetition = if C::NULLABLE { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(name, C::Physical::get_physical_type())
        .with_repetition(repetition)
        .with_logical_type(C::logical())
        .build()
        .map(Arc::new)
}

pub(crate) fn schema_of(fields: Vec<TypePtr>) -> Result<TypePtr> {
    Type::group_type_builder("headworks").with_fields(fields).build().map(Arc::new)
}

/// Whether few distinct words stand in the column, so that a dictionary pays.
pub(super) fn is_text(field: &Type) -> bool {
    matches!(field.get_basic_info().logical_type_ref(), Some(LogicalType::String))
}

pub(crate) fn write_column<'a, C: Cell + 'a>(
    cells: impl Iterator<Item = &'a C>,
    columns: &mut Columns<'_>,
) -> Result<()> {
    let Some(mut column) = columns.0.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns than the row".to_owned()));
    };
    let writer = column.typed::<C::Physical>();
    if C::NULLABLE {
        let mut values = Vec::with_capacity(cells.size_hint().0);
        let mut present = Vec::with_capacity(cells.size_hint().0);
        for cell in cells {
            let value = cell.to_physical();
            present.push(i16::from(value.is_some()));
            values.extend(value);
        }
        writer.write_batch(&values, Some(&present), None)?;
    } else {
        let values: Vec<_> = cells.filter_map(C::to_physical).collect();
        writer.write_batch(&values, None, None)?;
    }
    column.close()
}

pub(crate) fn read_column<C: Cell>(group: &dyn RowGroupReader, name: &str) -> Result<Vec<C>> {
    let unfit = |why: &str| ParquetError::General(format!("column \"{name}\" {why}"));
    let metadata = group.metadata();
    let rows = usize::try_from(metadata.num_rows()).map_err(|_| unfit("has a negative length"))?;
    let found =
        (0..metadata.num_columns()).find(|index| metadata.column(*index).column_descr().name() == name);
    let Some(index) = found else {
        // What may be unknown in a row may be unknown in all of them: tools leave such columns out.
        let nulls: Option<Vec<C>> = (0..rows).map(|_| C::from_physical(None)).collect();
        return nulls.ok_or_else(|| unfit("is missing"));
    };
    let descriptor = metadata.column(index).column_descr();
    if descriptor.physical_type() != C::Physical::get_physical_type() || descriptor.max_rep_level() > 0 {
        return Err(unfit("has another type"));
    }
    let mut reader = get_typed_column_reader::<C::Physical>(group.get_column_reader(index)?);
    let (mut values, mut present) = (Vec::new(), Vec::new());
    reader.read_records(rows, Some(&mut present), None, &mut values)?;
    let mut values = values.into_iter();
    let cells: Option<Vec<C>> = if descriptor.max_def_level() == 0 {
        values.map(|value| C::from_physical(Some(value))).collect()
    } else {
        present
            .into_iter()
            .map(|level| C::from_physical(if level > 0 { values.next() } else { None }))
            .collect()
    };
    let cells = cells.ok_or_else(|| unfit("holds a value that does not belong there"))?;
    if cells.len() == rows { Ok(cells) } else { Err(unfit("is shorter than the table")) }
}
