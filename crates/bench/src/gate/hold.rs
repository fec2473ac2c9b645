//! `bench hold`: opens connections and keeps them idle, as a program of its own inside of the
//! network that is measured.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use http1::fields::room;
use http1::response::{Head, Strictness};
use testbed::{Process, Stop};

use crate::servers::server::Server;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// What is needed for a request, a proxy may keep for a while in case another one comes.
const SETTLED: Duration = Duration::from_secs(7);
/// For all connections together: a proxy that takes them one by one, each just in time, is not idle.
const MAX_OPENING: Duration = Duration::from_secs(60);
/// Header lines of a response.
const MAX_LINES: usize = 100;
const READY: &str = "ready";

/// Opens connections, sends a request over each, says after a while that they are idle, and keeps them
/// until it is ended.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    address: SocketAddr,
    connections: u32,
    /// Length of the response's body.
    size: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (mut held, began) = (Vec::new(), Instant::now());
    for number in 0..args.connections {
        if began.elapsed() > MAX_OPENING {
            bail!("{number} of {} connections in {} s", args.connections, MAX_OPENING.as_secs());
        }
        held.push(open(args).with_context(|| format!("connection {number}"))?);
    }
    std::thread::sleep(SETTLED);
    println!("{READY}");
    std::io::stdout().flush()?;
    loop {
        std::thread::park();
    }
}

/// A connection that is idle after a response: most idle connections of a proxy are.
fn open(args: &Args) -> anyhow::Result<TcpStream> {
    let mut socket = TcpStream::connect_timeout(&args.address, CONNECT_TIMEOUT)?;
    socket.set_read_timeout(Some(CONNECT_TIMEOUT))?;
    // In one piece: what follows a small one waits until that has been acknowledged (RFC 896).
    let request = format!("GET /{} HTTP/1.1\r\nHost: {}\r\n\r\n", args.size, args.address);
    socket.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = socket.read(&mut piece)?;
        if read == 0 {
            bail!("closed after {} bytes", answer.len());
        }
        answer.extend_from_slice(&piece[..read]);
        let mut room = room::<MAX_LINES>();
        let Some(head) = Head::parse(&answer, &mut room, Strictness::Lenient)? else { continue };
        if head.status != 200 {
            bail!("{}", String::from_utf8_lossy(&answer[..head.length]));
        }
        if answer.len() >= head.length + args.size {
            return Ok(socket);
        }
    }
}

/// Connections held by another process; closed when this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    _process: Process,
}

impl Held {
    /// Opens connections to `proxy`; what the program that holds them has to say goes to the file `log`.
    pub(super) fn open(proxy: &Server, connections: u32, size: usize, log: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?.display().to_string();
        let mut command = proxy.client(&program);
        let address = format!("127.0.0.1:{}", proxy.port());
        command.args(["hold", &address, &connections.to_string(), &size.to_string()]);
        let process = Process::start("bench hold", command, log)?;
        // It has deadlines of its own: it ends, or says that it is ready.
        let mut process = process.ready_within(MAX_OPENING + SETTLED + 2 * CONNECT_TIMEOUT);
        process.wait_for_line(READY, &Stop::default())?;
        Ok(Self { _process: process })
    }
}
