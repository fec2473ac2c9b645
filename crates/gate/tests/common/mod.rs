//! A gate in this process, and servers behind it that do what a test says.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

pub(crate) mod console;
pub(crate) mod tls;

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

use testkit::{Hostile, PATIENCE, Raw, Response, poll_until};
use tokio::sync::oneshot;

/// A running gate; stopped and drained when dropped.
pub(crate) struct Gate {
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    /// What clients connect to, of each listener.
    pub(crate) urls: Vec<String>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Cookie `tier=premium` makes a session premium.
pub(crate) const CLASSES: &str = r#"
[[class]]
name = "premium"
[[class]]
name = "basic"
[[rule]]
class = "premium"
cookie = "tier=premium"
"#;

impl Gate {
    /// A gate with the classes above; `more` is TOML: keys first, then tables.
    #[track_caller]
    pub(crate) fn start(upstream: SocketAddr, more: &str) -> Self {
        Self::waiting(upstream, "20s", more)
    }

    /// A gate that waits only so long for the upstream.
    #[track_caller]
    pub(crate) fn waiting(upstream: SocketAddr, timeout: &str, more: &str) -> Self {
        Self::before(&format!("address = '{upstream}', timeout = '{timeout}'"), more)
    }

    /// The same in front of what `upstream` says, which goes into an inline table.
    #[track_caller]
    pub(crate) fn before(upstream: &str, more: &str) -> Self {
        let text = format!(
            "listen = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\nupstream = {{ {upstream} }}\n{more}\n{CLASSES}"
        );
        Self::run(&text, Path::new("."))
    }

    /// A gate whose files are in `directory`; `admin` is the table of that name.
    #[track_caller]
    pub(crate) fn administered(upstream: SocketAddr, directory: &Path, admin: &str) -> Self {
        let text = format!("listen = '127.0.0.1:0'\nupstream = '{upstream}'\n{admin}\n{CLASSES}");
        Self::run(&text, directory)
    }

    /// A gate with this configuration.
    #[track_caller]
    pub(crate) fn run(text: &str, directory: &Path) -> Self {
        let (source, directory) = (config::Source::new("gate.toml", text), directory.to_owned());
        let settings =
            gate::Settings::from_source(&source, &directory).unwrap_or_else(|error| panic!("{error}"));
        let again =
            move || gate::Settings::from_source(&source, &directory).map_err(|error| error.to_string());
        let bound = gate::Bound::new(settings).unwrap().reading_again(again);
        let bound = bound.showing(console::console()).foreseeing(console::foresight());
        let (address, admin, urls) = (bound.address(), bound.admin_address(), bound.urls());
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            bound.run(async { stopped.await.unwrap_or_default() }).unwrap();
        });
        Self { address, admin, urls, stop: Some(stop), thread: Some(thread) }
    }

    /// Asks the admin interface.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Response {
        let length = body.len();
        Raw::connect(self.admin)
            .send(format!(
                "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
            ))
            .response()
    }

    /// A new connection to the gate.
    #[track_caller]
    pub(crate) fn connect(&self) -> Raw {
        Raw::connect(self.address)
    }

    /// Where the first listener with TLS stands.
    #[track_caller]
    pub(crate) fn secure(&self) -> SocketAddr {
        self.urls.iter().find_map(|url| url.strip_prefix("https://")).unwrap().parse().unwrap()
    }

    /// A new connection to the admin interface.
    #[track_caller]
    pub(crate) fn connect_admin(&self) -> Raw {
        Raw::connect(self.admin)
    }

    /// One request over a connection of its own; `headers` are lines with their ends.
    #[track_caller]
    pub(crate) fn get(&self, path: &str, headers: &str) -> Response {
        self.connect().send(request(path, headers)).response()
    }

    /// What the admin interface says about the state.
    #[track_caller]
    pub(crate) fn state(&self) -> serde_json::Value {
        let mut admin = Raw::connect(self.admin);
        serde_json::from_slice(&admin.get("/api/v1/state").response().body).unwrap()
    }

    /// Waits until something holds of the state.
    #[track_caller]
    pub(crate) fn wait_for(
        &self,
        what: &str,
        holds: impl Fn(&serde_json::Value) -> bool,
    ) -> serde_json::Value {
        poll_until(PATIENCE, what, || Some(self.state()).filter(|state| holds(state)))
    }

    /// Waits until so many requests stand in the class queues.
    #[track_caller]
    pub(crate) fn wait_for_queue(&self, length: u64) {
        self.wait_for(&format!("a queue of {length}"), |state| state["queues"]["class"] == length);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(()))) || std::thread::panicking(), "the gate panicked");
    }
}

/// A request as bytes.
pub(crate) fn request(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: test\r\n{headers}\r\n")
}

/// The session cookie that a response sets, as a header line to send it back.
#[track_caller]
pub(crate) fn session(response: &Response) -> String {
    let cookie = response.header("set-cookie").unwrap_or_else(|| panic!("no cookie in {}", response.head));
    format!("Cookie: {}\r\n", cookie.split(';').next().unwrap())
}

/// A server that answers each request when it is told to, and says in which order they came.
pub(crate) struct Held {
    server: Hostile,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    seen: VecDeque<String>,
    released: usize,
}

impl Held {
    pub(crate) fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let server = Hostile::start({
            let shared = Arc::clone(&shared);
            move |stream, _| while shared.answer(stream).is_some() {}
        });
        Self { server, shared }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The path of the next request that came.
    #[track_caller]
    pub(crate) fn next(&self) -> String {
        poll_until(PATIENCE, "a request at the server", || self.shared.state.lock().unwrap().seen.pop_front())
    }

    /// Requests that came and were not looked at.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.state.lock().unwrap().seen.len()
    }

    /// Answers one more request.
    pub(crate) fn release(&self) {
        self.shared.state.lock().unwrap().released += 1;
        self.shared.changed.notify_all();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap().released = usize::MAX / 2;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn answer(&self, stream: &TcpStream) -> Option<()> {
        let head = read_head(stream)?;
        let path = head.split(' ').nth(1)?.to_owned();
        let mut state = self.state.lock().unwrap();
        state.seen.push_back(path.clone());
        let mut state = self.changed.wait_while(state, |state| state.released == 0).unwrap();
        state.released -= 1;
        drop(state);
        answer(stream, "", &path)
    }
}

/// Reads one request head; `None` when the connection ends before.
pub(crate) fn read_head(mut stream: &TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// Writes a 200 with `headers` (lines with their ends) and a body.
pub(crate) fn answer(mut stream: &TcpStream, headers: &str, body: &str) -> Option<()> {
    let length = body.len();
    stream
        .write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n{headers}\r\n{body}").as_bytes())
        .ok()
}

/// A server that answers with the head of the request it got, and `headers`.
pub(crate) fn echo(headers: &'static str) -> Hostile {
    Hostile::start(move |stream, _| {
        while let Some(head) = read_head(stream) {
            if answer(stream, headers, &head).is_none() {
                break;
            }
        }
    })
}

/// The reference server on a port of its own.
pub(crate) struct Origin(origin::Server);

pub(crate) fn origin() -> Origin {
    started(origin::Options::new(origin::Mode::Workers))
}

/// The same with so many workers, each of them tied to a connection until it ends.
pub(crate) fn origin_with(workers: usize) -> Origin {
    let mut options = origin::Options::new(origin::Mode::Workers);
    options.workers = workers.try_into().unwrap();
    started(options)
}

fn started(mut options: origin::Options) -> Origin {
    options.listen = "127.0.0.1:0".parse().unwrap();
    Origin(origin::Server::start(&options).unwrap())
}

impl Origin {
    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address().tcp().unwrap()
    }
}
