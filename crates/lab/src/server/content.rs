//! The static content of apache and nginx: what origin gives from memory, as files.

use std::fs;
use std::path::Path;

use traffic::Workload;
use traffic::model::{self, Model};

use crate::error::Error;
use crate::spec::workload::{Asked, What};

/// A file that every site has, to ask whether the server answers.
pub(crate) const PROBE: &str = "/bytes/0";

/// The directory of the content within a server's own.
pub(super) const DIRECTORY: &str = "site";

/// Writes a file of N bytes for each path `/bytes/N` of the workload, and those of a model.
pub(super) fn write(root: &Path, workload: &Workload, asked: &Asked) -> Result<(), Error> {
    let site = root.join(DIRECTORY);
    if let Some(What::Model(name)) = asked.what {
        let wrong = |why| Error::io("write", &site)(std::io::Error::other(why));
        model::content::write(&site, &Model::named(name, 0)).map_err(wrong)?;
    }
    bytes(&site, workload)?;
    if asked.is_from_disk() {
        rustix::fs::sync();
        forget(&site)?;
    }
    Ok(())
}

/// Has the kernel drop from memory what files below a directory hold that is on the disk.
pub(crate) fn forget(directory: &Path) -> Result<(), Error> {
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).map_err(Error::io("read", &directory))? {
            let path = entry.map_err(Error::io("read", &directory))?.path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let file = fs::File::open(&path).map_err(Error::io("open", &path))?;
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
                .map_err(|why| Error::io("drop from memory", &path)(why.into()))?;
        }
    }
    Ok(())
}

fn bytes(site: &Path, workload: &Workload) -> Result<(), Error> {
    let directory = site.join("bytes");
    fs::create_dir_all(&directory).map_err(Error::io("create", &directory))?;
    for length in lengths(workload).chain([0]) {
        let file = directory.join(length.to_string());
        fs::write(&file, vec![b'x'; length]).map_err(Error::io("write", &file))?;
    }
    Ok(())
}

fn lengths(workload: &Workload) -> impl Iterator<Item = usize> {
    let paths = workload.pages.iter().flat_map(|page| std::iter::once(&page.url).chain(&page.embedded));
    paths.filter_map(|path| path.split('?').next()?.strip_prefix("/bytes/")?.parse().ok())
}
