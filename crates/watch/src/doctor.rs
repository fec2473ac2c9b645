//! What can be watched on this machine, by what mechanism, and what is lost where the best is not to be had.

use crate::bpf::layout::Layout;
use crate::bpf::runs::Measuring;
use crate::{Error, connections, kernel, processes, requests};

/// A mechanism that was tried.
#[derive(Debug)]
pub struct Finding {
    /// What was tried.
    pub mechanism: &'static str,
    /// Why it does not work.
    pub refused: Option<Error>,
    /// What is lost without it.
    pub lost: &'static str,
}

/// Tries everything, and leaves nothing behind.
pub fn examine() -> Vec<Finding> {
    let finding = |mechanism, refused: Option<Error>, lost| Finding { mechanism, refused, lost };
    vec![
        finding(
            "the kernel's type information (BTF)",
            Layout::read().err(),
            "all programs in the kernel: everything is read from /proc",
        ),
        finding(
            "a program for the kernel's figures",
            kernel::Traced::open().err(),
            "nothing but time: /proc gives the same for many times the cost",
        ),
        finding(
            "a program for processes",
            processes::Traced::open(&["headworks"]).err(),
            "what processes use between the last look at them and their end; /proc costs many times as much",
        ),
        finding(
            "a program for connections",
            connections::Traced::open(&[80]).err(),
            "room and drops of listen queues; /proc has a line for each connection, which takes long when they are many",
        ),
        finding(
            "programs that follow requests",
            requests::try_out(requests::AttachPoint::Kernel).err(),
            "all about requests: there is no other way to see them",
        ),
        finding(
            "probes in a server's binary",
            requests::try_out(requests::AttachPoint::Binary).err(),
            "when headers of Apache's and nginx's requests have been parsed: they are followed by what they receive and send",
        ),
        finding(
            "the run time of programs, as the kernel measures it",
            Measuring::begin().err(),
            "budgets: requests can be followed with --budget none only",
        ),
    ]
}
