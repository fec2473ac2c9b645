//! The static content of apache and nginx: what origin gives from memory, as files.

use std::fs;
use std::path::Path;

use traffic::Workload;

use crate::Error;

/// A file that every site has, to ask whether the server answers.
pub(crate) const PROBE: &str = "/bytes/0";

/// The directory of the content within a server's own.
pub(super) const DIRECTORY: &str = "site";

/// Writes a file of N bytes for each path `/bytes/N` of the workload.
pub(super) fn write(root: &Path, workload: &Workload) -> Result<(), Error> {
    let directory = root.join(DIRECTORY).join("bytes");
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
