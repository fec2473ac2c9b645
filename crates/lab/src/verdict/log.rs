//! What a server's own log says of what it was refused.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// Which libraries name EMFILE and ENFILE (errno(3)), and Node.
const WORDS: [&str; 3] = ["too many open files", "no file descriptors available", "emfile"];
/// Of its beginning and of its end: some servers write a line for every request.
const MOST: u64 = 1 << 20;
const LONGEST: usize = 160;

/// The first line of a log that says that a descriptor was refused; nothing where there is no log.
pub(crate) fn refused_descriptors(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok().filter(|file| file.metadata().is_ok_and(|it| it.is_file()))?;
    let length = file.metadata().ok()?.len();
    let line = first_of(&file).or_else(|| {
        let end = file.seek(SeekFrom::Start(length.saturating_sub(MOST).max(MOST))).ok()?;
        (end < length).then(|| first_of(&file)).flatten()
    })?;
    // Without the time and the names in front of what Apache says.
    let from = line.find("(24)").or_else(|| line.find("(23)")).unwrap_or_default();
    Some(line.chars().skip(line[..from].chars().count()).take(LONGEST).collect())
}

/// The first line that says so, of the next so many bytes.
fn first_of(file: &File) -> Option<String> {
    let lines = BufReader::new(file.take(MOST)).split(b'\n');
    let mut lines = lines.map_while(Result::ok).map(|line| String::from_utf8_lossy(&line).into_owned());
    lines.find(|line| {
        let line = line.to_lowercase();
        // Node watches files with what it calls the same, and others have names with it.
        WORDS.iter().any(|words| is_word(&line, words)) && !line.contains("files, watch")
    })
}

/// Whether `words` stand by themselves in it.
fn is_word(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + words.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
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
        assert_eq!(said(b"GET /memfile 200\nError: EMFILE: too many open files, watch '/'\n"), None);
        assert!(said(b"Error: accept EMFILE").is_some());
        let late = [&b"GET / 200\n".repeat(300_000)[..], b"accept: Too many open files\n"].concat();
        assert_eq!(said(&late).unwrap(), "accept: Too many open files");
        assert_eq!(refused_descriptors(Path::new("/nonexistent")), None);
    }
}
