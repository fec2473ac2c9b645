//! The secrets that session tokens are sealed with.

use std::fs;
use std::path::Path;

use config::{Error, Source, Spanned};

use crate::session::token::Key;
use crate::settings::file::Session;

/// Shorter ones can be guessed offline from a single token.
const SHORTEST: usize = 16;

/// The keys given, the sealing one first; none when no secret was given.
pub(super) fn keys(source: &Source, directory: &Path, session: &Session) -> Result<Vec<Key>, Error> {
    let site = session.site.as_deref().unwrap_or_default();
    let reader = Reader { source, directory, site };
    let current = reader.key(session.secret.as_ref(), session.secret_file.as_ref())?;
    let previous = reader.key(session.previous_secret.as_ref(), session.previous_secret_file.as_ref())?;
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
    site: &'a str,
}

impl Reader<'_> {
    fn key(
        &self,
        text: Option<&Spanned<String>>,
        file: Option<&Spanned<String>>,
    ) -> Result<Option<Key>, Error> {
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
        if secret.len() < SHORTEST {
            let what = format!("a secret of {} bytes is too short", secret.len());
            let mend = format!("at least {SHORTEST} are needed; \"openssl rand -base64 32\" makes one");
            return Err(self.source.error(place.span(), what).mend(mend));
        }
        Ok(Some(Key::new(secret, self.site)))
    }

    fn read(&self, file: &Spanned<String>) -> Result<Vec<u8>, Error> {
        let path = self.directory.join(file.get_ref());
        fs::read(&path).map_err(|why| {
            self.source
                .error(file.span(), format!("cannot read {}: {why}", path.display()))
                .mend("\"openssl rand -base64 32\" makes one; only the gate's user should be able to read it")
        })
    }
}
