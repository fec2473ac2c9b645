//! The secrets that session tokens are sealed with.

use std::path::Path;
use std::{fmt, fs, io};

use config::{Error, Source, Spanned};

use crate::settings::file::Session;

/// Shorter secrets can be guessed offline from a single token.
const MIN_BYTES: usize = 16;

/// A secret that session tokens are sealed with.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<[u8]>);

impl Secret {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The secrets given, the sealing one first.
pub(super) fn secrets(source: &Source, directory: &Path, session: &Session) -> Result<Vec<Secret>, Error> {
    let reader = Reader { source, directory };
    let current = reader.secret(session.secret.as_ref(), session.secret_file.as_ref())?;
    let previous = reader.secret(session.previous_secret.as_ref(), session.previous_secret_file.as_ref())?;
    let alone = session.previous_secret.as_ref().or(session.previous_secret_file.as_ref());
    if let (None, Some(alone)) = (&current, alone) {
        return Err(source
            .error(alone.span(), "a previous secret is given, but no secret")
            .mend("add secret or secret-file"));
    }
    Ok([current, previous].into_iter().flatten().collect())
}

struct Reader<'a> {
    source: &'a Source,
    directory: &'a Path,
}

impl Reader<'_> {
    fn secret(
        &self,
        text: Option<&Spanned<String>>,
        file: Option<&Spanned<String>>,
    ) -> Result<Option<Secret>, Error> {
        let (place, secret) = match (text, file) {
            (None, None) => return Ok(None),
            (Some(text), None) => (text, text.get_ref().clone().into_bytes()),
            (None, Some(file)) => (file, self.read(file)?),
            (Some(_), Some(file)) => {
                return Err(self
                    .source
                    .error(file.span(), "the same secret is given twice")
                    .mend("give it in the configuration or in a file, not in both"));
            }
        };
        let secret = secret.trim_ascii();
        if secret.len() < MIN_BYTES {
            let what = format!("a secret of {} bytes is too short", secret.len());
            let mend = format!("at least {MIN_BYTES} are needed; \"openssl rand -base64 32\" makes one");
            return Err(self.source.error(place.span(), what).mend(mend));
        }
        Ok(Some(Secret(secret.into())))
    }

    fn read(&self, file: &Spanned<String>) -> Result<Vec<u8>, Error> {
        let path = self.directory.join(file.get_ref());
        fs::read(&path).map_err(|why| {
            let mend = match why.kind() {
                io::ErrorKind::NotFound => "\"openssl rand -base64 32\" makes one; only the gate's user should be able to read it",
                _ => "let the user that the gate runs as read it, and no other: chown it to that user, mode 0400",
            };
            self.source.error(file.span(), format!("cannot read {}: {why}", path.display())).mend(mend)
        })
    }
}
