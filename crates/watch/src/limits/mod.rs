//! What can run out, and what the programs' threads wait for: each processor, the programs' descriptors and control
//! groups, disks, the queues in front of interfaces, local ports, and data that lies in sockets.
//!
//! Where the other groups say how much was done, this one says how near it is to what can be done (utilisation,
//! saturation and errors after Gregg, "Systems Performance", section 2.5.9). All of it is read from `/proc`,
//! `/sys/fs/cgroup` and netlink.

mod control_groups;
mod descriptors;
mod made;
mod metrics;
mod others;
mod proc;
mod queues;
mod sample;
mod sockets;
mod threads;
mod turns;
mod unix;

pub use control_groups::{ControlGroup, CpuLimit, IoLimit, MemoryLimit};
pub use metrics::{Rates, rates};
pub use others::Other;
pub use proc::Proc;
pub use queues::Queue;
pub use sample::{Disk, Processor, Program, Sample};
pub use sockets::Sockets;
pub use threads::{ThreadTime, ThreadTimes, Threads, Wait};
