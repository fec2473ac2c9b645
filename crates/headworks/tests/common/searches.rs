//! Searches for a knee, on machines that do other things as well.

use std::process::Output;

/// What a generator says that was held up by what else the machine does.
const NOT_VALID: Option<i32> = Some(4);
const TRIES: usize = 3;

/// Makes a search, again a few times, until what it found is as `expected` says, and gives what that makes of it. On a
/// machine that never leaves the generator in peace there is nothing to judge, which is said. One at a time: they would
/// disturb each other.
#[track_caller]
pub(crate) fn judged<T>(
    mut search: impl FnMut() -> Output,
    expected: impl Fn(&Output) -> Result<T, String>,
) -> Option<T> {
    let _alone = testkit::alone();
    let mut last = None;
    for _ in 0..TRIES {
        let output = search();
        if output.status.code() == NOT_VALID {
            continue;
        }
        match expected(&output) {
            Ok(found) => return Some(found),
            Err(why) => last = Some(why),
        }
    }
    assert!(last.is_none(), "{}", last.unwrap_or_default());
    eprintln!("not judged: in {TRIES} searches the machine never left the generator in peace");
    None
}

/// What is expected, or what was said instead.
pub(crate) fn expect(holds: bool, said: impl std::fmt::Display) -> Result<(), String> {
    if holds { Ok(()) } else { Err(said.to_string()) }
}
