//! `headworks man` and `headworks completions`: documents made from the command line.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

fn headworks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headworks")).args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = headworks(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The headings under which a command's help groups its options.
fn headings(command: &[&str]) -> Vec<String> {
    let help = text(&[command, &["--help"]].concat());
    let lines = help.lines().filter(|line| !line.starts_with([' ', '\t']));
    let headings = lines.filter_map(|line| line.strip_suffix(':')).map(str::to_uppercase);
    headings
        .filter(|heading| !["ARGUMENTS", "COMMANDS", "EXAMPLES", "EXIT CODES"].contains(&&**heading))
        .collect()
}

#[test]
fn each_command_has_a_manual_page_with_all_its_groups_of_options() {
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("share/man1");
    assert_eq!(text(&["man", pages.to_str().unwrap()]), "");
    for (name, command) in [
        ("headworks", &[][..]),
        ("headworks-load", &["load"]),
        ("headworks-gate", &["gate"]),
        ("headworks-gate-explain", &["gate", "explain"]),
        ("headworks-lab", &["lab"]),
        ("headworks-lab-run", &["lab", "run"]),
        ("headworks-origin", &["origin"]),
        ("headworks-report", &["report"]),
        ("headworks-load-make-content", &["load", "make-content"]),
        ("headworks-load-import", &["load", "import"]),
        ("headworks-man", &["man"]),
    ] {
        let page = std::fs::read_to_string(pages.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".TH headworks"), "{name}");
        let headings = headings(command);
        assert!(!headings.is_empty(), "{name}");
        for heading in headings {
            let found = page.lines().any(|line| {
                line.strip_prefix(".SH ").is_some_and(|section| section.trim_matches('"') == heading)
            });
            assert!(found, "{name} has no {heading}");
        }
    }
    let load = std::fs::read_to_string(pages.join("headworks-load.1")).unwrap();
    for option in ["duration", "rate", "objective", "out"] {
        assert!(load.contains(&format!(r"\-\-{option}")), "{option}");
    }
}

/// The options that a line of a command's help begins with, or that a text names.
fn options(text: &str) -> BTreeSet<String> {
    let names = text.split("--").skip(1);
    let names = names.map(|rest| rest.split(|c: char| !c.is_ascii_lowercase() && c != '-').next().unwrap());
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())).map(str::to_owned).collect()
}

fn document(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
}

#[test]
fn the_documentation_of_load_names_its_options_and_no_others() {
    let help = text(&["load", "--help"]);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let of_load: BTreeSet<_> = lines.flat_map(options).collect();
    assert!(of_load.len() > 30, "{of_load:?}");
    let named = options(&document("load.md"));
    let missing: Vec<_> = of_load.iter().filter(|name| !["help", "version"].contains(&&***name)).collect();
    let missing: Vec<_> = missing.into_iter().filter(|name| !named.contains(*name)).collect();
    assert!(missing.is_empty(), "docs/load.md does not name {missing:?}");
    let others: BTreeSet<_> = [&["origin", "--help"][..], &["load", "make-content", "--help"]]
        .into_iter()
        .flat_map(|help| options(&text(help)))
        .collect();
    let unknown: Vec<_> =
        named.iter().filter(|name| !of_load.contains(*name) && !others.contains(*name)).collect();
    assert!(unknown.is_empty(), "docs/load.md names {unknown:?}, which no command has");
}

#[test]
fn without_a_directory_the_first_page_is_printed() {
    let page = text(&["man"]);
    assert!(page.contains(".SH SYNOPSIS") && page.contains("headworks\\-load(1)"), "{page}");
    assert!(page.contains("Exit codes"), "{page}");
}

#[test]
fn pages_that_cannot_be_written_are_an_error_that_names_the_place() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let output = headworks(&["man", path]);
    assert_eq!(output.status.code(), Some(1));
    let why = String::from_utf8(output.stderr).unwrap();
    assert!(why.contains(path), "{why}");
}

#[test]
fn the_shells_that_are_here_accept_their_completions() {
    let directory = tempfile::tempdir().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("requests-per-connection"), "{shell}");
        let file = directory.path().join(shell);
        std::fs::write(&file, script).unwrap();
        let Ok(checked) = Command::new(shell).arg("-n").arg(&file).output() else {
            assert_ne!(shell, "bash", "bash is everywhere");
            continue;
        };
        assert!(checked.status.success(), "{shell}: {}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[test]
fn bash_completes_commands_and_options() {
    let script = text(&["completions", "bash"]);
    let ask = |words: &str, current: &str| {
        let question = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _headworks headworks '{current}' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").arg("-c").arg(question).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(ask("headworks lo", "lo").trim(), "load");
    assert_eq!(ask("headworks load --dur", "--dur").trim(), "--duration");
}

#[test]
fn a_shell_that_is_none_is_a_usage_error() {
    assert_eq!(headworks(&["completions", "cmd"]).status.code(), Some(2));
}
