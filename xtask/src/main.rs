//! `cargo xtask tidy`: the project's own lint. `cargo xtask rooms`: what a crate looks like inside.

use std::path::Path;
use std::process::ExitCode;

use xtask::{rules, tidy};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The folder above this one, wherever cargo was called.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["tidy"] => check(&root),
        ["rooms", name] => rooms(&root, name),
        _ => {
            eprintln!(
                "usage: cargo xtask tidy           checks what rustc and clippy cannot know; see xtask/src/rules.rs\n       \
                 cargo xtask rooms CRATE    prints the rooms of a crate, as xtask/src/rooms.rs has them"
            );
            ExitCode::from(2)
        }
    }
}

fn rooms(root: &Path, name: &str) -> ExitCode {
    match tidy::rooms(root, name) {
        Ok(rooms) => {
            for (room, imports) in rooms {
                println!("({room:?}, &{imports:?}),");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("rooms: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn check(root: &Path) -> ExitCode {
    match tidy::check(root, &rules::HEADWORKS) {
        Ok(complaints) if complaints.is_empty() => {
            println!("tidy: nothing to mend");
            ExitCode::SUCCESS
        }
        Ok(complaints) => {
            for complaint in &complaints {
                println!("{complaint}");
            }
            println!("tidy: {} to mend", complaints.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tidy: {error:#}");
            ExitCode::FAILURE
        }
    }
}
