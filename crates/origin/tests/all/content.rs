//! The files of a directory, in both modes, and nothing outside of it.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{MODES, connect, options};
use origin::{Mode, Options, Server};
use rustix::fs::{CWD, FileType, mknodat};
use tempfile::TempDir;

/// A directory with a secret beside what is served.
fn directory() -> (TempDir, std::path::PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("secret"), "secret").unwrap();
    let site = outer.path().join("site");
    fs::create_dir_all(site.join("a b/deep")).unwrap();
    (outer, site)
}

fn serve(mode: Mode, site: &Path) -> Server {
    Server::start(&Options { content: Some(site.to_owned()), ..options(mode, 2) }).unwrap()
}

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n % 251) as u8).collect()
}

#[test]
fn files_are_served_as_they_are() {
    let (_outer, site) = directory();
    let lengths = [0, 1, 16_384, 16_385, 3_000_000];
    for length in lengths {
        fs::write(site.join(format!("a b/deep/{length}.png")), bytes(length)).unwrap();
    }
    fs::write(site.join("index.html"), "home").unwrap();
    fs::write(site.join("a b/index.html"), "inner").unwrap();
    fs::write(site.join("healthz"), "not ours").unwrap();
    for mode in MODES {
        let server = serve(mode, &site);
        let mut client = connect(&server);
        for length in lengths {
            let response = client.get(&format!("/a%20b/deep/{length}.png?x=%2F")).response();
            assert_eq!(response.status, 200, "{mode:?}: {length}");
            assert_eq!(response.header("content-type"), Some("image/png"));
            assert!(response.body == bytes(length), "{mode:?}: {length}");
        }
        let head = client.send("HEAD /a%20b/deep/3000000.png HTTP/1.1\r\nHost: a\r\n\r\n").head();
        assert!(head.contains("Content-Length: 3000000"), "{mode:?}: {head}");
        let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(client.send(post).response().text(), "home", "{mode:?}");
        assert_eq!(client.get("/a%20b/").response().text(), "inner", "{mode:?}");
        // A file goes before a page, and pages without a file are still there.
        assert_eq!(client.get("/healthz").response().text(), "not ours", "{mode:?}");
        assert_eq!(client.get("/bytes/12").response().body.len(), 12, "{mode:?}");
        assert_eq!(client.get("/nothing").response().status, 404, "{mode:?}");
    }
}

#[test]
fn pipelined_files_come_in_order() {
    let (_outer, site) = directory();
    let lengths: Vec<usize> = (0..50).map(|n| n * 9_973 % 120_000).collect();
    for length in &lengths {
        fs::write(site.join(length.to_string()), bytes(*length)).unwrap();
    }
    for mode in MODES {
        let server = serve(mode, &site);
        let mut client = connect(&server);
        for length in &lengths {
            client.get(&format!("/{length}"));
        }
        for length in &lengths {
            assert!(client.response().body == bytes(*length), "{mode:?}: {length}");
        }
    }
}

#[test]
fn nothing_outside_is_served() {
    let (outer, site) = directory();
    symlink(outer.path().join("secret"), site.join("link")).unwrap();
    symlink("../secret", site.join("relative")).unwrap();
    symlink(outer.path(), site.join("out")).unwrap();
    fs::write(site.join("deep"), "inside").unwrap();
    symlink("deep", site.join("inner")).unwrap();
    mknodat(CWD, site.join("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    for mode in MODES {
        let server = serve(mode, &site);
        let mut client = connect(&server);
        for path in [
            "/../secret",
            "/%2e%2e/secret",
            "/..%2Fsecret",
            "/a%20b/../../secret",
            "//secret",
            "/link",
            "/relative",
            "/out/secret",
            "/inner",
            "/pipe",
            "/a%20b",
            "/deep/",
            "/deep%00",
        ] {
            let response = client.get(path).response();
            assert_eq!(response.status, 404, "{mode:?}: {path} gave {:?}", response.body);
        }
        assert_eq!(client.get("/deep").response().text(), "inside", "{mode:?}");
    }
}

#[test]
fn a_file_that_becomes_shorter_ends_the_connection() {
    let (_outer, site) = directory();
    // More than the sockets hold, so that the rest is still in the file.
    let length = 64 << 20;
    let file = File::create(site.join("long")).unwrap();
    file.set_len(length).unwrap();
    let server = serve(Mode::Workers, &site);
    let mut client = connect(&server);
    let head = client.get("/long").head();
    assert!(head.contains(&format!("Content-Length: {length}")), "{head}");
    file.set_len(1 << 20).unwrap();
    assert!((client.until_closed().len() as u64) < length);
}

#[test]
fn memory_keeps_what_was_there_at_the_start() {
    let (_outer, site) = directory();
    fs::write(site.join("a.txt"), "first").unwrap();
    let server = serve(Mode::Static, &site);
    fs::write(site.join("a.txt"), "second").unwrap();
    assert_eq!(connect(&server).get("/a.txt").response().text(), "first");
}

#[test]
fn what_cannot_be_served_is_said_at_the_start() {
    let (_outer, site) = directory();
    let error = |mode, content: &Path| {
        Server::start(&Options { content: Some(content.to_owned()), ..options(mode, 1) })
            .unwrap_err()
            .to_string()
    };
    let missing = site.join("missing");
    for mode in MODES {
        let text = error(mode, &missing);
        assert!(
            text.starts_with(&format!("cannot read the content {}: No such file", missing.display())),
            "{text}"
        );
    }
    File::create(site.join("huge")).unwrap().set_len(origin::MAX_CONTENT + 1).unwrap();
    let text = error(Mode::Static, &site);
    assert!(text.ends_with("static mode keeps all in memory, worker mode does not"), "{text}");
}
