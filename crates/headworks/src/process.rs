//! What is known of this process outside of it: its name, and the command line that started it.

use std::ffi::CStr;

/// What the kernel calls this process from now on, and its threads to come: a server is not to be taken for the
/// generator, or the monitor.
pub(crate) fn rename(name: &CStr) {
    // A name is no more than a help.
    let _ = rustix::thread::set_name(name);
}

/// The command line as it goes into a record: by the program's name, wherever it is installed, so
/// that it can be repeated elsewhere.
pub(crate) fn command_line() -> Vec<String> {
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("headworks".to_owned()).chain(arguments).collect()
}
