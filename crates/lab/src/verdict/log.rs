//! What a server's own log says of what it was refused.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Which libraries name EMFILE and ENFILE (errno(3)), and Node.
const WORDS: [&str; 3] = ["too many open files", "no file descriptors available", "emfile"];
/// A server says it soon; some say it for every request.
const MOST: u64 = 1 << 20;
const LONGEST: usize = 160;

/// The first line of a log that says that a descriptor was refused; nothing where there is no log.
pub(crate) fn refused_descriptors(log: &Path) -> Option<String> {
    let lines = BufReader::new(File::open(log).ok()?.take(MOST)).split(b'\n');
    let mut lines = lines.map_while(Result::ok).map(|line| String::from_utf8_lossy(&line).into_owned());
    let line = lines.find(|line| {
        let line = line.to_lowercase();
        WORDS.iter().any(|words| line.contains(words))
    })?;
    // Without the time and the names in front of what Apache says.
    let from = line.find("(24)").or_else(|| line.find("(23)")).unwrap_or_default();
    Some(line.chars().skip(line[..from].chars().count()).take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_says_it_is_found() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let said = |text: &[u8]| {
            std::fs::write(&log, text).unwrap();
            refused_descriptors(log.path())
        };
        let apache =
            b"\xff started\n[core:error] [pid 1:tid 2] (24)Too many open files: AH02179: apr_socket_accept\n";
        assert_eq!(said(apache).unwrap(), "(24)Too many open files: AH02179: apr_socket_accept");
        let nginx = "[crit] 7#7: accept4() failed (24: Too many open files)";
        assert_eq!(said(nginx.as_bytes()).unwrap(), nginx);
        assert_eq!(said(b"started\nended\n"), None);
        assert_eq!(refused_descriptors(Path::new("/nonexistent")), None);
    }
}
