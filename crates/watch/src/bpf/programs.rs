//! What is done with programs in the kernel: a place for them, running them, reading what they write, detaching them.

#![allow(unsafe_code, reason = "the kernel writes to memory that is shared with it")]

use std::io::Read as _;
use std::mem::MaybeUninit;
use std::{ptr, thread};

use libbpf_rs::{Iter, Link, OpenObject, ProgramInput, ProgramMut};

use units::Span;

use crate::clock;
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

/// Runs a program of the kind that the kernel calls for one thing after the other. It prints nothing; to read is what
/// makes it run.
pub(crate) fn walk(walk: &Link, what: &'static str) -> Result<(), Error> {
    let mut each = Iter::new(walk).map_err(Error::bpf(what))?;
    each.read_to_end(&mut Vec::new()).map_err(|why| Error::bpf(what)(why.into()))?;
    Ok(())
}

/// For each the kernel waits until no processor is in it any more, which takes long on one that many want; so it waits
/// for all of them together, or for one after the other where there is no thread to be had. What of the processor's time
/// that took in other threads.
pub(crate) fn detach_at_once(links: impl Iterator<Item = Link>) -> Span {
    let detach = |link: Link| {
        drop(link);
        clock::thread()
    };
    thread::scope(|threads| {
        let detached = links.filter_map(|link| {
            // With the thread goes what it was to drop.
            thread::Builder::new().spawn_scoped(threads, move || detach(link)).ok()
        });
        let detached: Vec<_> = detached.collect();
        detached.into_iter().filter_map(|thread| thread.join().ok()).fold(Span::ZERO, |sum, used| sum + used)
    })
}

/// Reads what a program writes. It may do so at any moment, so that a value that was read before is not to be used again.
pub(crate) fn peek<T: Copy>(at: &T) -> T {
    // SAFETY: `at` is a reference, so it is valid and aligned; the kernel writes only whole words.
    unsafe { ptr::read_volatile(at) }
}
