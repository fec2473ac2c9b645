//! `cargo xtask tidy`: the project's own lint.

use std::path::Path;
use std::process::ExitCode;

use xtask::{rules, tidy};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments != ["tidy"] {
        eprintln!(
            "usage: cargo xtask tidy    checks what rustc and clippy cannot know; see xtask/src/rules.rs"
        );
        return ExitCode::from(2);
    }
    // The folder above this one, wherever cargo was called.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match tidy::check(&root, &rules::HEADWORKS) {
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
