//! [`Data`]: a table with a row for each session.

use std::path::Path;

use config::{Error, Place};

/// A table with a row for each session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// What its columns are called.
    pub(super) columns: Vec<String>,
    rows: Vec<Vec<String>>,
    order: Order,
}

/// Which row a session gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    /// One after the other, and from the first again.
    #[default]
    Cycle,
    /// One after the other, each once: there are as many sessions as rows.
    Unique,
}

impl Data {
    /// Reads a CSV file whose first line says what its columns are called (RFC 4180).
    ///
    /// # Errors
    /// What is wrong with it, with file and line.
    pub(super) fn read(path: &Path, order: Order) -> Result<Self, Error> {
        let name = path.display().to_string();
        let failed = |error: &csv::Error| {
            let line = error.position().and_then(|position| usize::try_from(position.line()).ok());
            let place = line.map_or_else(|| Place::outside(&name), |line| Place::of_line(&name, line));
            place.error(match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{len} fields where there are {expected_len} columns")
                }
                csv::ErrorKind::Io(why) => format!("cannot read it: {why}"),
                _ => error.to_string(),
            })
        };
        let wrong = |what: String, mend: &str| Place::of_line(&name, 1).error(what).mend(mend);
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).map_err(|error| failed(&error))?;
        let head = reader.headers().map_err(|error| failed(&error))?;
        let columns: Vec<String> =
            head.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect();
        for (number, name) in columns.iter().enumerate() {
            let is_name = |text: &str| {
                let may = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
                !text.is_empty() && text.bytes().all(may)
            };
            if !is_name(name) {
                let what = format!("column {} is called \"{name}\"", number + 1);
                return Err(wrong(what, "names are made of letters, digits, _, - and ."));
            }
            if columns[..number].contains(name) {
                let what = format!("two columns are called \"{name}\"");
                return Err(wrong(what, "give each a name of its own"));
            }
        }
        let rows: Result<Vec<Vec<String>>, csv::Error> = reader
            .records()
            .map(|record| record.map(|record| record.iter().map(str::to_owned).collect()))
            .collect();
        let rows = rows.map_err(|error| failed(&error))?;
        if rows.is_empty() {
            return Err(wrong("it has no rows".to_owned(), "add one for each user below the names"));
        }
        Ok(Self { columns, rows, order })
    }

    /// The row of session number `number`, from 0; `None` when all are used.
    pub(super) fn row(&self, number: u64) -> Option<&[String]> {
        let rows = self.rows.len() as u64;
        let number = match self.order {
            Order::Cycle => number % rows,
            Order::Unique => number,
        };
        usize::try_from(number).ok().and_then(|number| self.rows.get(number)).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, order: Order) -> Result<Data, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let name = file.path().display().to_string();
        Data::read(file.path(), order).map_err(|error| error.to_string().replace(&name, "users.csv"))
    }

    #[test]
    fn sessions_get_rows_in_turn() {
        let text = "\u{feff}user, password\nann,a\n\"bob, jr\",\"\"\"b\"\"\"\n";
        let cycled = read(text, Order::Cycle).unwrap();
        assert_eq!(cycled.columns, ["user", "password"]);
        assert_eq!(cycled.row(1).unwrap(), ["bob, jr", "\"b\""]);
        assert_eq!(cycled.row(2), cycled.row(0));
        let unique = read(text, Order::Unique).unwrap();
        assert_eq!((unique.row(1), unique.row(2)), (cycled.row(1), None));
    }

    #[test]
    fn a_broken_table_is_refused_with_its_line() {
        let error = |text: &str| read(text, Order::Cycle).unwrap_err();
        assert_eq!(error("a,b\n1,2\n3\n"), "users.csv:3: 1 fields where there are 2 columns");
        assert!(error("a,b\n").starts_with("users.csv:1: it has no rows"));
        assert!(error("a,a\n1,2\n").starts_with("users.csv:1: two columns are called \"a\""));
        assert!(error("a b\n1\n").starts_with("users.csv:1: column 1 is called \"a b\""));
        assert!(Data::read("/does/not/exist".as_ref(), Order::Cycle).is_err());
    }
}
