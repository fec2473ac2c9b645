//! Docker's json-file driver: each line that a container writes is the `log` of an object.

use serde::Deserialize;

/// No line is put together beyond that.
const MAX_BYTES: usize = 64 * 1024;

/// Lines of a container, of which Docker writes those above 16 KiB in several pieces.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// What has come of a line of standard output, and of standard error.
    begun: [String; 2],
}

#[derive(Deserialize)]
struct Record {
    log: String,
    #[serde(default)]
    stream: String,
}

/// What a record is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unwrapped {
    /// None of Docker's.
    Other,
    /// Of a line that goes on.
    Piece,
    Line(String),
}

impl Pieces {
    pub(super) fn unwrap(&mut self, text: &[u8]) -> Unwrapped {
        // Docker writes its fields in this order.
        if !text.starts_with(br#"{"log":""#) {
            return Unwrapped::Other;
        }
        let Ok(Record { log, stream }) = serde_json::from_slice(text) else { return Unwrapped::Other };
        let [out, error] = &mut self.begun;
        let begun = if stream == "stderr" { error } else { out };
        if log.ends_with('\n') {
            let mut line = std::mem::take(begun);
            line.push_str(&log);
            return Unwrapped::Line(line);
        }
        if begun.len() + log.len() <= MAX_BYTES {
            begun.push_str(&log);
        }
        Unwrapped::Piece
    }

    /// What is left of a line that never came to its end.
    pub(super) fn rest(&mut self) -> Option<String> {
        self.begun.iter_mut().map(std::mem::take).find(|rest| !rest.trim().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_several_records_are_put_together() {
        let mut pieces = Pieces::default();
        let record = |log: &str, stream: &str| {
            format!(r#"{{"log":"{log}","stream":"{stream}","time":"2023-11-14T22:13:20.000000001Z"}}"#)
        };
        assert_eq!(pieces.unwrap(record("GET ", "stdout").as_bytes()), Unwrapped::Piece);
        let error = pieces.unwrap(record(r"oh\n", "stderr").as_bytes());
        assert_eq!(error, Unwrapped::Line("oh\n".to_owned()));
        let whole = pieces.unwrap(record(r"/\n", "stdout").as_bytes());
        assert_eq!(whole, Unwrapped::Line("GET /\n".to_owned()));
        assert_eq!(pieces.unwrap(br#"{"method":"GET"}"#), Unwrapped::Other);
        assert_eq!(pieces.rest(), None);
        pieces.unwrap(record("cut", "stdout").as_bytes());
        assert_eq!(pieces.rest().as_deref(), Some("cut"));
    }
}
