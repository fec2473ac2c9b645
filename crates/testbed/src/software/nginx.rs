//! [`Nginx`]: Debian's nginx, one process per event loop.

use std::path::Path;

/// An nginx, by what stands in each block of its configuration; every line ends.
#[derive(Debug, Clone, Copy)]
pub struct Nginx<'a> {
    /// Its event loops.
    pub workers: u32,
    /// The least severe messages that are logged, such as `warn`.
    pub log_level: &'a str,
    /// Directives outside of all blocks.
    pub main: &'a str,
    /// Directives of `events`.
    pub events: &'a str,
    /// Directives and servers of `http`.
    pub http: &'a str,
}

impl Nginx<'_> {
    /// The text of its configuration, with its own files in `root`.
    pub fn configuration(&self, root: &Path) -> String {
        let Self { workers, log_level, main, events, http } = self;
        let root = root.display();
        format!(
            r#"{main}daemon off;
pid {root}/server.pid;
error_log stderr {log_level};
worker_processes {workers};
events {{
{events}}}
http {{
  client_body_temp_path {root}/body;
  proxy_temp_path {root}/proxy;
  fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi;
  scgi_temp_path {root}/scgi;
{http}}}
"#
        )
    }
}
