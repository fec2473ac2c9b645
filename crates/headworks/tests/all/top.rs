//! `headworks top`: a gate on a terminal, as a table and as JSON, here and through ssh.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::{Hostile, PATIENCE, Process, Raw, Terminal, free_address, poll_until};

use crate::common::Site;

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");
const ENTER_ALTERNATE_SCREEN: &str = "\x1b[?1049h";
const LEAVE_ALTERNATE_SCREEN: &str = "\x1b[?1049l";
const OPERATOR: &str = "0123456789abcdef";
const READER: &str = "fedcba9876543210";

fn top(arguments: &[&str]) -> Command {
    let mut command = Command::new(HEADWORKS);
    command.arg("top").args(arguments).env_remove("HEADWORKS_TOKEN").stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn fails(command: &mut Command, code: i32) -> String {
    let Output { status, stderr, stdout } = command.output().unwrap();
    assert_eq!(status.code(), Some(code), "{}{}", text(&stderr), text(&stdout));
    assert!(stdout.is_empty(), "{}", text(&stdout));
    text(&stderr)
}

#[track_caller]
fn says(command: &mut Command) -> String {
    let Output { status, stderr, stdout } = command.output().unwrap();
    assert_eq!(status.code(), Some(0), "{}", text(&stderr));
    text(&stdout)
}

/// A gate with two classes, and with what else its file says.
fn gate(more: &str) -> (Site, Process) {
    let site = Site::new();
    site.configure(&format!("class = [{{ name = 'premium' }}, {{ name = 'basic' }}]\n{more}"));
    let gate = site.start();
    Raw::connect(site.address).get("/bytes/10").response();
    (site, gate)
}

/// A gate that wants tokens.
fn guarded() -> (Site, Process) {
    let site = Site::new();
    site.configure("class = [{ name = 'premium' }, { name = 'basic' }]");
    fs::write(site.path("tokens"), format!("ops {OPERATOR}\nviewer {READER} read-only\n")).unwrap();
    fs::set_permissions(site.path("tokens"), fs::Permissions::from_mode(0o600)).unwrap();
    let file = fs::read_to_string(site.path("gate.toml")).unwrap();
    let admin = format!("admin = {{ listen = '{}', token-file = 'tokens' }}", site.admin);
    fs::write(site.path("gate.toml"), file.replace(&format!("admin = '{}'", site.admin), &admin)).unwrap();
    let gate = site.start();
    (site, gate)
}

#[test]
fn a_gate_once_as_a_table_and_as_json() {
    let (site, mut gate) = gate("");
    let place = format!("http://{}", site.admin);
    let table = poll_until(PATIENCE, "a sample", || {
        let is_told = |table: &String| table.contains("goodput") && !table.contains("has just begun");
        Some(says(&mut top(&[&place]))).filter(is_told)
    });
    for part in [
        &*place,
        "premium",
        "basic",
        "offered",
        "waits for",
        "95 % within",
        "window",
        "differentiation 0.9",
        "No class suffers",
        "up ",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(says(&mut top(&[&site.admin.to_string(), "--once"])).contains("premium"));
    let json: Value = serde_json::from_str(&says(&mut top(&[&place, "--json"]))).unwrap();
    assert_eq!((&json["where"], &json["state"]["mode"]), (&Value::from(place), &Value::from("enforce")));
    assert_eq!(json["sample"]["classes"].as_array().unwrap().len(), 2, "{json}");
    gate.terminate();
}

#[test]
fn where_no_gate_is_that_is_said() {
    let nowhere = free_address().to_string();
    for option in ["--once", "--json"] {
        let why = fails(&mut top(&[&nowhere, option]), 1);
        assert!(
            why.contains(&format!("http://{nowhere}: no gate answers there")) && why.contains("ssh://"),
            "{why}"
        );
    }
    let (site, mut gate) = gate("");
    let why = fails(&mut top(&[&site.address.to_string()]), 1);
    assert!(why.contains("not the admin interface of a gate"), "{why}");
    gate.terminate();
    for (place, part) in [("https://gate:1", "no TLS"), ("gate", "no port"), ("ssh://-x", "is no host")] {
        let why = fails(&mut top(&[place]), 2);
        assert!(why.contains(part), "{why}");
    }
    assert!(fails(&mut top(&[&nowhere, "--token-file", "/nowhere"]), 2).contains("/nowhere cannot be read"));
}

#[test]
fn a_token_comes_from_a_file_or_the_environment() {
    let (site, mut gate) = guarded();
    let place = site.admin.to_string();
    let why = fails(&mut top(&[&place]), 2);
    assert!(why.contains("--token-file FILE") && why.contains("HEADWORKS_TOKEN"), "{why}");
    assert!(
        fails(top(&[&place]).env("HEADWORKS_TOKEN", "of another gate"), 2).contains("more than one word")
    );
    assert!(fails(top(&[&place]).env("HEADWORKS_TOKEN", "ofanothergate0000"), 2).contains("wants a token"));
    assert!(says(top(&[&place]).env("HEADWORKS_TOKEN", READER)).contains("premium"));
    let file = site.path("token");
    fs::write(&file, format!("{OPERATOR}\n")).unwrap();
    let file = file.display().to_string();
    let json = says(top(&[&place, "--json", "--token-file", &file]).env("HEADWORKS_TOKEN", "not this"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["state"]["operator"]["may_change"], true, "{json}");
    gate.terminate();
}

/// A live view in a shell, which says the exit code and that the terminal is as it was.
fn live(columns: u16, place: &str, prefix: &str) -> Terminal {
    let script = format!("{prefix} {HEADWORKS} top {place}; echo code $?; stty -a; echo ended");
    let terminal = Terminal::start(columns, 30, &script);
    terminal.wait_for(ENTER_ALTERNATE_SCREEN);
    terminal
}

#[track_caller]
fn is_given_back(text: &str, code: u8) {
    let (_, after) = text.rsplit_once(LEAVE_ALTERNATE_SCREEN).unwrap_or_else(|| panic!("never left: {text}"));
    assert!(after.contains(&format!("code {code}\r\n")), "{after}");
    for mode in ["isig", "icanon", "echo", "opost"] {
        assert!(after.split([' ', '\r', '\n', ';']).any(|word| word == mode), "{mode}: {after}");
    }
}

fn knob(site: &Site) -> f64 {
    let knobs = Raw::connect(site.admin).get("/api/v1/knobs").response();
    serde_json::from_str::<Value>(knobs.text()).unwrap()["differentiation"].as_f64().unwrap()
}

#[track_caller]
fn wait_for_knob(site: &Site, value: f64) {
    poll_until(PATIENCE, &format!("differentiation {value}"), || (knob(site) == value).then_some(()));
}

// Single words: a blank that was there before is not drawn again.
#[test]
fn keys_move_knobs_and_back_and_ask_before_a_drain() {
    let (site, mut gate) = gate("");
    let mut terminal = live(100, &site.admin.to_string(), "");
    terminal.wait_for("differentiation");
    terminal.press("d\x1b[D");
    terminal.wait_for("0.85?");
    assert_eq!(knob(&site), 0.9, "not before Enter");
    terminal.press("\x1b[D\r");
    wait_for_knob(&site, 0.8);
    terminal.wait_for("undoes");
    // What came of it is looked at.
    terminal.wait_for("measuring,");
    terminal.press("u");
    wait_for_knob(&site, 0.9);
    terminal.press("\x1b");
    terminal.press("c");
    terminal.wait_for("0.8");
    terminal.press("c");
    terminal.press("xn");
    terminal.press("xy");
    terminal.wait_for("DRAINING");
    assert_eq!(Raw::connect(site.admin).get("/readyz").response().status, 503);
    terminal.press("s");
    terminal.wait_for("Nothing");
    terminal.press("y");
    terminal.wait_for("SHADOW");
    terminal.press("?");
    terminal.wait_for("words");
    terminal.press("q");
    is_given_back(&terminal.end(), 0);
    gate.terminate();
}

/// What another operator does.
fn move_knobs(site: &Site, differentiation: f64, favour: f64) {
    let body = format!("{{\"differentiation\": {differentiation}, \"favour\": {favour}}}");
    let length = body.len();
    let patch =
        format!("PATCH /api/v1/knobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}");
    assert_eq!(Raw::connect(site.admin).send(patch).response().status, 200);
}

#[test]
fn knobs_that_another_operator_moves_before_enter_are_asked_about() {
    let (site, mut gate) = gate("");
    let mut terminal = live(100, &site.admin.to_string(), "");
    terminal.wait_for("differentiation");
    terminal.press("d\x1b[D");
    terminal.wait_for("0.85?");
    move_knobs(&site, 0.3, 0.6);
    terminal.press("\r");
    terminal.wait_for("y/n");
    assert_eq!(knob(&site), 0.3, "not before y");
    terminal.press("y");
    wait_for_knob(&site, 0.85);
    let knobs = Raw::connect(site.admin).get("/api/v1/knobs").response();
    assert!(knobs.text().contains("\"favour\":0.6"), "that of the other stays: {}", knobs.text());
    terminal.press("q");
    is_given_back(&terminal.end(), 0);
    gate.terminate();
}

#[test]
fn a_gate_to_which_too_many_listen_is_shown_all_the_same() {
    let (site, mut gate) = gate("");
    let listen = |_| {
        let mut listener = Raw::connect(site.admin);
        let head = listener.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").head();
        assert!(head.contains(" 200 "), "{head}");
        listener
    };
    let listeners: Vec<Raw> = (0..8).map(listen).collect();
    let mut terminal = live(100, &site.admin.to_string(), "");
    terminal.wait_for("events:");
    terminal.press("d\x1b[D\r");
    wait_for_knob(&site, 0.85);
    // What another operator does is seen, too.
    let drain = "POST /api/v1/drain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(Raw::connect(site.admin).send(drain).response().status, 200);
    terminal.wait_for("DRAINING");
    terminal.press("q");
    let text = terminal.end();
    assert!(!text.contains("Lost"), "{text}");
    is_given_back(&text, 0);
    drop(listeners);
    gate.terminate();
}

#[test]
fn a_gate_that_restarts_is_found_again() {
    let (site, mut gate) = gate("");
    let mut terminal = live(100, &site.admin.to_string(), "");
    terminal.wait_for("window");
    gate.terminate();
    terminal.wait_for("Lost");
    let mut gate = site.start();
    terminal.wait_for("restarted");
    terminal.press("\x03");
    is_given_back(&terminal.end(), 130);
    gate.terminate();
}

#[test]
fn a_token_that_may_only_read_changes_nothing() {
    let (site, mut gate) = guarded();
    let mut terminal = live(40, &site.admin.to_string(), &format!("HEADWORKS_TOKEN={READER}"));
    terminal.wait_for("read-only");
    terminal.press("d");
    terminal.wait_for("viewer");
    // To try knobs out changes nothing.
    terminal.press("\x1b[D");
    terminal.wait_for("computed");
    terminal.press("\r");
    terminal.wait_for("another");
    let knobs =
        format!("GET /api/v1/knobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {READER}\r\n\r\n");
    let knobs = Raw::connect(site.admin).send(knobs).response();
    assert!(knobs.text().contains("\"differentiation\":0.9"), "{}", knobs.text());
    terminal.press("q");
    is_given_back(&terminal.end(), 0);
    gate.terminate();
}

#[test]
fn without_room_a_table_is_printed() {
    let (site, mut gate) = gate("");
    let text =
        Terminal::start(39, 30, &format!("{HEADWORKS} top {}; echo code $?; echo ended", site.admin)).end();
    assert!(
        text.contains("premium") && text.contains("code 0") && !text.contains(ENTER_ALTERNATE_SCREEN),
        "{text}"
    );
    let script = format!("{HEADWORKS} top {} | cat; echo ended", site.admin);
    let text = Terminal::start(100, 30, &script).end();
    assert!(text.contains("premium") && !text.contains(ENTER_ALTERNATE_SCREEN), "{text}");
    gate.terminate();
}

#[test]
fn a_signal_ends_it_while_the_gate_says_nothing() {
    let (met, asked) = channel();
    let server = Hostile::start(move |mut stream: &TcpStream, _| {
        let _ = met.send(());
        // Until the other side has gone.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut asking = Process::start(&mut top(&[&server.address().to_string()]));
        // It watches for signals before it asks.
        asked.recv_timeout(PATIENCE).unwrap();
        kill_process(Pid::from_raw(i32::try_from(asking.id()).unwrap()).unwrap(), signal).unwrap();
        assert_eq!(asking.wait().code(), Some(code));
    }
}

#[test]
fn what_means_harm_does_not_reach_the_terminal() {
    let state = r#"{"mode": "enforce", "knobs": {"differentiation": 0.9, "favour": 0.5}, "window": 1, "in_service": 0,
        "queues": {"acceptor": 0, "pending": 0, "discard": 0, "class": 0}, "version": "\u001b[31mred",
        "classes": [{"name": "owned\u001b]0;title\u0007\u009b31m"}]}"#;
    let server = Hostile::start(move |mut stream: &TcpStream, _| {
        let mut head = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut head) {
            let (status, body) = match text(&head[..length]) {
                asked if asked.starts_with("GET /api/v1/state ") => ("200 OK", state),
                asked if asked.contains("/api/v1/events") => {
                    let bad = "HTTP/1.1 200 OK\r\n\r\ndata: \u{1b}[2J\n\nevent: sample\ndata: {\"at\": \"\u{1b}\"}\n\n";
                    let _ = stream.write_all(bad.as_bytes());
                    continue;
                }
                _ => ("404 Not Found", r#"{"error": "\u001b[5mno"}"#),
            };
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let mut terminal = live(100, &server.address().to_string(), "");
    terminal.wait_for("owned");
    terminal.press("w");
    terminal.wait_for("Esc");
    terminal.press("q");
    let text = terminal.end();
    for harm in ["\x1b]0;title", "\u{9b}", "\x1b[5m", "\x1b[31mred"] {
        assert!(!text.contains(harm), "{harm:?}: {text:?}");
    }
    is_given_back(&text, 0);
}

/// A directory for PATH with an ssh that leads to this machine, and writes down how it was called.
fn fake_ssh(directory: &Path) -> String {
    let script = r#"#!/bin/bash
echo "$@" >> "$(dirname "$0")/calls"
while [ $# -gt 0 ]; do
    case $1 in
        -W) to=$2; shift 2 ;;
        -L) local=${2%%:*}; remote=${2#*:}; shift 2 ;;
        --) host=$2; shift 2 ;;
        -o|-p) shift 2 ;;
        *) shift ;;
    esac
done
if [ "$host" = refuses ]; then echo "refuses: Permission denied (publickey)." >&2; exit 255; fi
if [ -n "$local" ]; then ln -s "$remote" "$local"; exec sleep 86321; fi
exec 3<>"/dev/tcp/${to%:*}/${to##*:}" || exit 255
cat <&3 &
cat >&3
kill %1
"#;
    let file = directory.join("ssh");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", directory.display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_gate_on_another_host_is_reached_through_ssh() {
    let (site, mut gate) = gate("");
    let path = fake_ssh(site.directory.path());
    let calls = || fs::read_to_string(site.path("calls")).unwrap();
    let place = format!("ssh://ops@shop:2222/{}", site.admin);
    assert!(says(top(&[&place]).env("PATH", &path)).contains("premium"));
    let called = calls();
    assert!(called.contains(&format!("-W {}", site.admin)), "{called}");
    assert!(called.lines().all(|line| line.ends_with("-p 2222 -- ops@shop")), "{called}");

    let mut terminal = live(100, &place, &format!("PATH={path}"));
    terminal.wait_for("window");
    terminal.press("d\x1b[D\r");
    wait_for_knob(&site, 0.85);
    terminal.press("q");
    is_given_back(&terminal.end(), 0);
    assert!(calls().contains("BatchMode=yes"), "{}", calls());

    let why = fails(top(&["ssh://refuses"]).env("PATH", &path), 1);
    assert!(why.contains("no gate answers there: ssh: refuses: Permission denied (publickey)."), "{why}");
    let why = fails(top(&["ssh://shop"]).env("PATH", "/nowhere"), 1);
    assert!(why.contains("ssh: No such file"), "{why}");
    gate.terminate();
}

#[test]
fn a_unix_socket_is_reached_here_and_through_ssh() {
    let site = Site::new();
    site.configure("class = [{ name = 'premium' }, { name = 'basic' }]");
    let socket: PathBuf = site.path("admin.sock");
    let file = fs::read_to_string(site.path("gate.toml")).unwrap();
    let both = format!("admin = {{ listen = '{}', socket = '{}' }}", site.admin, socket.display());
    fs::write(site.path("gate.toml"), file.replace(&format!("admin = '{}'", site.admin), &both)).unwrap();
    let mut gate = site.start();
    assert!(says(&mut top(&[&format!("unix:{}", socket.display())])).contains("premium"));
    let path = fake_ssh(site.directory.path());
    let table = says(top(&[&format!("ssh://shop{}", socket.display())]).env("PATH", &path));
    assert!(table.contains("premium"), "{table}");
    let why = fails(top(&["ssh://refuses/run/admin.sock"]).env("PATH", &path), 1);
    assert!(why.contains("Permission denied"), "{why}");
    // As ssh does where it leads nowhere: it takes the connection and closes it.
    let closing = UnixListener::bind(site.path("closing.sock")).unwrap();
    std::thread::spawn(move || closing.incoming().for_each(drop));
    let closing = site.path("closing.sock");
    let why = fails(top(&[&format!("ssh://shop{}", closing.display())]).env("PATH", &path), 1);
    assert!(why.contains("ssh leads there") && why.contains("does not answer"), "{why}");
    gate.terminate();
    let still = Command::new("pgrep").args(["-f", "^sleep 86321$"]).output().unwrap();
    assert_eq!(text(&still.stdout), "", "ssh ends with what started it");
}
