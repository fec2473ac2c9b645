//! [`TableReader`]: rows of a Parquet file, one group in memory at a time.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::Row;
use crate::Error;

/// Iterates over the rows of a table.
pub struct TableReader<R: Row> {
    path: PathBuf,
    file: SerializedFileReader<File>,
    next_group: usize,
    rows: std::vec::IntoIter<R>,
}

impl<R: Row> TableReader<R> {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        let file = SerializedFileReader::new(file)
            .map_err(|source| Error::Parquet { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file, next_group: 0, rows: Vec::new().into_iter() })
    }

    fn read_group(&mut self) -> Result<(), ParquetError> {
        let group = self.file.get_row_group(self.next_group)?;
        self.rows = R::read_group(group.as_ref())?.into_iter();
        self.next_group += 1;
        Ok(())
    }
}

impl<R: Row> Iterator for TableReader<R> {
    type Item = Result<R, Error>;

    /// After an error there is no more.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok(row));
            }
            if self.next_group >= self.file.num_row_groups() {
                return None;
            }
            if let Err(source) = self.read_group() {
                self.next_group = usize::MAX;
                return Some(Err(Error::Parquet { path: self.path.clone(), source }));
            }
        }
    }
}
