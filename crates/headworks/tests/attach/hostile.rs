//! Something else than a gate at the gate's socket, something else than a server's process that comes there, and one that writes
//! nonsense into the memory that all share.

use std::fs;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept, bind, connect, listen,
    recvmsg, sendmsg, socket_with,
};
use testkit::{PATIENCE, poll_until};

use crate::properties::{Site, WAITED, all_slow};
use crate::servers::Server;

/// A message as both sides have it.
const LENGTH: usize = 36;

fn message(kind: u8, number: u16, slot: u32) -> [u8; LENGTH] {
    let ([a, b], [c, d, e, f]) = (number.to_ne_bytes(), slot.to_ne_bytes());
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&[kind, 0, a, b, c, d, e, f]);
    bytes
}

/// The version that a gate understands.
const VERSION: u16 = 5;

pub(crate) fn socket() -> OwnedFd {
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
}

fn connected(path: &Path) -> OwnedFd {
    let socket = socket();
    connect(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    socket
}

fn send(to: &OwnedFd, bytes: &[u8], beside: Option<BorrowedFd<'_>>) -> rustix::io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let beside: Vec<_> = beside.into_iter().collect();
    if !beside.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&beside));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(to, &[IoSlice::new(bytes)], &mut ancillary, flags)
}

/// A message, and what came beside it; an empty one when the other side has gone.
fn receive(from: &OwnedFd) -> (Vec<u8>, Vec<OwnedFd>) {
    let mut bytes = [0; 64];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(from, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, RecvFlags::empty());
    let Ok(received) = received else { return (Vec::new(), Vec::new()) };
    let mut beside = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            beside.extend(passed);
        }
    }
    (bytes[..received.bytes].to_vec(), beside)
}

fn is_in_order(site: &Site<'_>, gate: &crate::properties::Gate) {
    // Processes that were let go are attached again within a second or two.
    poll_until(PATIENCE, "all to be in order", || {
        let is_empty = gate.metric("headworks_gate_in_service") == 0.0;
        let (status, took) = site.once(Server::FAST, "");
        let holds = || all_slow(site) > 2.9 * Server::SLOW_FOR;
        (is_empty && status == 200 && took < WAITED && holds()).then_some(())
    });
    gate.is_empty();
}

#[test]
fn who_has_nothing_to_do_with_the_server_is_told_so() {
    let server = Server::nginx(1, "");
    let site = Site::of(&server);
    let gate = site.gate("window = 1");
    let _running = site.start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hello = message(b'H', VERSION, 0);
    // Another version.
    let process = connected(&site.socket());
    send(&process, &message(b'H', VERSION + 1, 0), Some(listener.as_fd())).unwrap();
    assert_eq!(receive(&process).0, message(b'N', 0, 0));
    // No listener: a connection, a file, nothing at all.
    let connection = std::net::TcpStream::connect(server.address).unwrap();
    let file = fs::File::open("/dev/null").unwrap();
    for beside in [connection.as_fd(), file.as_fd()] {
        let process = connected(&site.socket());
        send(&process, &hello, Some(beside)).unwrap();
        assert_eq!(receive(&process).0, message(b'N', 0, 0));
    }
    // Nonsense, and silence.
    for bytes in [&hello[..7], &[0xff; 60], &[]] {
        let process = connected(&site.socket());
        let _ = send(&process, bytes, Some(listener.as_fd()));
        assert_eq!(receive(&process).0, b"");
    }
    let silent: Vec<_> = (0..50).map(|_| connected(&site.socket())).collect();
    is_in_order(&site, &gate);
    drop(silent);
}

#[test]
fn nonsense_in_the_memory_is_mended() {
    let server = Server::nginx(2, "");
    let site = Site::of(&server);
    let gate = site.gate("window = 1");
    let _running = site.start();
    assert_eq!(site.once(Server::FAST, "").0, 200);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let process = connected(&site.socket());
    send(&process, &message(b'H', VERSION, 0), Some(listener.as_fd())).unwrap();
    let (bytes, beside) = receive(&process);
    assert_eq!((bytes[0], beside.len()), (b'A', 3));
    let memory = &beside[0];
    let length = rustix::fs::fstat(memory).unwrap().st_size as u64;
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // Random, and the same each time.
            let mut state = 1_u64;
            let mut random = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state
            };
            while !is_over.load(Ordering::Relaxed) {
                // The places, processes and first slots, and the first events, more often than what is hardly used.
                let within = [256, 70_000, 200_000, length][(random() % 4) as usize].min(length - 8);
                let word = [0, u64::MAX, 1, random()][(random() % 4) as usize];
                let _ = rustix::io::pwrite(memory, &word.to_ne_bytes(), random() % within);
                if random() % 64 == 0 {
                    let slot = (random() % 70_000) as u32;
                    let kind = [b'P', b'W', b'H', random() as u8][(random() % 4) as usize];
                    let beside = [listener.as_fd(), memory.as_fd()][(random() % 2) as usize];
                    let _ = send(&process, &message(kind, random() as u16, slot), Some(beside));
                }
                if random() % 256 == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        });
        let until = Instant::now() + Duration::from_secs(4);
        let mut answered = 0;
        while Instant::now() < until {
            let mut client = testkit::Raw::connect(server.address);
            client.stream().set_read_timeout(Some(Duration::from_millis(500))).unwrap();
            client.send("GET /fast HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            let mut bytes = Vec::new();
            let _ = std::io::Read::read_to_end(&mut client.stream(), &mut bytes);
            answered += u32::from(bytes.starts_with(b"HTTP/1.1 200"));
        }
        is_over.store(true, Ordering::Relaxed);
        // It disturbs; that is said of it. The gate is there, and so is the server.
        assert!(answered > 0);
    });
    drop((process, beside));
    is_in_order(&site, &gate);
}

#[test]
fn a_server_serves_beside_what_is_no_gate() {
    // Says nothing, says nonsense, gives memory that is too small, and goes away.
    for way in 0..4 {
        let server = Server::nginx(1, "");
        let site = Site::of(&server);
        let listener = socket();
        bind(&listener, &SocketAddrUnix::new(site.socket()).unwrap()).unwrap();
        listen(&listener, 16).unwrap();
        fs::set_permissions(site.socket(), std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        thread::spawn(move || {
            let mut kept = Vec::new();
            while let Ok(process) = accept(&listener) {
                let small = rustix::fs::memfd_create("small", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
                let _ = match way {
                    1 => send(&process, &[0xff; LENGTH], None),
                    2 => send(&process, &message(b'A', 0, 0), Some(small.as_fd())),
                    _ => Ok(0),
                };
                if way != 3 {
                    kept.push(process);
                }
            }
        });
        let _running = site.start();
        for _ in 0..3 {
            let (status, took) = site.once(Server::FAST, "");
            assert!(status == 200 && took < 5.0, "way {way}: {status} after {took:.2} s");
        }
    }
}

#[test]
fn a_second_gate_is_told_that_there_is_one() {
    let server = Server::nginx(1, "");
    let site = Site::of(&server);
    let gate = site.gate("window = 1");
    let file = server.directory.path().join("gate.toml");
    let second =
        Command::new(env!("CARGO_BIN_EXE_headworks")).args(["gate", "--config"]).arg(file).output().unwrap();
    let errors = String::from_utf8_lossy(&second.stderr);
    assert!(!second.status.success() && errors.contains("another gate is there"), "{errors}");
    let _running = site.start();
    is_in_order(&site, &gate);
}
