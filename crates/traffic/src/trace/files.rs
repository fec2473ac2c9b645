//! [`Files`]: the inputs that one name stands for.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// The files that are read one after the other into one trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files(Vec<PathBuf>);

impl Files {
    /// What `name` stands for: a file, several with commas between them, or `-`. A file whose name has a comma in it is
    /// that file.
    pub(super) fn named(name: &Path) -> Self {
        let bytes = name.as_os_str().as_bytes();
        if !bytes.contains(&b',') || name.exists() {
            return Self(vec![name.to_owned()]);
        }
        let parts = bytes.split(|byte| *byte == b',').filter(|part| !part.is_empty());
        Self(parts.map(|part| PathBuf::from(OsStr::from_bytes(part))).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    pub(super) fn are_several(&self) -> bool {
        self.0.len() > 1
    }
}

/// Whether a name, or one of several with commas between them, is that of standard input.
pub fn is_standard_input(name: &Path) -> bool {
    Files::named(name).iter().any(|file| file == Path::new(STANDARD_INPUT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_files_have_commas_between_them() {
        let named = |name: &str| -> Vec<PathBuf> { Files::named(name.as_ref()).0 };
        assert_eq!(named("a.log"), [PathBuf::from("a.log")]);
        assert_eq!(named("b.log.gz,a.log"), [PathBuf::from("b.log.gz"), PathBuf::from("a.log")]);
        let folder = tempfile::tempdir().unwrap();
        let comma = folder.path().join("a,b");
        std::fs::write(&comma, "").unwrap();
        assert_eq!(Files::named(&comma).0, [comma]);
        assert!(is_standard_input("-".as_ref()) && is_standard_input("a.log,-".as_ref()));
        assert!(!is_standard_input("a-b".as_ref()));
    }
}
