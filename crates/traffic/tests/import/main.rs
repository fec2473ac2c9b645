//! Workloads made of recordings and descriptions. Each one is also read again by `import` itself.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test reports")]

mod any;
mod har;
mod openapi;

use config::Source;
use traffic::Workload;
use traffic::import::{Imported, Options, import};

/// What a file becomes, and the workload that it is.
#[track_caller]
fn taken(name: &str, text: &str, options: &Options) -> (Imported, Workload) {
    let imported = import(&Source::new(name, text), options).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(import(&Source::new(name, text), options).as_ref(), Ok(&imported), "the same each time");
    let workload = Workload::parse(&Source::new("w.toml", imported.text.as_str())).unwrap();
    (imported, workload)
}

#[track_caller]
fn refused(name: &str, text: &str, options: &Options) -> String {
    match import(&Source::new(name, text), options) {
        Ok(imported) => panic!("taken: {}", imported.text),
        Err(why) => why.to_string(),
    }
}

#[track_caller]
fn assert_notes(imported: &Imported, expected: &[&str]) {
    for line in expected {
        let is_said = imported.notes.iter().any(|note| note.starts_with(line));
        assert!(is_said, "{line}: {:#?}", imported.notes);
    }
}
