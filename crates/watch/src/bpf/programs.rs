//! What is done with programs in the kernel: a place for them, running them, reading what they write.

#![allow(unsafe_code, reason = "the kernel writes to memory that is shared with it")]

use std::mem::MaybeUninit;
use std::ptr;

use libbpf_rs::{OpenObject, ProgramInput, ProgramMut};

use crate::error::Error;

/// A place for a program that stays loaded as long as the process runs, or until it is dropped: its types
/// borrow the place, which is a pointer.
pub(crate) fn place() -> &'static mut MaybeUninit<OpenObject> {
    Box::leak(Box::new(MaybeUninit::uninit()))
}

/// Runs a program of the kind that is called like a function.
pub(crate) fn run(program: &ProgramMut<'_>, what: &'static str) -> Result<(), Error> {
    program.test_run(ProgramInput::default()).map(drop).map_err(Error::bpf(what))
}

/// Reads what a program writes. It may do so at any moment, so that a value that was read before is not to be used again.
pub(crate) fn peek<T: Copy>(at: &T) -> T {
    // SAFETY: `at` is a reference, so it is valid and aligned; the kernel writes only whole words.
    unsafe { ptr::read_volatile(at) }
}
