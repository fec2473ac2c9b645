//! `headworks load` and `headworks watch` on a terminal: the live view comes, obeys keys, and gives the terminal back.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use testkit::{Process, Terminal};

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");
const ENTER_ALTERNATE_SCREEN: &str = "\x1b[?1049h";
const LEAVE_ALTERNATE_SCREEN: &str = "\x1b[?1049l";

fn origin() -> (Process, String) {
    let (server, address) = Process::origin(HEADWORKS, &[]);
    (server, format!("http://{address}/bytes/100"))
}

/// A run that only a key ends, and after it the state of the terminal.
fn endless(url: &str) -> String {
    format!("{HEADWORKS} load {url} --connections 2 --duration 10m; echo code $?; stty -a; echo ended")
}

#[track_caller]
fn is_given_back(text: &str) {
    let (_, after) = text.rsplit_once(LEAVE_ALTERNATE_SCREEN).unwrap_or_else(|| panic!("never left: {text}"));
    assert!(after.contains("code 130"), "{after}");
    for mode in ["isig", "icanon", "echo", "opost"] {
        assert!(after.split([' ', '\r', '\n', ';']).any(|word| word == mode), "{mode}: {after}");
    }
}

#[test]
fn a_key_ends_the_run_and_the_terminal_is_as_before() {
    let (_server, url) = origin();
    for key in ["q", "\x03"] {
        let mut terminal = Terminal::start(100, 30, &endless(&url));
        terminal.wait_for(ENTER_ALTERNATE_SCREEN);
        terminal.wait_for("processing");
        terminal.press("h");
        terminal.wait_for("keys and words");
        terminal.press("p");
        terminal.wait_for("paused");
        terminal.press(key);
        let text = terminal.end();
        is_given_back(&text);
        let (_, after) = text.rsplit_once(LEAVE_ALTERNATE_SCREEN).unwrap();
        assert!(after.contains("Interrupted"), "the summary comes after the view: {after}");
    }
}

#[test]
fn a_small_terminal_and_one_that_is_in_use_get_lines() {
    let (_server, url) = origin();
    let mut small = Terminal::start(59, 30, &endless(&url));
    let text = small.wait_for("measuring");
    assert!(!text.contains(ENTER_ALTERNATE_SCREEN), "{text}");
    small.press("\x03");
    assert!(small.end().contains("code 130"));

    // In the background a program that takes the terminal over would be stopped.
    let script = format!("set -m; {HEADWORKS} load {url} --duration 5s & wait $!; echo code $?; echo ended");
    let text = Terminal::start(100, 30, &script).end();
    assert!(text.contains("measuring") && !text.contains(ENTER_ALTERNATE_SCREEN), "{text}");
    assert!(text.contains("code 0") || text.contains("code 4"), "{text}");
}

#[test]
fn a_watch_has_a_tab_for_each_group() {
    let (_server, url) = origin();
    let port = url.rsplit(':').next().unwrap().split('/').next().unwrap();
    let script = format!(
        "{HEADWORKS} watch --port {port} --interval 200ms --prometheus 0; echo code $?; stty -a; echo ended"
    );
    let mut terminal = Terminal::start(100, 30, &script);
    terminal.wait_for(ENTER_ALTERNATE_SCREEN);
    // Single words: a blank that was there before is not drawn again.
    for (key, shown) in
        [("2", "switches"), ("3", "faults/s"), ("4", "drops/s"), ("5", "Prometheus"), ("h", "understood")]
    {
        terminal.press(key);
        terminal.wait_for(shown);
    }
    terminal.press("q");
    let text = terminal.end();
    is_given_back(&text);
    let (_, after) = text.rsplit_once(LEAVE_ALTERNATE_SCREEN).unwrap();
    assert!(
        after.contains("wait to be accepted"),
        "the figures of all of the time come after the view: {after}"
    );

    // Figures of a watch that is read by a program stay lines.
    let script = format!("{HEADWORKS} watch --duration 300ms | cat; echo ended");
    let text = Terminal::start(100, 30, &script).end();
    assert!(text.contains("user%") && !text.contains(ENTER_ALTERNATE_SCREEN), "{text}");
}
