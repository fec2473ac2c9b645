//! Any program that listens where it is told to.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use record::Timestamp;
use testbed::{Setup, is_program};

use super::content;
use crate::error::Error;
use crate::spec::server::{ADDRESS, BACKLOG, FILES, PORT, Server, WORKERS};

pub(super) struct Installed {
    program: PathBuf,
    pub(super) version: String,
}

impl Installed {
    /// As a shell in the lab's working directory would find it, and where Debian puts servers.
    pub(super) fn find(words: &[String]) -> Result<Self, Error> {
        let name = words.first().map_or("", |word| &**word);
        let program = if name.contains('/') {
            // A link stays one: what it is called by can be what it does.
            std::path::absolute(name).ok().filter(|place| is_program(place))
        } else {
            testbed::program(name)
        };
        let program = program.ok_or_else(|| Error::NoProgram(name.to_owned()))?;
        Ok(Self { version: version(words, &program), program })
    }

    pub(super) fn setup(self, server: &Server, words: &[String], root: &Path, listen: SocketAddrV4) -> Setup {
        let files = root.join(content::DIRECTORY).display().to_string();
        let filled = |word: &String| {
            word.replace(ADDRESS, &listen.ip().to_string())
                .replace(PORT, &listen.port().to_string())
                .replace(WORKERS, &server.workers.to_string())
                .replace(BACKLOG, &server.backlog.to_string())
                .replace(FILES, &files)
        };
        Setup {
            name: "server",
            program: self.program,
            arguments: words.iter().skip(1).map(|word| filled(word).into()).collect(),
            files: BTreeMap::new(),
            version: self.version,
        }
    }
}

/// The words, and when the last of the files among them was changed: what was built anew is another server.
fn version(words: &[String], program: &Path) -> String {
    let files = words.iter().skip(1).map(Path::new).chain([program]);
    let changed =
        files.filter_map(|file| file.metadata().ok().filter(Metadata::is_file)?.modified().ok()).max();
    let changed = changed.and_then(|time| Timestamp::try_from(time).ok());
    let changed = changed.map_or_else(String::new, |time| format!(" (of {time:.0})"));
    format!("{}{changed}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn what_was_built_anew_is_another_server() {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("server.py");
        fs::write(&script, "").unwrap();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
        fs::File::options().append(true).open(&script).unwrap().set_modified(changed).unwrap();
        let script = script.display().to_string();
        let version =
            Installed::find(&["sh".to_owned(), script.clone(), "{port}".to_owned()]).unwrap().version;
        assert_eq!(version, format!("sh {script} {{port}} (of 2096-10-02T07:06:40Z)"));
    }

    #[test]
    fn a_link_stays_a_link_and_a_text_is_not_a_program() {
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("serve");
        std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
        let find = |path: &Path| Installed::find(&[path.display().to_string(), "{port}".to_owned()]);
        assert_eq!(find(&link).unwrap().program, link);

        let text = place.path().join("notes");
        fs::write(&text, "").unwrap();
        fs::set_permissions(&text, Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(find(&text), Err(Error::NoProgram(_))));
        assert!(matches!(find(place.path()), Err(Error::NoProgram(_))), "a directory");
        assert!(matches!(Installed::find(&["no-such-server".to_owned()]), Err(Error::NoProgram(_))));
        assert!(Installed::find(&["sh".to_owned()]).unwrap().program.is_absolute());
    }
}
