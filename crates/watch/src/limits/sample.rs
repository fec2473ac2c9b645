//! [`Sample`]: what there is of everything that can run out, and what is used of it, at one moment.

use std::collections::BTreeMap;

use units::Span;

use super::control_groups::ControlGroup;
use super::others::Other;
use super::queues::Queue;
use super::sockets::Sockets;
use super::threads::{ThreadTimes, Threads};
use crate::profile::Spent;

/// Everything at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// Since the machine was started.
    pub uptime: Span,
    /// By number.
    pub processors: BTreeMap<usize, Processor>,
    /// In the order in which they were asked for.
    pub programs: Vec<Program>,
    /// By name, what else is a part of the server: what these have started, and the applications that they ask.
    pub parts: BTreeMap<String, Program>,
    /// By name, what those that these ask were seen to do; nothing where that cannot be sampled.
    pub behind: BTreeMap<String, Spent>,
    /// By its number, each other process.
    pub others: BTreeMap<i32, Other>,
    /// By name.
    pub disks: BTreeMap<String, Disk>,
    /// What waits in front of each interface.
    pub queues: BTreeMap<String, Queue>,
    /// All sockets of this network namespace.
    pub sockets: Sockets,
}

/// A processor since the machine was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Processor {
    /// The time in which it did something; that it was the hypervisor's is part of it.
    pub busy: Span,
    /// The time in which the hypervisor had it.
    pub stolen: Span,
    /// All of its time.
    pub all: Span,
}

/// All processes of one program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// Numbers of the processors that they may run on; none when there is no process.
    pub processors: Vec<usize>,
    /// Of the process that has used up most of them: descriptors that are open, over those that may be.
    pub descriptors: f64,
    /// What their threads do.
    pub threads: Threads,
    /// What the scheduler has given these; empty where the kernel does not keep it.
    pub times: ThreadTimes,
    /// What they were seen to do; nothing where that cannot be sampled.
    pub spent: Option<Spent>,
    /// What their control group allows, and has been made to wait; of the first process.
    pub group: ControlGroup,
}

/// A disk since the machine was started.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Disk {
    /// The time in which a request was under way.
    pub busy: Span,
    /// The sum of all requests' times.
    pub waited: Span,
}
