//! [`Sample`]: what there is of everything that can run out, and what is used of it, at one moment.

use std::collections::BTreeMap;

use units::Span;

use super::control_groups::ControlGroup;
use super::queues::Queue;
use super::sockets::Sockets;
use super::threads::Threads;

/// Everything at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// Since the machine was started.
    pub uptime: Span,
    /// By number: the time in which it did something, and all of its time.
    pub processors: BTreeMap<usize, (Span, Span)>,
    /// In the order in which they were asked for.
    pub programs: Vec<Program>,
    /// By name.
    pub disks: BTreeMap<String, Disk>,
    /// What waits in front of each interface.
    pub queues: BTreeMap<String, Queue>,
    /// All sockets of this network namespace.
    pub sockets: Sockets,
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
