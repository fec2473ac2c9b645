//! What can be watched on this machine, by what mechanism, and what is lost where the best is not to be had.

use units::Bytes;

use crate::addresses::Addresses;
use crate::bpf::layout::Layout;
use crate::bpf::runs::Measuring;
use crate::{Error, connections, counts, kernel, processes, requests};

/// A mechanism that was tried.
#[derive(Debug)]
pub struct Finding {
    /// What was tried.
    pub mechanism: &'static str,
    /// The version of Linux and the options of its configuration that it needs, besides root.
    pub needs: &'static str,
    /// Why it does not work.
    pub refused: Option<Error>,
    /// What is lost without it.
    pub lost: &'static str,
}

/// Tries everything, and leaves nothing behind.
pub fn examine() -> Vec<Finding> {
    let finding =
        |mechanism, needs, refused: Option<Error>, lost| Finding { mechanism, needs, refused, lost };
    vec![
        finding(
            "the kernel's type information (BTF)",
            "CONFIG_DEBUG_INFO_BTF",
            Layout::read().err(),
            "all programs in the kernel: everything is read from /proc",
        ),
        finding(
            "a program for the kernel's figures",
            "Linux 5.17 (bpf_loop)",
            kernel::Traced::open().err(),
            "nothing but time: /proc gives the same for many times the cost",
        ),
        finding(
            "a program for processes",
            "Linux 5.17 (bpf_loop)",
            processes::Traced::open(&["headworks"]).err(),
            "what processes use between the last look at them and their end; /proc costs many times as much",
        ),
        finding(
            "a program for connections",
            "Linux 5.14",
            connections::Traced::open(&[80]).err(),
            "room and drops of listen queues; /proc has a line for each connection, which takes long when they are many",
        ),
        finding(
            "programs that count requests",
            "Linux 6.16 (tracepoint tcp_sendmsg_locked), or 5.18 with CONFIG_FUNCTION_TRACER and a way for programs to functions (fentry)",
            counts::Traced::open(&Addresses::at_port(80), &[Bytes(50_000)], 0, &[]).err(),
            "counts: rates are estimates from windows, with an interval",
        ),
        finding(
            "programs that count requests at unix sockets",
            "Linux 6.16 (tracepoint tcp_sendmsg_locked), or 5.18 with CONFIG_FUNCTION_TRACER and a way for programs to functions (fentry)",
            counts::Traced::open(&Addresses::at_socket("@headworks"), &[Bytes(50_000)], 0, &[]).err(),
            "--socket: nothing is known of requests that come to unix sockets",
        ),
        finding(
            "programs that follow requests",
            "Linux 6.3 (tracepoints for what is received and sent), or 5.18 with CONFIG_FUNCTION_TRACER and a way for programs to functions (fentry)",
            requests::try_out(requests::AttachPoint::Kernel).err(),
            "what requests cost and where their time goes: there is no other way to see that",
        ),
        finding(
            "probes in a server's binary",
            "CONFIG_UPROBES",
            requests::try_out(requests::AttachPoint::Binary).err(),
            "when headers of Apache's and nginx's requests have been parsed: they are followed by what they receive and send",
        ),
        finding(
            "the run time of programs, as the kernel measures it",
            "Linux 5.8",
            Measuring::begin().err(),
            "budgets: requests can be followed with --budget none only",
        ),
    ]
}
