//! `headworks origin`: the reference web server.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use units::Span;

use crate::exit::{Exit, Failure};
use crate::output::print;
use crate::process::rename;
use crate::signals::{self, Signals};
use crate::values;

/// Serves reference content: pages that burn CPU from a set number of workers, or static content as fast as it goes.
///
/// Pages: /bytes/N gives N bytes from memory. /burn?cpu=25ms burns that much CPU time of a worker. /delay?before=50ms&bytes=10000&pieces=5&between=10ms waits 50 ms and sends 10000 bytes in 5 parts 10 ms apart. /healthz says whether it runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to listen: 127.0.0.1:8080, `[::1]:8080` or unix:/path; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: origin::Address,
    /// How connections are served.
    #[arg(long, default_value = "workers")]
    mode: Mode,
    /// Serve the files of this directory, such as `headworks load make-content` writes, before the pages.
    #[arg(long, value_name = "DIR")]
    content: Option<PathBuf>,
    /// Connections served at once (default 150); in static mode, threads (default: one per core).
    #[arg(long, value_name = "N", value_parser = values::count::<NonZeroUsize>(1..=100_000))]
    workers: Option<NonZeroUsize>,
    /// Connections that wait in the kernel for a worker (default 511).
    #[arg(long, value_name = "N")]
    backlog: Option<u16>,
    /// How long a connection may be idle between two requests (default 5s).
    #[arg(long, value_name = "SPAN")]
    keep_alive: Option<Span>,
    /// How long a request may take to arrive (default 20s).
    #[arg(long, value_name = "SPAN")]
    timeout: Option<Span>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Mode {
    /// One blocking thread per connection, out of a fixed number, as a process-based server has.
    Workers,
    /// An event loop per thread; all content is kept in memory.
    Static,
}

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let defaults = origin::Options::new(match self.mode {
            Mode::Workers => origin::Mode::Workers,
            Mode::Static => origin::Mode::Static,
        });
        let options = origin::Options {
            listen: self.listen,
            mode: defaults.mode,
            content: self.content,
            workers: self.workers.unwrap_or(defaults.workers),
            backlog: self.backlog.unwrap_or(defaults.backlog),
            keep_alive: self.keep_alive.unwrap_or(defaults.keep_alive),
            patience: self.timeout.unwrap_or(defaults.patience),
        };
        serve(&options).map_err(Failure::Failed)
    }
}

fn serve(options: &origin::Options) -> anyhow::Result<Exit> {
    rename(c"hw-origin");
    signals::runtime()?.block_on(async {
        // Before the server says that it listens: who reads that may send a signal at once.
        let mut signals = Signals::watch()?;
        let server = origin::Server::start(options).map_err(|error| match error {
            origin::Error::Listen { .. } => anyhow::anyhow!("{error}; choose another with --listen"),
            // Its text names its source already.
            error => anyhow::anyhow!("{error}"),
        })?;
        // The process that started it may have closed its output; it serves on.
        let _ = match server.address() {
            origin::Address::Tcp(address) => print(format_args!("listening on http://{address}\n")),
            unix @ origin::Address::Unix(_) => print(format_args!("listening on {unix}\n")),
        };
        let signal = signals.next().await;
        server.stop();
        Ok(Exit::Interrupted { signal })
    })
}
