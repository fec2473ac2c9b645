//! The commands of docs/coming-from.md, run against the shop that it names, and the files that it shows.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use testkit::Process;

const SCRIPTS: &str = "experiments/coming-from";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Blocks of text that are set off, without their indentation.
fn blocks(document: &str) -> Vec<String> {
    let lines = document.lines().map(|line| line.strip_prefix("    ").or(line.is_empty().then_some("")));
    let blocks: Vec<Vec<Option<&str>>> =
        lines.collect::<Vec<_>>().split(Option::is_none).map(<[_]>::to_vec).collect();
    let text = |block: Vec<Option<&str>>| block.into_iter().flatten().collect::<Vec<_>>().join("\n");
    blocks
        .into_iter()
        .map(text)
        .map(|block| block.trim_matches('\n').to_owned())
        .filter(|block| !block.is_empty())
        .collect()
}

fn commands(document: &str) -> Vec<String> {
    let lines = document.lines().filter_map(|line| line.strip_prefix("    headworks load "));
    lines.map(str::to_owned).collect()
}

/// The same in little time.
fn shortened(command: &str) -> String {
    let duration = Regex::new(r"-d \d+s").unwrap().replace_all(command, "-d 1s").into_owned();
    let hold = Regex::new(r"(--ramp \S+):10s").unwrap().replace_all(&duration, "$1:500ms").into_owned();
    hold.replace("--rate 3.34", "--rate 100").replace("--stop-when 5s", "--stop-when 5s --timeout 5s")
}

#[test]
fn the_files_that_are_shown_are_those_that_are_there() {
    let document = read_to_string(root().join("docs/coming-from.md")).unwrap();
    let shown = blocks(&document).join("\n\n");
    for file in ["counter.toml", "auth.toml", "shop.toml", "batch.toml"] {
        let text = read_to_string(root().join(SCRIPTS).join(file)).unwrap();
        assert!(shown.contains(text.trim_end()), "{file} is another than the one that is shown");
    }
    let lines = |file: &str| read_to_string(root().join(SCRIPTS).join(file)).unwrap().lines().count();
    let lengths = format!("{} lines in `shop.js`, {} in `shop.toml`", lines("shop.js"), lines("shop.toml"));
    assert!(document.contains(&lengths), "{lengths}");
}

#[test]
fn the_commands_that_are_shown_do_what_is_said() {
    let document = read_to_string(root().join("docs/coming-from.md")).unwrap();
    let mut shop =
        Process::start(Command::new("python3").args(["shop.py", "0"]).current_dir(root().join(SCRIPTS)));
    let address = format!("127.0.0.1:{}", shop.wait_for_line(""));
    let scratch = tempfile::tempdir().unwrap();
    let all = commands(&document);
    assert!(all.len() >= 12, "{all:?}");
    for command in all {
        let command = shortened(&command)
            .replace("127.0.0.1:8080", &address)
            .replace(SCRIPTS, root().join(SCRIPTS).to_str().unwrap());
        let line = format!("{} load {command} --quiet --json", env!("CARGO_BIN_EXE_headworks"));
        let output = Command::new("sh").args(["-c", &line]).current_dir(scratch.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let summary: record::Summary =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{command}: {why}: {said}"));
        assert!(matches!(output.status.code(), Some(0 | 4)), "{command}: {said}");
        assert!(summary.responses > 0, "{command}: nothing was answered");
        assert_eq!((summary.errors.total(), summary.error_details), (0, Vec::new()), "{command}");
        let wrong: u64 = summary.status.range(400..).map(|(_, count)| count).sum();
        assert_eq!(wrong, 0, "{command}: {:?}", summary.status);
        assert!(summary.objectives.iter().all(|one| one.met), "{command}: {:?}", summary.objectives);
    }
    assert!(scratch.path().join("requests.csv").is_file());
}
