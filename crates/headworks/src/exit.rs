//! Exit codes, as scripts rely on them.

use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;

/// The end of help texts.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0         ok
  1         failed
  2         wrong usage or configuration
  3         a stated objective was missed
  4         the result is not valid: the generator, not the server, set it
  130, 143  interrupted by SIGINT or SIGTERM; what was measured is written";

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0
    Ok,
    /// 3: an objective stated with `--objective` was missed, or something got worse.
    ObjectiveMissed,
    /// 4: the generator, not the server, set the figures.
    NotValid,
    /// 130 after SIGINT, 143 after SIGTERM; what was measured is written.
    Interrupted {
        /// The signal's number.
        signal: u8,
    },
    /// Whatever the server ended with that was run.
    Of {
        /// Its exit code, or 128 and the number of the signal that ended it.
        status: u8,
    },
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::ObjectiveMissed => 3,
            Exit::NotValid => 4,
            Exit::Interrupted { signal } => 128 + signal,
            Exit::Of { status } => status,
        })
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// 2: the command line or a configuration file is wrong.
    Usage(anyhow::Error),
    /// 1: everything else.
    Failed(anyhow::Error),
}

impl Failure {
    /// A failure of a tool, which knows whether the user can mend it.
    pub(crate) fn new(is_usage: bool, error: impl Into<anyhow::Error>) -> Self {
        if is_usage { Self::Usage(error.into()) } else { Self::Failed(error.into()) }
    }

    /// Says why on standard error and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        tell(&self);
        ExitCode::from(match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
        })
    }
}

/// A mistake in the command line.
pub(crate) fn usage(what: &str) -> Failure {
    Failure::Usage(anyhow::anyhow!("{what}"))
}

/// Says something on standard error; without a panic where the reader has left.
pub(crate) fn tell(what: impl fmt::Display) {
    let line = format!("headworks: {what}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(error) | Self::Failed(error)) = self;
        f.write_str(&with_causes(error))
    }
}

/// The message, and behind it those of its causes that it does not quote itself, as the
/// libraries' messages do.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

impl From<config::Error> for Failure {
    fn from(error: config::Error) -> Self {
        Self::Usage(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let bare = anyhow::anyhow!("no such file").context("cannot read a.toml");
        assert_eq!(with_causes(&bare), "cannot read a.toml: no such file");
        let quoted = anyhow::anyhow!("no such file").context("cannot read a.toml: no such file");
        assert_eq!(with_causes(&quoted), "cannot read a.toml: no such file");
    }
}
