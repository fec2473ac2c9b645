//! [`Queue`]: what waits in front of an interface until it may go (tc(8)).

use std::collections::BTreeMap;

use crate::netlink::{Netlink, attributes, u32_at};

/// The queueing discipline at the root of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Queue {
    /// Bytes that wait.
    pub waiting_bytes: u64,
    /// Packets for which there was no room, since it is there.
    pub drops: u64,
    /// How often something had to wait because the interface had its full rate; of those that have one.
    pub overlimits: u64,
}

/// From `linux/rtnetlink.h`, `linux/pkt_sched.h` and `linux/gen_stats.h`.
mod kernel {
    pub(super) const RTM_GETQDISC: u16 = 38;
    /// `struct tcmsg`: the family, the interface's number, the handle and its parent.
    pub(super) const TCMSG: usize = 20;
    pub(super) const TC_H_ROOT: u32 = u32::MAX;
    pub(super) const TCA_STATS2: u16 = 7;
    pub(super) const TCA_STATS_QUEUE: u16 = 3;
    /// `struct gnet_stats_queue`: packets, bytes, drops, requeues, overlimits.
    pub(super) const BACKLOG: usize = 4;
    pub(super) const DROPS: usize = 8;
    pub(super) const OVERLIMITS: usize = 16;
}

/// By interface; empty where the kernel does not tell.
pub(super) fn read(netlink: &mut Netlink) -> BTreeMap<String, Queue> {
    let mut queues = Vec::new();
    // What was told before an error is as good as all.
    let _ = netlink.list(kernel::RTM_GETQDISC, &[0; kernel::TCMSG], |element| queues.extend(parse(element)));
    let named = queues.into_iter().filter_map(|(number, queue)| Some((netlink.interface(number)?, queue)));
    named.collect()
}

fn parse(element: &[u8]) -> Option<(u32, Queue)> {
    let (interface, parent) = (u32_at(element, 4)?, u32_at(element, 12)?);
    if parent != kernel::TC_H_ROOT {
        return None;
    }
    let (_, statistics) =
        attributes(element.get(kernel::TCMSG..)?).find(|(kind, _)| *kind == kernel::TCA_STATS2)?;
    let (_, queue) = attributes(statistics).find(|(kind, _)| *kind == kernel::TCA_STATS_QUEUE)?;
    let number = |at| u32_at(queue, at).map(u64::from);
    let [waiting_bytes, drops, overlimits] =
        [number(kernel::BACKLOG)?, number(kernel::DROPS)?, number(kernel::OVERLIMITS)?];
    Some((interface, Queue { waiting_bytes, drops, overlimits }))
}
