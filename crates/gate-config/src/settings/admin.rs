//! `[admin]`: where the admin interface listens, and to whom it answers.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use config::{Error, Place, Source, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::listener::NamedFile;
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
#[derive(Debug, Clone)]
pub struct Admission {
    /// Where its address is said.
    pub written: Place,
    /// A Unix socket on which it listens too; file permissions say who may connect.
    pub socket: Option<NamedFile>,
    /// A client that shows one of these may do what it is for; without any, each client may do all.
    pub tokens: Vec<Token>,
    /// Names that it may be called by, besides addresses and localhost; in lower case.
    pub hosts: Vec<String>,
}

impl Default for Admission {
    fn default() -> Self {
        let written = Place::outside("--admin");
        Self { written, socket: None, tokens: Vec::new(), hosts: Vec::new() }
    }
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
        let socket =
            self.socket.as_ref().map_or_else(String::new, |file| format!(" and {}", file.path.display()));
        let names = match self.hosts.as_slice() {
            [] => String::new(),
            hosts => format!(", also as {}", hosts.join(" ")),
        };
        format!("{listen}{socket}, {tokens}{names}")
    }
}

/// What `admin` says: where it listens, and the rest.
pub(super) fn resolve(
    source: &Source,
    directory: &Path,
    file: &TextOr<File>,
) -> Result<(Option<SocketAddr>, Admission), Error> {
    let (place, table) = match file {
        TextOr::Text(place) => (Some(place), None),
        TextOr::Other(table) => (table.listen.as_ref(), Some(table)),
    };
    let listen =
        place.map(|place| Ok((place, crate::settings::words::address(source, place)?))).transpose()?;
    let mut admission = Admission::default();
    if let Some(table) = table {
        admission.socket = table
            .socket
            .as_ref()
            .map(|path| NamedFile { path: directory.join(path.get_ref()), place: source.place(path.span()) });
        if let Some(file) = &table.token_file {
            admission.tokens = tokens(source, directory, file)?;
        }
        if let Some(hosts) = &table.hosts {
            admission.hosts =
                hosts.0.iter().map(|host| self::host(source, host)).collect::<Result<_, _>>()?;
        }
    }
    let Some((place, listen)) = listen else { return Ok((None, admission)) };
    admission.written = source.place(place.span());
    if !admission.allows(listen) {
        return Err(source
            .error(place.span(), format!("admin on {listen} would obey everybody who can reach it"))
            .mend("add token-file to [admin], or listen on 127.0.0.1 or a socket"));
    }
    Ok((Some(listen), admission))
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
