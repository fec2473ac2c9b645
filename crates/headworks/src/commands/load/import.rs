//! `headworks load import`: a workload file from a recording or a description.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use config::Source;
use traffic::import::{Format, ImportError, Options, import};

use crate::exit::{EXIT_CODES, Exit, Failure, tell};
use crate::output;

const HAR: &str = "HAR files";
const OPENAPI: &str = "OpenAPI descriptions";

const EXAMPLES: &str = "\
Examples:
  headworks load import visit.har --out shop.toml         from a recording
  headworks load import api.yaml --tag pets > pets.toml   from a description
  headworks load http://127.0.0.1:8080 --workload shop.toml --rate 10";

/// Writes a workload file from a HAR file (what a browser was recorded to ask for) or an OpenAPI description.
///
/// What was taken, left out and why goes to standard error.
#[derive(Debug, clap::Args)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct Args {
    /// A HAR file, or an OpenAPI description (3.0, 3.1 or Swagger 2.0) in JSON or YAML.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the file is: har or openapi (default: what its content says).
    #[arg(long, value_name = "KIND")]
    from: Option<Format>,

    /// The server whose requests are taken (default: that of the first document).
    #[arg(long, value_name = "HOST[:PORT]", help_heading = HAR)]
    host: Option<String>,
    /// Leave out pauses.
    #[arg(long, help_heading = HAR)]
    no_think: bool,
    /// Keep Authorization, Cookie and other credentials, which are left out otherwise.
    #[arg(long, help_heading = HAR)]
    secrets: bool,

    /// Operations with this tag only. Can be given several times.
    #[arg(long = "tag", value_name = "NAME", help_heading = OPENAPI)]
    tags: Vec<String>,
    /// Operations whose path begins so only; without the path of the server.
    #[arg(long, value_name = "PREFIX", help_heading = OPENAPI)]
    path: Option<String>,
    /// Take operations that change or delete what the session has not made, too.
    #[arg(long, help_heading = OPENAPI)]
    all: bool,

    /// Write the workload into this file instead of to standard output.
    #[arg(long, short, value_name = "FILE", help_heading = output::HEADING)]
    out: Option<PathBuf>,
    /// Write over the file of --out.
    #[arg(long, help_heading = output::HEADING, requires = "out")]
    force: bool,
    /// Say nothing about what was taken and left out.
    #[arg(long, short, help_heading = output::HEADING)]
    quiet: bool,
}

impl Args {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let options = Options {
            format: self.from,
            host: self.host,
            no_think: self.no_think,
            secrets: self.secrets,
            tags: self.tags,
            path: self.path,
            all: self.all,
        };
        let imported = import(&Source::read(&self.file)?, &options)
            .map_err(|error| Failure::new(!matches!(error, ImportError::Internal(_)), error))?;
        if !self.quiet {
            imported.notes.iter().for_each(tell);
        }
        match &self.out {
            Some(out) => write(out, &imported.text, self.force)?,
            None => output::print(imported.text)?,
        }
        Ok(Exit::Ok)
    }
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true);
    let options = if force { options.create(true).truncate(true) } else { options.create_new(true) };
    let name = path.display();
    let mut file = options.open(path).map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => {
            Failure::Usage(anyhow!("{name} is there already; --force writes over it"))
        }
        _ => Failure::Failed(anyhow!("cannot write {name}: {why}")),
    })?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {name}")).map_err(Failure::Failed)
}
