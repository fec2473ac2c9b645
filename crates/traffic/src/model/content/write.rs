//! [`write()`]: from a model to files on the disk.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::model::{Model, Object};

use super::{Filler, Manifest, bytes_of};

/// What [`write()`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Files that the model has.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// How many of the files were there already, and right.
    pub kept: u64,
}

/// Why files could not be written. What was written before stays; a second try goes on there.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// There is something that Headworks did not write, or that is damaged.
    #[error("{} is there already, with other contents; remove it or choose another directory", path.display())]
    Other {
        /// Where.
        path: PathBuf,
    },
    /// A link could lead out of the directory.
    #[error("{} is neither a plain file nor a directory; remove it or choose another directory", path.display())]
    Special {
        /// Where.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    System {
        /// What was tried, as in "cannot write".
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Writes the files of `model` below `directory`, each where its URL says, and a [`Manifest`]
/// last. Files that are there already are read: right ones are kept, others are an error and are
/// not touched. A file appears under its name only when it is complete, so an interrupted call
/// can be made again. Takes a few KiB of memory, whatever the size of the files.
///
/// # Errors
/// The first thing that went wrong, and where. Symbolic links below `directory` are not followed.
pub fn write(directory: &Path, model: &Model) -> Result<Written, ContentError> {
    let mut written = Written::default();
    let mut folders = HashSet::new();
    for object in model.objects() {
        let path = place(directory, &object.url, &mut folders)?;
        if is_there(&path)? {
            compare(&path, object)?;
            written.kept += 1;
        } else {
            create(&path, &mut bytes_of(object))?;
        }
        written.files += 1;
        written.bytes += object.length;
    }
    let path = place(directory, &Manifest::url(model.name()), &mut folders)?;
    write_manifest(&path, &Manifest::of(model))?;
    Ok(written)
}

/// The path of a URL, with the folders on the way created, and seen to be real folders.
fn place(directory: &Path, url: &str, folders: &mut HashSet<PathBuf>) -> Result<PathBuf, ContentError> {
    let mut path = directory.to_path_buf();
    if folders.insert(path.clone()) {
        fs::create_dir_all(&path).map_err(failed("create", &path))?;
    }
    let (parents, name) = url.trim_start_matches('/').rsplit_once('/').unwrap_or(("", url));
    for parent in parents.split('/') {
        path.push(parent);
        if folders.insert(path.clone()) {
            match fs::create_dir(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    let found = fs::symlink_metadata(&path).map_err(failed("look at", &path))?;
                    if !found.is_dir() {
                        return Err(ContentError::Special { path });
                    }
                }
                done => done.map_err(failed("create", &path))?,
            }
        }
    }
    path.push(name);
    Ok(path)
}

/// Whether there is a plain file; anything else under its name is an error.
fn is_there(path: &Path) -> Result<bool, ContentError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(ContentError::Special { path: path.into() }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed("look at", path)(error)),
    }
}

fn compare(path: &Path, object: &Object) -> Result<(), ContentError> {
    let mut file = File::open(path).map_err(failed("open", path))?;
    let mut filler: Filler = bytes_of(object);
    let mut buffer = [0; 16 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) if filler.left() == 0 => return Ok(()),
            Ok(read) if read > 0 && filler.agrees(&buffer[..read]) => {}
            Ok(_) => return Err(ContentError::Other { path: path.into() }),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed("read", path)(error)),
        }
    }
}

/// Writes under another name first, which an interrupted call leaves behind and the next takes.
fn create(path: &Path, contents: &mut impl Read) -> Result<(), ContentError> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed("remove", &partial)(error)),
        _ => {}
    }
    let mut file = File::create_new(&partial).map_err(failed("create", &partial))?;
    io::copy(contents, &mut file).map_err(failed("write", &partial))?;
    fs::rename(&partial, path).map_err(failed("rename to", path))
}

/// Replaces a manifest: SPECweb96 for another load has the same files, more or fewer of them.
fn write_manifest(path: &Path, manifest: &Manifest) -> Result<(), ContentError> {
    if is_there(path)? {
        let found = fs::read(path).map_err(failed("read", path))?;
        if serde_json::from_slice::<Manifest>(&found).is_err() {
            return Err(ContentError::Other { path: path.into() });
        }
    }
    let mut text =
        serde_json::to_vec_pretty(manifest).map_err(io::Error::from).map_err(failed("write", path))?;
    text.push(b'\n');
    create(path, &mut text.as_slice())
}

fn failed<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> ContentError + 'a {
    move |source| ContentError::System { doing, path: path.into(), source }
}
