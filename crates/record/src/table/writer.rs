//! [`TableWriter`]: streams rows into a Parquet file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use super::Row;
use super::column::{Columns, is_text};
use crate::Error;

/// Rows held in memory before they go to the file together.
const ROWS_PER_GROUP: usize = 8192;

/// Writes rows to a file in groups, so that memory does not grow with the run.
///
/// Dropping it completes the file as well as [`finish`](Self::finish) does, but tells nobody
/// when that fails.
#[derive(Debug)]
pub struct TableWriter<R: Row> {
    path: PathBuf,
    rows: Vec<R>,
    /// `None` after `finish`.
    file: Option<SerializedFileWriter<File>>,
}

impl<R: Row> TableWriter<R> {
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let file = File::create_new(path).map_err(Error::io("create", path))?;
        let open = || {
            let schema = R::schema()?;
            let properties = properties(&schema);
            SerializedFileWriter::new(file, schema, properties)
        };
        let file = open().map_err(parquet_error(path))?;
        Ok(Self { path: path.to_owned(), rows: Vec::with_capacity(ROWS_PER_GROUP), file: Some(file) })
    }

    /// Adds a row; every so often this writes a group of them to the file.
    ///
    /// # Errors
    /// When the group cannot be written; its rows are lost.
    pub fn push(&mut self, row: R) -> Result<(), Error> {
        self.rows.push(row);
        if self.rows.len() >= ROWS_PER_GROUP { self.write_group() } else { Ok(()) }
    }

    /// Writes what is left and completes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        self.complete()
    }

    fn write_group(&mut self) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut write = || {
            let mut columns = Columns(file.next_row_group()?);
            R::write_group(&self.rows, &mut columns)?;
            columns.0.close().map(drop)
        };
        let written = write().map_err(parquet_error(&self.path));
        self.rows.clear();
        written
    }

    fn complete(&mut self) -> Result<(), Error> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        match self.file.take() {
            Some(file) => file.close().map(drop).map_err(parquet_error(&self.path)),
            None => Ok(()),
        }
    }
}

impl<R: Row> Drop for TableWriter<R> {
    fn drop(&mut self) {
        let _ = self.complete();
    }
}

fn parquet_error(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Error {
    move |source| Error::Parquet { path: path.to_owned(), source }
}

/// Words as dictionaries, everything else as it comes: the generator encodes on the thread that
/// measures, so cheap counts for more than small.
fn properties(schema: &Type) -> WriterPropertiesPtr {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("headworks ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN);
    for field in schema.get_fields().iter().filter(|field| is_text(field)) {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(field.name()), true);
    }
    Arc::new(properties.build())
}
