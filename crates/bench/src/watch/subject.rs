//! [`Subject`]: what is watched.

use serde::Serialize;

use crate::servers::server::Server;
use crate::servers::site::Content;

/// The file that is asked for, in bytes.
pub(super) const SIZE: usize = 1024;

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Subject {
    /// Apache with a process for each connection.
    Apache,
    /// nginx with one process.
    Nginx,
    /// The same over TLS.
    NginxTls,
}

impl Subject {
    pub(super) const ALL: [Self; 3] = [Self::Apache, Self::Nginx, Self::NginxTls];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Apache => "apache2",
            Self::Nginx => "nginx",
            Self::NginxTls => "nginx over TLS",
        }
    }

    /// Where the server has the file.
    pub(super) fn url(self, server: &Server) -> String {
        let url = server.url(SIZE);
        if self == Self::NginxTls { url.replacen("http:", "https:", 1) } else { url }
    }

    pub(super) fn content(self) -> Content<'static> {
        match self {
            Self::Apache => Content::Apache,
            Self::Nginx => Content::Nginx,
            Self::NginxTls => Content::NginxTls,
        }
    }
}
