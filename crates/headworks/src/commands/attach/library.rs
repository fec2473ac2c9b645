//! What is loaded into servers, as a file.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::StatVfsMountFlags;
use tempfile::TempDir;

/// What is loaded into the server.
const SHIM: &[u8] = include_bytes!(env!("SHIM"));

/// Where the socket of the gate is, and the library: readable for whatever user the server's processes run as.
pub(super) struct Place(TempDir);

impl Place {
    pub(super) fn make() -> anyhow::Result<Self> {
        // A library has to be where programs may be run from, and its path is one of a list in the environment.
        let may_hold = |place: &PathBuf| {
            let is_open = rustix::fs::statvfs(place)
                .is_ok_and(|about| !about.f_flag.contains(StatVfsMountFlags::NOEXEC));
            is_open && !place.as_os_str().as_encoded_bytes().iter().any(|byte| b" :\n".contains(byte))
        };
        let places = [PathBuf::from("/run"), std::env::temp_dir(), PathBuf::from("/var/tmp")];
        let mut made = places
            .iter()
            .filter(|place| may_hold(place))
            .filter_map(|place| tempfile::Builder::new().prefix("headworks-").tempdir_in(place).ok());
        let place = Self(made.next().context("cannot make a directory for the gate's socket and library in /run, nor where temporary files are")?);
        write_library(&place.library())?;
        fs::set_permissions(place.0.path(), Permissions::from_mode(0o755))
            .with_context(|| format!("cannot open {} to all", place.0.path().display()))?;
        Ok(place)
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.0.path().join("attach.sock")
    }

    pub(super) fn library(&self) -> PathBuf {
        self.0.path().join("shim.so")
    }
}

/// Writes what is loaded into servers, readable for whatever user their processes run as. Servers may have the file that was there
/// before, which stays theirs.
pub(super) fn write_library(library: &Path) -> anyhow::Result<()> {
    let place = library.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(place)?;
        file.write_all(SHIM)?;
        fs::set_permissions(file.path(), Permissions::from_mode(0o755))?;
        file.persist(library)?;
        std::io::Result::Ok(())
    };
    write().with_context(|| format!("cannot write {}", library.display()))
}
