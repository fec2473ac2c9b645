//! Where a server listens: Unix sockets and IPv6, in both modes.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;

use crate::common::{FOREVER, MODES, options, serves, tcp};
use origin::{Address, Error, Mode, Options, Server};
use testkit::PATIENCE;

fn at(mode: Mode, path: &Path) -> Result<Server, Error> {
    Server::start(&Options {
        listen: Address::Unix(path.to_owned()),
        keep_alive: FOREVER,
        ..options(mode, 2)
    })
}

fn ask(path: &Path, target: &str) -> Vec<u8> {
    let mut client = UnixStream::connect(path).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(client, "GET {target} HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn a_unix_socket_serves_and_goes_with_its_server() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("origin.sock");
    fs::write(scratch.path().join("file"), vec![b'x'; 500_000]).unwrap();
    for mode in MODES {
        let server = Server::start(&Options {
            listen: Address::Unix(path.clone()),
            content: Some(scratch.path().to_owned()),
            ..options(mode, 2)
        })
        .unwrap();
        assert_eq!(server.address().unix(), Some(path.as_path()));
        assert!(ask(&path, "/healthz").ends_with(b"\r\n\r\nok\n"), "{mode:?}");
        assert!(ask(&path, "/bytes/3000000").len() > 3_000_000, "{mode:?}");
        assert!(ask(&path, "/file").len() > 500_000, "{mode:?}");
        server.stop();
        assert!(!path.exists(), "{mode:?}");
    }
}

#[test]
fn stopping_cuts_connections_of_a_unix_socket() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("origin.sock");
    for mode in MODES {
        let server = at(mode, &path).unwrap();
        let mut client = UnixStream::connect(&path).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.write_all(b"GET /bytes/0 HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        assert!(client.read(&mut [0; 1024]).unwrap() > 0);
        let stopped = thread::spawn(|| server.stop());
        assert_eq!(client.read(&mut [0; 1024]).unwrap(), 0, "{mode:?}");
        stopped.join().unwrap();
    }
}

#[test]
fn only_what_a_dead_server_left_is_replaced() {
    let scratch = tempfile::tempdir().unwrap();
    for mode in MODES {
        let path = scratch.path().join("a.sock");
        // Dropping the standard library's listener leaves its file.
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let server = at(mode, &path).unwrap();
        let error = at(mode, &path).unwrap_err().to_string();
        assert_eq!(error, format!("cannot listen on unix:{}: address already in use", path.display()));
        assert!(ask(&path, "/healthz").ends_with(b"ok\n"), "{mode:?}: the first still serves");
        server.stop();

        let file = scratch.path().join("file");
        fs::write(&file, "precious").unwrap();
        let error = at(mode, &file).unwrap_err().to_string();
        assert!(error.ends_with("something that is not a socket is there"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");

        let nowhere = at(mode, &scratch.path().join("missing/a.sock")).unwrap_err().to_string();
        assert!(nowhere.contains("No such file"), "{nowhere}");
        let long = scratch.path().join("x".repeat(200));
        assert!(at(mode, &long).is_err());
    }
}

#[test]
fn both_families_are_listened_on() {
    for mode in MODES {
        for listen in ["127.0.0.1:0", "[::1]:0"] {
            let listen: Address = listen.parse().unwrap();
            let server = Server::start(&Options { listen: listen.clone(), ..options(mode, 1) }).unwrap();
            assert_eq!(tcp(&server).ip(), listen.tcp().unwrap().ip());
            assert_ne!(tcp(&server).port(), 0);
            assert!(serves(tcp(&server)), "{mode:?}: {listen}");
        }
    }
}
