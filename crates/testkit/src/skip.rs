//! What `make test` lists at its end: tests that were not run, with the reason, and what tests counted.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::Location;
use std::path::PathBuf;

/// Files below the target directory: a line for each test that was not run, and for each that counted something.
const SKIPPED: &str = "skipped";
const COUNTED: &str = "counted";

/// Says that a test is not run for want of root, or of something that can be installed. Where the
/// environment says `CI`, both are there, and nothing is left out: it is a panic then.
#[track_caller]
pub fn skip(reason: &impl Display) {
    assert!(std::env::var_os("CI").is_none(), "{reason}");
    skip_here(reason);
}

/// Says that a test is not run because this kernel or machine does not have what it needs, not even
/// for root.
#[track_caller]
pub fn skip_here(reason: &impl Display) {
    eprintln!("skipped: {reason}");
    list(SKIPPED, reason);
}

/// Says what a test counted that passes with less than everything.
#[track_caller]
pub fn tell(count: &impl Display) {
    eprintln!("{count}");
    list(COUNTED, count);
}

#[track_caller]
fn list(file: &str, what: &dyn Display) {
    let place = Location::caller();
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main").unwrap_or_default();
    let line =
        format!("{}:{} {test}: {}\n", place.file(), place.line(), what.to_string().replace('\n', "; "));
    let file = target().map(|target| OpenOptions::new().create(true).append(true).open(target.join(file)));
    // In one piece, since other tests write to it. A list that cannot be written fails no test.
    if let Some(Ok(mut file)) = file {
        let _ = file.write_all(line.as_bytes());
    }
}

/// Where cargo builds: a test is `target/PROFILE/deps/NAME`.
fn target() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let deps = program.parent().filter(|directory| directory.ends_with("deps"))?;
    Some(deps.parent()?.parent()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_where_cargo_builds() {
        let target = target().unwrap();
        assert!(std::env::current_exe().unwrap().starts_with(&target));
        assert!(!target.ends_with("deps") && !target.ends_with("debug"), "{}", target.display());
    }
}
