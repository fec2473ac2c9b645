//! The web servers of the distribution, for tests that a mock would not convince: each in a
//! directory of its own, on free ports, with an access log that is complete when it has stopped.

mod apache;
mod daemon;
mod log;
mod nginx;

pub use apache::{Apache, Processing};
pub use log::LogLine;
pub use nginx::Nginx;

/// How often a server is started anew because another program took its port first.
const ATTEMPTS: usize = 3;

/// Where Debian keeps servers, besides the search path.
const PLACES: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// The program, or the reason why the test is not run.
fn installed(program: &str, package: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(PLACES.map(Into::into));
    let found = places.map(|place| place.join(program)).find(|file| file.is_file());
    if found.is_none() {
        let reason = format!("{program} is not installed; install it with: apt-get install {package}");
        crate::skip(&reason);
    }
    found
}
