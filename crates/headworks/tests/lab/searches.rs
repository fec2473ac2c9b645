//! Searches for a capacity and its cause, on machines that do other things as well: how many of them are right.

use std::process::Output;

use testkit::Machine;

/// What a generator says that was held up by what else the machine does.
const NOT_VALID: Option<i32> = Some(4);
/// How often such a search is made again before it is given up.
const MAX_NOT_VALID: usize = 3;

/// How many searches have to be right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) right: usize,
    /// Of so many in which the generator kept up.
    pub(crate) of: usize,
}

/// Two of three, unless the first is right: one may be held up by what else the machine does, and not notice.
pub(crate) const TWO_OF_THREE: Expected = Expected { right: 2, of: 3 };

/// Makes searches and counts those that are as `is_right` says: one that is right at once is enough, and after one that is
/// wrong as many have to be right as are expected. Gives what the last one that is right makes of it. The count is
/// listed at the end of `make test`. On a machine that never leaves the generator in peace there is nothing to judge,
/// and the test is skipped. The machine is held until it is judged.
#[track_caller]
pub(crate) fn judged<T>(
    _machine: Machine,
    expected: Expected,
    mut search: impl FnMut() -> Output,
    is_right: impl Fn(&Output) -> Result<T, String>,
) -> Option<T> {
    let Expected { right, of } = expected;
    let (mut found, mut wrong, mut not_valid) = (Vec::new(), Vec::new(), 0);
    let is_enough = |found: usize, wrong: usize| found >= right || (found > 0 && wrong == 0);
    while !is_enough(found.len(), wrong.len()) && wrong.len() <= of - right && not_valid < MAX_NOT_VALID {
        let output = search();
        if output.status.code() == NOT_VALID {
            not_valid += 1;
            continue;
        }
        match is_right(&output) {
            Ok(is) => found.push(is),
            Err(why) => wrong.push(why),
        }
    }
    let made = found.len() + wrong.len();
    let count =
        format!("{} of {made} searches were right; all, or {right} of {of}, are expected", found.len());
    testkit::tell(&count);
    assert!(wrong.len() <= of - right, "{count}; those that are wrong: {}", wrong.join("\n"));
    if !is_enough(found.len(), wrong.len()) {
        testkit::skip_here(&format!(
            "{count}; in {not_valid} the machine did not leave the generator in peace"
        ));
    }
    found.pop()
}

/// What is expected, or what was said instead.
pub(crate) fn expect(holds: bool, said: impl std::fmt::Display) -> Result<(), String> {
    if holds { Ok(()) } else { Err(said.to_string()) }
}
