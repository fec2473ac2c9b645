//! Sessions of several pages, as `headworks load` waits for them.

use std::process::Command;

use testkit::Process;

const HEADWORKS: &str = env!("CARGO_BIN_EXE_headworks");

/// The pauses of SURGE's users have a long tail; nothing is under way in them.
#[test]
fn a_run_does_not_wait_for_users_who_pause() {
    let mut server = Process::start(Command::new(HEADWORKS).args(["origin", "--listen", "127.0.0.1:0"]));
    let url = format!("http://{}", server.wait_for_address("listening on "));
    let arguments = ["--workload", "surge", "-c", "100", "--duration", "1s", "--drain", "1h", "--quiet"];
    let mut run = Process::start(Command::new(HEADWORKS).args(["load", &url]).args(arguments));
    run.wait();
}
