//! `[admin]`: where the admin interface listens, and to whom it answers.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use config::{Error, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::text::{TextOr, Texts};
use crate::settings::token::Token;

/// The table as people write it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    /// An address and a port.
    pub(super) listen: Option<Spanned<String>>,
    /// A Unix socket besides.
    pub(super) socket: Option<Spanned<String>>,
    /// Lines of a name, a token and perhaps `read-only`.
    pub(super) token_file: Option<Spanned<String>>,
    /// Names that it may be called by, besides addresses and localhost.
    pub(super) hosts: Option<Texts>,
}

/// To whom the admin interface answers.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    /// A Unix socket on which it listens too; file permissions say who may connect.
    pub socket: Option<PathBuf>,
    /// A client that shows one of these may do what it is for; without any, each client may do all.
    pub tokens: Vec<Token>,
    /// Names that it may be called by, besides addresses and localhost; in lower case.
    pub hosts: Vec<String>,
}

impl Admission {
    /// Whether the interface may listen there: everybody who can connect would be obeyed.
    pub fn allows(&self, listen: SocketAddr) -> bool {
        listen.ip().to_canonical().is_loopback() || !self.tokens.is_empty()
    }
}

impl Admission {
    pub(super) fn describe(&self, listen: SocketAddr) -> String {
        let tokens = match self.tokens.len() {
            0 => "no token".to_owned(),
            1 => "1 token".to_owned(),
            tokens => format!("{tokens} tokens"),
        };
        let socket = self.socket.as_ref().map_or_else(String::new, |path| format!(" and {}", path.display()));
        let names = match self.hosts.as_slice() {
            [] => String::new(),
            hosts => format!(", also as {}", hosts.join(" ")),
        };
        format!("{listen}{socket}, {tokens}{names}")
    }
}

/// Where it listens, and the place in the file that says so.
type Listen<'f> = Option<(&'f Spanned<String>, SocketAddr)>;

/// What `admin` says: where, and the rest.
pub(super) fn resolve<'f>(
    source: &Source,
    directory: &Path,
    file: &'f TextOr<File>,
) -> Result<(Listen<'f>, Admission), Error> {
    let (place, table) = match file {
        TextOr::Text(place) => (Some(place), None),
        TextOr::Other(table) => (table.listen.as_ref(), Some(table)),
    };
    let listen =
        place.map(|place| Ok((place, crate::settings::words::address(source, place)?))).transpose()?;
    let mut admission = Admission::default();
    if let Some(table) = table {
        admission.socket = table.socket.as_ref().map(|path| directory.join(path.get_ref()));
        if let Some(file) = &table.token_file {
            admission.tokens = tokens(source, directory, file)?;
        }
        if let Some(hosts) = &table.hosts {
            admission.hosts =
                hosts.0.iter().map(|host| self::host(source, host)).collect::<Result<_, _>>()?;
        }
    }
    if let Some((place, listen)) = listen
        && !admission.allows(listen)
    {
        return Err(source
            .error(place.span(), format!("admin on {listen} would obey everybody who can reach it"))
            .mend("add token-file to [admin], or listen on 127.0.0.1 or a socket"));
    }
    Ok((listen, admission))
}

fn host(source: &Source, host: &Spanned<String>) -> Result<String, Error> {
    let name = host.get_ref();
    if name.is_empty() || name.contains(['/', ':', '*', ' ']) {
        return Err(source
            .error(host.span(), format!("\"{name}\" is not a host name"))
            .mend("without scheme and port, for example \"gate.example.com\""));
    }
    Ok(name.to_ascii_lowercase())
}

/// Lines of a name, a token and perhaps `read-only`.
fn tokens(source: &Source, directory: &Path, file: &Spanned<String>) -> Result<Vec<Token>, Error> {
    let path = directory.join(file.get_ref());
    let wrong = |what: String| source.error(file.span(), format!("{}{what}", path.display()));
    let text = fs::read_to_string(&path)
        .map_err(|why| source.error(file.span(), format!("cannot read {}: {why}", path.display())))?;
    let mut tokens: Vec<Token> = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line.trim())) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (name, secret, read_only) = match words[..] {
            [name, secret] => (name, secret, false),
            [name, secret, "read-only"] => (name, secret, true),
            _ => {
                return Err(wrong(format!(":{number}: this is not a token"))
                    .mend("write a name, the token and, if it may only read, read-only: \"ops 5K8...\""));
            }
        };
        if !crate::settings::words::is_token(name) || tokens.iter().any(|token| token.name() == name) {
            return Err(wrong(format!(":{number}: \"{name}\" cannot name this token"))
                .mend("use letters, digits, - and _, and each name once"));
        }
        let token = Token::new(name, secret.as_bytes(), read_only).ok_or_else(|| {
            wrong(format!(":{number}: the token of {name} is too short")).mend(format!(
                "at least {} characters are needed; \"openssl rand -hex 32\" makes one",
                Token::MIN_LENGTH
            ))
        })?;
        tokens.push(token);
    }
    if tokens.is_empty() {
        return Err(wrong(": it has no token".to_owned())
            .mend("write a line of a name and a token, such as \"ops 5K8...\""));
    }
    Ok(tokens)
}
