//! [`Software`]: which server or proxy it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::program::program;
use crate::run::output;

/// A server or proxy of the distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Software {
    /// Apache httpd.
    Apache,
    /// HAProxy.
    Haproxy,
    /// nginx.
    Nginx,
    /// Node.js.
    Node,
}

impl Software {
    /// As errors and records have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apache => "apache",
            Self::Haproxy => "haproxy",
            Self::Nginx => "nginx",
            Self::Node => "node",
        }
    }

    const fn program(self) -> &'static str {
        match self {
            Self::Apache => "apache2",
            other => other.name(),
        }
    }

    /// The Debian package that has it.
    pub const fn package(self) -> &'static str {
        match self {
            Self::Apache => "apache2-bin",
            Self::Haproxy => "haproxy",
            Self::Nginx => "nginx-light",
            Self::Node => "nodejs",
        }
    }

    /// Where its executable file is; `packages` are named where it is not installed.
    ///
    /// # Errors
    /// Then.
    pub fn find(self, packages: &'static str) -> Result<PathBuf, Error> {
        program(self.program())
            .ok_or_else(|| Error::Missing { program: self.program().to_owned(), package: packages })
    }

    /// The first line of what the executable file `program` states as its version.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn version(self, program: &Path) -> Result<String, Error> {
        let option = if self == Self::Node { "--version" } else { "-v" };
        let (text, _) = output(self.name(), Command::new(program).arg(option))?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    }

    /// Arguments with which it stays in the foreground, with its own files in `root` and this
    /// configuration; of Node the program that it runs.
    pub fn arguments(self, root: &Path, file: &Path) -> Vec<OsString> {
        let (root, file) = (root.into(), file.into());
        match self {
            Self::Apache => vec!["-d".into(), root, "-f".into(), file, "-DFOREGROUND".into()],
            Self::Haproxy => vec!["-db".into(), "-f".into(), file],
            Self::Nginx => {
                vec!["-p".into(), root, "-c".into(), file, "-e".into(), "stderr".into()]
            }
            Self::Node => vec![file],
        }
    }

    /// What its configuration says of the user that it serves as. Started by root these serve as another
    /// one, which can have no files of root's.
    pub fn user(self) -> &'static str {
        match self {
            _ if !rustix::process::getuid().is_root() => "",
            Self::Apache => "User www-data\nGroup www-data\n",
            Self::Nginx => "user www-data;\n",
            Self::Haproxy | Self::Node => "",
        }
    }
}
