//! What `headworks gate` says, to readers that do not read: the gate does not wait for them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Crowd, Site};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use testkit::{PATIENCE, Process, Raw, poll_until};

/// A pipe that somebody has open, who does not read before the test does.
struct Unread {
    path: PathBuf,
    reader: File,
    text: String,
}

impl Unread {
    fn new(path: PathBuf) -> Self {
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let reader = open(&path, OpenOptions::new().read(true));
        Self { path, reader, text: String::new() }
    }

    fn fill(&self) {
        let mut writer = open(&self.path, OpenOptions::new().write(true));
        for piece in [&[b'.'; 4096][..], b"."] {
            while writer.write(piece).is_ok() {}
        }
    }

    /// Reads up to a line with that in it; gives all lines.
    #[track_caller]
    fn read_to(&mut self, what: &str) -> Vec<String> {
        poll_until(PATIENCE, &format!("{what:?} to be said"), || {
            let mut buffer = [0; 4096];
            loop {
                match self.reader.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(length) => self.text.push_str(std::str::from_utf8(&buffer[..length]).unwrap()),
                    Err(why) if why.kind() == ErrorKind::WouldBlock => break,
                    Err(why) => panic!("{why}"),
                }
            }
            let whole = self.text.rfind('\n').map_or("", |end| &self.text[..end]);
            whole.contains(what).then(|| whole.lines().map(str::to_owned).collect())
        })
    }
}

fn open(path: &Path, options: &mut OpenOptions) -> File {
    options.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path).unwrap()
}

/// A gate whose output goes where `redirection` says; `$pipe` is `pipe`.
fn start(site: &Site, redirection: &str, pipe: &Unread) -> Process {
    let script = format!("exec \"$gate\" gate --config \"$file\" {redirection}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("gate", env!("CARGO_BIN_EXE_headworks"));
    Process::start(command.env("file", site.path("gate.toml")).env("pipe", &pipe.path))
}

/// The number in a line about knobs that [`turn`] has turned.
fn turned(line: &str) -> Option<u64> {
    let (_, new) = line.split_once(" -> {\"differentiation\":0.")?;
    new.split(',').next()?.strip_prefix('1')?.parse().ok()
}

/// Has something said, with that number.
#[track_caller]
fn turn(admin: &mut Raw, number: u64) {
    let body = format!("{{\"differentiation\": 0.1{number:04}1}}");
    let length = body.len();
    admin.send(format!(
        "PATCH /api/v1/knobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    ));
    assert_eq!(admin.response().status, 200);
}

#[test]
fn a_standard_error_that_nobody_reads_harms_nobody() {
    const TURNS: u64 = 3000;
    let site = Site::new();
    site.configure("");
    let mut pipe = Unread::new(site.path("said"));
    let mut gate = start(&site, "2>\"$pipe\"", &pipe);
    gate.wait_for_line("admin on ");
    let crowd = Crowd::start(site.address, 4);
    let mut admin = Raw::connect(site.admin);
    for number in 0..TURNS {
        turn(&mut admin, number);
    }
    crowd.serve(100);
    // What there was room for, in order; then how much there was not.
    let said = pipe.read_to("lines are missing here");
    let (last, before) = said.split_last().unwrap();
    let numbers: Vec<u64> = before.iter().filter_map(|line| turned(line)).map(|number| number / 10).collect();
    let told = numbers.len() as u64;
    assert!(told > 500 && numbers.iter().copied().eq(0..told), "{told} lines, or in another order");
    let lost = TURNS - told;
    assert_eq!(*last, format!("gate: {lost} lines are missing here: standard error was not read"));
    // It is read again, and everything is there.
    turn(&mut admin, TURNS);
    let said = pipe.read_to(&format!("0.1{TURNS:04}1"));
    assert_eq!(said.len() as u64, told + 3, "the first line is about the secret");
    // And it ends where the reader leaves before the end.
    pipe.fill();
    turn(&mut admin, 0);
    crowd.end();
    assert_eq!(gate.terminate().code(), Some(143));
}

#[test]
fn the_last_lines_are_written_before_the_end() {
    let site = Site::new();
    site.configure("[client]\ndrain-timeout = '30s'");
    let mut gate = site.start();
    let mut admin = Raw::connect(site.admin);
    for number in 0..200 {
        turn(&mut admin, number);
    }
    // One request keeps it from ending by itself; the second signal does not wait for it.
    let mut busy = Raw::connect(site.address);
    busy.get("/burn?cpu=10s");
    poll_until(PATIENCE, "the request to be in service", || {
        (site.metric("headworks_gate_in_service") == 1.0).then_some(())
    });
    crate::common::signal(&gate, rustix::process::Signal::TERM);
    poll_until(PATIENCE, "the listener to be closed", || {
        std::net::TcpStream::connect(site.address).err().map(drop)
    });
    assert_eq!(gate.terminate().code(), Some(143));
    let said = gate.rest_of_stderr();
    assert_eq!(said.lines().filter_map(turned).next_back(), Some(1991), "{said}");
}

#[test]
fn a_standard_output_that_is_full_keeps_nobody_from_being_served() {
    let site = Site::new();
    site.configure("");
    let pipe = Unread::new(site.path("printed"));
    pipe.fill();
    let mut gate = start(&site, ">\"$pipe\"", &pipe);
    poll_until(PATIENCE, "the gate to listen", || std::net::TcpStream::connect(site.address).ok().map(drop));
    let crowd = Crowd::start(site.address, 4);
    crowd.serve(100);
    crowd.end();
    assert_eq!(gate.terminate().code(), Some(143));
}
