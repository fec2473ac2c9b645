//! [`Content`]: the files of a directory.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use rustix::fs::{FileType, Mode as Permissions, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;

use crate::body::Body;
use crate::error::Error;
use crate::limits::MAX_CONTENT;
use crate::media_type;
use crate::options::Mode;

/// The files of a directory, by their path in it. Symbolic links are not followed: nothing outside
/// is ever served, whatever is in the directory.
#[derive(Debug)]
pub(crate) enum Content {
    /// Read at the start: for a server that never waits for a disk.
    Memory(HashMap<Vec<u8>, Bytes>),
    /// Opened for each request, as process-based servers do.
    Disk(OwnedFd),
}

/// A file that was asked for.
#[derive(Debug)]
pub(crate) struct ContentFile {
    pub(crate) body: Body,
    pub(crate) media_type: &'static str,
}

impl Content {
    pub(crate) fn open(directory: &Path, mode: Mode) -> Result<Self, Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(directory, flags, Permissions::empty()).map_err(in_vain(directory))?;
        match mode {
            Mode::Workers => Ok(Self::Disk(root)),
            Mode::Static => read_all(directory, &root).map(Self::Memory),
        }
    }

    /// The file that `path` names, with its escapes; `None` when the server has no such file.
    pub(crate) fn find(&self, path: &str) -> io::Result<Option<ContentFile>> {
        let Some(name) = name(path) else { return Ok(None) };
        let body = match self {
            Self::Memory(files) => files.get(&name).cloned().map(Body::Memory),
            Self::Disk(root) => open_file(root, &name)?.map(|(file, length)| Body::file(file, length)),
        };
        Ok(body.map(|body| ContentFile { body, media_type: media_type::of(&name) }))
    }
}

/// The name of a file in the directory. A path that goes up, or says nothing in one of its parts,
/// names none; one that ends in a slash means the page of that directory.
fn name(path: &str) -> Option<Vec<u8>> {
    let mut name: Vec<u8> = percent_decode_str(path.strip_prefix('/')?).collect();
    if name.is_empty() || name.ends_with(b"/") {
        name.extend_from_slice(b"index.html");
    }
    let mut parts = name.split(|&byte| byte == b'/');
    let plain = parts.all(|part| !matches!(part, b"" | b"." | b"..")) && !name.contains(&0);
    plain.then_some(name)
}

/// Opens a regular file and gives its length. The kernel sees to it that no link and no change
/// made meanwhile leads out of the directory.
fn open_file(root: &OwnedFd, name: &[u8]) -> io::Result<Option<(OwnedFd, u64)>> {
    // A pipe would hold open(2) until a process writes to it.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let file = match openat2(root, name, flags, Permissions::empty(), resolve) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::NAMETOOLONG | Errno::NXIO) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let stat = fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    Ok(Some((file, stat.st_size.unsigned_abs())))
}

fn read_all(directory: &Path, root: &OwnedFd) -> Result<HashMap<Vec<u8>, Bytes>, Error> {
    let mut files = HashMap::new();
    let mut room = MAX_CONTENT;
    let mut unvisited = vec![PathBuf::new()];
    while let Some(inner) = unvisited.pop() {
        let place = directory.join(&inner);
        for entry in fs::read_dir(&place).map_err(in_vain(&place))? {
            let entry = entry.map_err(in_vain(&place))?;
            let name = inner.join(entry.file_name());
            if entry.file_type().map_err(in_vain(&entry.path()))?.is_dir() {
                unvisited.push(name);
                continue;
            }
            let name = name.as_os_str().as_bytes();
            let Some((file, length)) = open_file(root, name).map_err(in_vain(&entry.path()))? else {
                continue;
            };
            room = room
                .checked_sub(length)
                .ok_or_else(|| Error::TooMuchContent { path: directory.to_owned() })?;
            let mut bytes = Vec::new();
            // No more than was counted, should the file grow meanwhile.
            File::from(file).take(length).read_to_end(&mut bytes).map_err(in_vain(&entry.path()))?;
            files.insert(name.to_vec(), bytes.into());
        }
    }
    Ok(files)
}

fn in_vain<E: Into<io::Error>>(path: &Path) -> impl FnOnce(E) -> Error {
    move |source| Error::Content { path: path.to_owned(), source: source.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        for (path, expected) in [
            ("/a", Some("a")),
            ("/a%20b/c%2Fd", Some("a b/c/d")),
            ("/", Some("index.html")),
            ("/a/", Some("a/index.html")),
            ("/100%", Some("100%")),
            ("/..", None),
            ("/a/../b", None),
            ("/%2e%2E/etc/passwd", None),
            ("/a/%2e%2e%2fb", None),
            ("/./a", None),
            ("//etc/passwd", None),
            ("/a%00b", None),
            ("a", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(name(path).as_deref(), expected.map(str::as_bytes), "{path}");
        }
    }
}
