//! A server that sends as servers do, in each way that the kernel has to see it.

use std::io::{IoSlice, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::fs::sendfile;
use rustix::net::sockopt::set_socket_linger;

use super::*;

const BOUNDS: [Bytes; 1] = [Bytes(50_000)];
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
const MISSING: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

/// Two ends of a connection whose server's sends are counted.
struct Line {
    traced: Traced,
    server: TcpStream,
    client: TcpStream,
}

impl Line {
    /// What comes of it, in each way. Only root may.
    fn each(check: impl Fn(Self)) {
        if !rustix::process::geteuid().is_root() {
            testkit::skip(&"only root may load programs");
            return;
        }
        let (mut ways, mut refused) = (0, Vec::new());
        for (way, pending) in super::ways() {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let at = Addresses::at_port(address.port());
            let opened = Traced::open_by((way, pending, None), &at, &BOUNDS, 0);
            let mut traced = match opened.and_then(|mut traced| traced.attach(&[]).map(|()| traced)) {
                Ok(traced) => traced,
                Err(why) => {
                    refused.push(why);
                    continue;
                }
            };
            traced.read().unwrap();
            let client = TcpStream::connect(address).unwrap();
            check(Self { traced, server: listener.accept().unwrap().0, client });
            ways += 1;
        }
        assert!(ways > 0, "{refused:?}");
    }

    /// Lets the client read until then, or until the server has closed.
    fn read(&mut self, bytes: usize) {
        self.client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        std::io::copy(&mut (&self.client).take(bytes as u64), &mut std::io::sink()).unwrap();
    }

    /// Successful responses, those to mistakes, and bytes of either.
    fn seen(&mut self) -> (u64, u64, u64) {
        let counted = self.traced.read().unwrap();
        let bytes = counted.classes.iter().fold(0_u64, |sum, class| sum.wrapping_add(class.bytes));
        (counted.statuses().successful, counted.statuses().client_errors, bytes)
    }
}

#[test]
fn a_head_is_found_in_whatever_pieces_it_is_sent() {
    Line::each(|mut line| {
        let pieces = [b"".as_slice(), b"", MISSING].map(IoSlice::new);
        assert_eq!(line.server.write_vectored(&pieces).unwrap(), MISSING.len());
        let (one, two) = OK.split_at(9);
        let pieces = [one, &two[..1], b"", &two[1..], b"some"].map(IoSlice::new);
        assert_eq!(line.server.write_vectored(&pieces).unwrap(), OK.len() + 4);
        let bytes = MISSING.len() + OK.len() + 4;
        line.read(bytes);
        assert_eq!(line.seen(), (1, 1, bytes as u64), "{:?}", line.traced.way);
    });
}

/// As where a client waits to be told to send its body, and the server answers at once.
#[test]
fn an_interim_response_may_come_with_the_final_one() {
    Line::each(|mut line| {
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n".as_slice();
        line.server.write_all(OK).unwrap();
        line.server.write_all(interim).unwrap();
        line.server.write_all(MISSING).unwrap();
        line.server.write_all(&[interim, MISSING].concat()).unwrap();
        assert_eq!(line.seen(), (1, 2, (OK.len() + 2 * MISSING.len()) as u64), "{:?}", line.traced.way);
    });
}

/// Streams on a connection that was open before, of which no head is looked for where it can be seen.
#[test]
fn a_connection_that_stays_unknown_is_said() {
    // A connection's window, and then a response whose status was written earlier.
    let window = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 1, 0, 0];
    let head = [0, 0, 1, 1, 5, 0, 0, 0, 1, 0xbe];
    Line::each(|mut line| {
        line.traced.detach();
        line.server.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).unwrap();
        line.traced.attach(&[]).unwrap();
        for _ in 0..20 {
            line.server.write_all(&[&window[..], &head].concat()).unwrap();
        }
        assert!(!line.traced.read().unwrap().is_whole(), "{:?}", line.traced.way);
    });
}

/// What was not taken is sent again, with a response behind it.
#[test]
fn what_is_sent_again_is_counted_once() {
    Line::each(|mut line| {
        let body = vec![b'a'; 16_000_000];
        line.server.set_nonblocking(true).unwrap();
        let taken = line.server.write_vectored(&[OK, &body].map(IoSlice::new)).unwrap();
        assert!(taken < body.len(), "all of it was taken");
        let rest = &body[taken - OK.len()..];
        assert!(line.server.write(rest).is_err(), "nothing is taken now");
        let (mut client, mut server) = (line.client.try_clone().unwrap(), &line.server);
        std::thread::scope(|threads| {
            threads.spawn(move || std::io::copy(&mut client, &mut std::io::sink()).unwrap());
            server.set_nonblocking(false).unwrap();
            let sent = server.write_vectored(&[rest, MISSING].map(IoSlice::new)).unwrap();
            server.write_all(&[rest, MISSING].concat()[sent..]).unwrap();
            server.shutdown(std::net::Shutdown::Write).unwrap();
        });
        assert_eq!(
            line.seen(),
            (1, 1, (OK.len() + body.len() + MISSING.len()) as u64),
            "{:?}",
            line.traced.way
        );
    });
}

#[test]
fn what_cannot_be_sent_any_more_is_not_counted() {
    Line::each(|mut line| {
        line.server.write_all(MISSING).unwrap();
        line.server.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(line.server.write(OK).is_err());
        assert_eq!(line.seen(), (0, 1, MISSING.len() as u64), "{:?}", line.traced.way);
    });
    Line::each(|mut line| {
        line.server.write_all(MISSING).unwrap();
        line.read(MISSING.len());
        set_socket_linger(&line.client, Some(Duration::ZERO)).unwrap();
        drop(std::mem::replace(&mut line.client, line.server.try_clone().unwrap()));
        testkit::poll_until(testkit::PATIENCE, "the end", || line.server.write(OK).err());
        let (successful, ..) = line.seen();
        assert_eq!(successful, 0, "of those that no client takes, {:?}", line.traced.way);
    });
}

/// The client resets the connection while it gets a file.
#[test]
fn a_download_that_is_broken_off_has_as_many_bytes_as_were_sent() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(64 << 20).unwrap();
    Line::each(|mut line| {
        line.server.write_all(OK).unwrap();
        let mut sent = OK.len();
        let server = line.server.try_clone().unwrap();
        let file = &file;
        std::thread::scope(|threads| {
            let sends = threads.spawn(move || {
                let (mut taken, mut offset) = (0, 0);
                while let Ok(some) = sendfile(&server, file, Some(&mut offset), 1 << 20) {
                    taken += some;
                }
                taken
            });
            line.read(300_000);
            set_socket_linger(&line.client, Some(Duration::ZERO)).unwrap();
            drop(std::mem::replace(&mut line.client, line.server.try_clone().unwrap()));
            sent += sends.join().unwrap();
        });
        assert_eq!(line.seen(), (1, 0, sent as u64), "{:?}", line.traced.way);
    });
}

/// Of what began while nothing was counted the rest is told as such, and connections stay what they are.
#[test]
fn taken_up_again_it_counts_what_begins_then() {
    Line::each(|mut line| {
        line.server.write_all(OK).unwrap();
        line.traced.detach();
        line.server.write_all(&[b'a'; 1000]).unwrap();
        line.traced.attach(&[]).unwrap();
        line.server.write_all(&[b'a'; 2000]).unwrap();
        line.server.write_all(MISSING).unwrap();
        let counted = line.traced.read().unwrap();
        assert_eq!(line.seen(), (1, 1, (OK.len() + MISSING.len()) as u64), "{:?}", line.traced.way);
        assert_eq!((counted.other_bytes, counted.protocols.http1), (2000, 1));
    });
    // A preface; heads of responses with the status 200 (RFC 7541, appendix A).
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let head = |stream| [0, 0, 1, 1, 5, 0, 0, 0, stream, 0x88];
    Line::each(|mut line| {
        line.server.write_all(&settings).unwrap();
        line.server.write_all(&[head(1), head(3)].concat()).unwrap();
        line.traced.detach();
        line.traced.attach(&[]).unwrap();
        line.server.write_all(&[head(5), head(7)].concat()).unwrap();
        let counted = line.traced.read().unwrap();
        assert_eq!((counted.statuses().successful, counted.protocols.http2), (4, 1), "{:?}", line.traced.way);
        assert_eq!(counted.protocols.other, 0);
    });
}
