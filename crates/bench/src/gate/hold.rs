//! `bench hold`: opens connections and keeps them idle, as a program of its own inside of the
//! network that is measured.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::process;
use crate::testbed::Server;

const PATIENCE: Duration = Duration::from_secs(10);
/// What is needed for a request, a proxy may keep for a while in case another one comes.
const SETTLED: Duration = Duration::from_secs(7);
/// For all connections together: a proxy that takes them one by one, each just in time, is not idle.
const LONGEST: Duration = Duration::from_secs(60);
const READY: &str = "ready\n";

/// Opens connections, sends a request over each, says after a while that they are idle, and keeps them
/// until its standard input ends.
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
        if began.elapsed() > LONGEST {
            bail!("{number} of {} connections in {} s", args.connections, LONGEST.as_secs());
        }
        held.push(open(args).with_context(|| format!("connection {number}"))?);
    }
    std::thread::sleep(SETTLED);
    print!("{READY}");
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// A connection that is idle after a response: most idle connections of a proxy are.
fn open(args: &Args) -> anyhow::Result<TcpStream> {
    let mut socket = TcpStream::connect_timeout(&args.address, PATIENCE)?;
    socket.set_read_timeout(Some(PATIENCE))?;
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
        let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        if !answer.starts_with(b"HTTP/1.1 200 ") {
            bail!("{}", String::from_utf8_lossy(&answer[..end]));
        }
        if answer.len() >= end + 4 + args.size {
            return Ok(socket);
        }
    }
}

/// Connections held by another process; closed when this is dropped.
#[derive(Debug)]
pub(super) struct Held(Child);

impl Held {
    /// Opens connections to `proxy`.
    pub(super) fn open(proxy: &Server, connections: u32, size: usize) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?.display().to_string();
        let mut command = proxy.client(&program);
        let address = format!("127.0.0.1:{}", proxy.port());
        command.args(["hold", &address, &connections.to_string(), &size.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| format!("cannot start {}", process::show(&command)))?;
        let mut said = String::new();
        if let Some(stdout) = &mut child.stdout {
            // The holder has its own deadlines: it ends, or says that it is ready.
            let mut line = [0; READY.len()];
            let _ = stdout.read_exact(&mut line);
            said.push_str(&String::from_utf8_lossy(&line));
        }
        let mut held = Self(child);
        if said != READY {
            let mut why = String::new();
            if let Some(stderr) = &mut held.0.stderr {
                stderr.read_to_string(&mut why)?;
            }
            bail!("{}", why.trim());
        }
        Ok(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        if !matches!(process::ends_within(&self.0, PATIENCE), Ok(true)) {
            // It is ended with us in any case.
            let _ = self.0.kill();
        }
        let _ = self.0.wait();
    }
}
