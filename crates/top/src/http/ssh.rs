//! [`Tunnel`]: the user's own ssh, with all of its configuration, keys and known hosts.
//!
//! To an address it is `ssh -W`, whose standard input and output are the connection (ssh(1)). All of them share one
//! connection to the host (`ControlMaster`), so that a password is asked for once. To a Unix socket, where `-W` does not
//! lead, it is one `ssh -N -L SOCKET:REMOTE` that stays, and connections to that socket.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::wire::Wire;
use crate::place::{Far, Ssh};
use crate::text::clean;

/// Between two looks whether the socket is there.
const LOOK: Duration = Duration::from_millis(50);
/// Of what ssh says, so much is kept.
const MAX_SAID: u64 = 4096;

/// What leads to a host, and there to an address or a Unix socket.
#[derive(Debug)]
pub(super) struct Tunnel {
    ssh: Ssh,
    quiet: AtomicBool,
    /// They end with the tunnel, not with the stream that they carry: one may carry the others' streams.
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    children: Vec<Child>,
    directory: Option<TempDir>,
}

impl Tunnel {
    pub(super) fn new(ssh: Ssh) -> Self {
        Self { ssh, quiet: AtomicBool::new(false), running: Mutex::default() }
    }

    pub(super) fn be_quiet(&self) {
        self.quiet.store(true, Ordering::Relaxed);
    }

    pub(super) async fn connect(&self) -> io::Result<Box<dyn Wire>> {
        match &self.ssh.admin {
            Far::Tcp(address) => {
                let control = self.directory()?.join("control");
                let mut command = self.command();
                command
                    .args(["-o", "ControlMaster=auto", "-o"])
                    .arg(format!("ControlPath={}", control.display()));
                command.args(["-W", &address.to_string()]);
                Ok(Box::new(self.start(command)?))
            }
            Far::Unix(path) => Ok(Box::new(self.through_socket(path).await?)),
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A directory that only this user can look into.
    fn directory(&self) -> io::Result<PathBuf> {
        let mut running = self.running();
        if running.directory.is_none() {
            running.directory = Some(tempfile::Builder::new().prefix("headworks-").tempdir()?);
        }
        Ok(running.directory.as_ref().map(|directory| directory.path().to_owned()).unwrap_or_default())
    }

    fn command(&self) -> Command {
        let mut command = Command::new("ssh");
        command.args(["-T", "-o", "ConnectTimeout=10"]);
        if self.quiet.load(Ordering::Relaxed) {
            command.args(["-o", "BatchMode=yes"]);
        }
        command
    }

    /// Starts ssh to the host; its standard input and output are the stream.
    fn start(&self, mut command: Command) -> io::Result<Piped> {
        if let Some(port) = self.ssh.port {
            command.args(["-p", &port.to_string()]);
        }
        command.args(["--", &self.ssh.destination]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|why| io::Error::new(why.kind(), format!("ssh: {why}")))?;
        let (Some(input), Some(output), Some(said)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("ssh has no standard input and output"));
        };
        let mut running = self.running();
        running.children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        running.children.push(child);
        Ok(Piped { input, output, said: tokio::spawn(last_line(said)), settled: false })
    }

    /// Connects to a local socket that ssh leads to the far one.
    async fn through_socket(&self, remote: &str) -> io::Result<UnixStream> {
        let local = self.directory()?.join("gate");
        if let Ok(stream) = UnixStream::connect(&local).await {
            return Ok(stream);
        }
        self.running().children.clear();
        let mut command = self.command();
        command.args(["-N", "-o", "ExitOnForwardFailure=yes", "-o", "StreamLocalBindUnlink=yes", "-L"]);
        command.arg(format!("{}:{remote}", local.display()));
        let mut piped = self.start(command)?;
        loop {
            tokio::select! {
                // It says nothing on standard output, so this is its end.
                read = piped.read_u8() => return Err(read.err().unwrap_or_else(|| io::Error::other("ssh ended"))),
                () = tokio::time::sleep(LOOK) => {}
            }
            if let Ok(stream) = UnixStream::connect(&local).await {
                // What it says, and its input, are kept open as long as it runs.
                tokio::spawn(async move { while let Ok(1..) = piped.read(&mut [0; 64]).await {} });
                return Ok(stream);
            }
        }
    }
}

/// Why ssh ended is in the last line that it says.
async fn last_line(said: ChildStderr) -> String {
    let mut text = Vec::new();
    let (mut said, mut rest) = (said.take(MAX_SAID), [0; 1024]);
    let _ = said.read_to_end(&mut text).await;
    // What it says later is not kept, and does not hold it up.
    let mut said = said.into_inner();
    while let Ok(1..) = said.read(&mut rest).await {}
    let text = String::from_utf8_lossy(&text);
    clean(text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default())
}

/// Standard input and output of ssh as one stream.
#[derive(Debug)]
struct Piped {
    input: ChildStdin,
    output: ChildStdout,
    said: JoinHandle<String>,
    /// Whether the other side has said something, or it is told why not.
    settled: bool,
}

impl AsyncRead for Piped {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.output).poll_read(cx, buffer))?;
        self.settled |= buffer.filled().len() > before;
        if self.settled {
            return Poll::Ready(Ok(()));
        }
        self.poll_why(cx).map(Err)
    }
}

impl Piped {
    /// Why ssh has ended before the other side said anything.
    fn poll_why(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let said = ready!(Pin::new(&mut self.said).poll(cx)).unwrap_or_default();
        self.settled = true;
        let why =
            if said.is_empty() { "ssh ended and did not say why".to_owned() } else { format!("ssh: {said}") };
        Poll::Ready(io::Error::other(why))
    }
}

impl AsyncWrite for Piped {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.input).poll_write(cx, bytes));
        match written {
            // It may end before a request is written as well as after.
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe && !self.settled => {
                self.poll_why(cx).map(Err)
            }
            written => Poll::Ready(written),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.input).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.input).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;
    use crate::place::Place;

    #[tokio::test]
    async fn why_ssh_has_ended_is_said_to_who_writes_too() {
        let Ok(Place::Ssh(ssh)) = "ssh://shop".parse() else { panic!("a place") };
        let tunnel = Tunnel::new(ssh);
        let mut command = Command::new("sh");
        command.args(["-c", "exec <&-; echo refused >&2"]);
        let mut piped = tunnel.start(command).unwrap();
        // The pipe is full, or broken, at some time.
        let why = loop {
            if let Err(why) = piped.write_all(&[0; 4096]).await {
                break why;
            }
        };
        assert_eq!(why.to_string(), "ssh: refused");
    }
}
