//! [`TableWriter`]: streams rows into a Parquet file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData};
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
/// Where a write fails, as on a full disk, the file is completed with the groups that it has, and
/// takes no more rows.
///
/// Dropping it completes the file as well as [`finish`](Self::finish) does, but cannot
/// report that this failed.
#[derive(Debug)]
pub struct TableWriter<R: Row> {
    path: PathBuf,
    rows: Vec<R>,
    /// `None` once it is complete.
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
    /// When the group cannot be written; its rows are lost, and those that come after it.
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
        let written = match &mut self.file {
            Some(file) => write_group(file, &self.rows),
            None => Ok(()),
        };
        self.rows.clear();
        written.map_err(|why| {
            let groups = self.file.as_ref().map(|file| file.flushed_row_groups().to_vec());
            self.give_up(why, groups.unwrap_or_default())
        })
    }

    fn complete(&mut self) -> Result<(), Error> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        // The writer forgets them before it knows whether their directory can be written.
        let groups = file.flushed_row_groups().to_vec();
        file.finish().map_err(|why| self.give_up(why, groups))?;
        self.file = None;
        Ok(())
    }

    /// Completes the file with the groups that it has, since something could not be written to it.
    fn give_up(&mut self, why: ParquetError, groups: Vec<RowGroupMetaData>) -> Error {
        // Where there is no room for that either, no table is better than one that cannot be read.
        if let Some(file) = self.file.take()
            && salvage(&self.path, file, groups).is_err()
        {
            let _ = fs::remove_file(&self.path);
        }
        parquet_error(&self.path)(why)
    }
}

fn write_group<R: Row>(file: &mut SerializedFileWriter<File>, rows: &[R]) -> Result<(), ParquetError> {
    let mut columns = Columns(file.next_row_group()?);
    R::write_group(rows, &mut columns)?;
    columns.0.close().map(drop)
}

/// As many of the first groups as there is room for, with their directory at the end.
fn salvage(
    path: &Path,
    failed: SerializedFileWriter<File>,
    mut groups: Vec<RowGroupMetaData>,
) -> io::Result<()> {
    let schema = Arc::new(failed.schema_descr().clone());
    let created_by = failed.properties().created_by().to_owned();
    // Writes what it still holds, as far as it can.
    drop(failed);
    let mut file = OpenOptions::new().write(true).open(path)?;
    let written = file.metadata()?.len();
    groups.retain(|group| end(group) <= written);
    loop {
        file.set_len(groups.last().map_or(0, end))?;
        file.seek(SeekFrom::End(0))?;
        // In memory first: the library's own way to a file does not tell when the last of it was not written.
        let mut ending = if groups.is_empty() { START.to_vec() } else { Vec::new() };
        let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
        let about = FileMetaData::new(1, rows, Some(created_by.clone()), None, Arc::clone(&schema), None);
        let whole = ParquetMetaData::new(about, groups.clone());
        ParquetMetaDataWriter::new(&mut ending, &whole).finish().map_err(io::Error::other)?;
        match (file.write_all(&ending), groups.pop()) {
            (Err(why), None) => return Err(why),
            (Err(_), Some(_)) => (),
            (Ok(()), _) => return Ok(()),
        }
    }
}

/// What a Parquet file begins with.
const START: &[u8] = b"PAR1";

/// Where a group ends in the file.
fn end(group: &RowGroupMetaData) -> u64 {
    let ends = group.columns().iter().map(|column| {
        let (from, length) = column.byte_range();
        from + length
    });
    ends.max().unwrap_or(START.len() as u64)
}

impl<R: Row> Drop for TableWriter<R> {
    fn drop(&mut self) {
        let _ = self.complete();
    }
}

fn parquet_error(path: &Path) -> impl FnOnce(ParquetError) -> Error {
    move |source| match source {
        ParquetError::External(why) => match why.downcast::<io::Error>() {
            Ok(why) => Error::io("write", path)(*why),
            Err(why) => Error::Parquet { path: path.to_owned(), source: ParquetError::External(why) },
        },
        source => Error::Parquet { path: path.to_owned(), source },
    }
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
