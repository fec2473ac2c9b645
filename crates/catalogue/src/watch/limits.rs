//! What can run out, and what the threads of programs wait for.

use super::{AT_INTERFACE, AT_SERVER};
use crate::declare::metrics;
use crate::entry::Entry;
use crate::{Metric, Viewpoint};

const BY_PROGRAM: &[&str] = &["program"];
const BY_DISK: &[&str] = &["disk"];
const BY_INTERFACE: &[&str] = AT_INTERFACE.labels;
const LIKE: Entry = AT_SERVER;

metrics! { sampled like LIKE;
    PROCESSOR = "limits.processor", Gauge, Share, "Share of the time in which the processor did something.",
        labels: &["processor"];
    OUTGOING = "limits.outgoing", Gauge, Number,
        "Connections made on this host to the port, if the programs connect to it, without those to the watched ports; all ports where it is not known which sockets they have. Of sockets without a port the path that they are connected to, and of UDP udp: and the port.", labels: &["port"];
    OUTGOING_AWAITED = "limits.outgoing_awaited", Gauge, Number,
        "Of these connections, those of TCP on which the programs have sent last, and wait for what comes.",
        labels: &["port"];
    OUTGOING_KNOWN = "limits.outgoing_known", Gauge, Number,
        "Whether all is known that the programs connect to, 1 or 0: not where the kernel does not tell unix sockets, or which sockets the programs have.";
    OUTGOING_UNACCEPTED = "limits.outgoing_unaccepted", Gauge, Number,
        "Connections that wait to be accepted at the ports and paths that the programs connect to, where that is on this host.",
        labels: &["port"];
    PARTS_UNACCEPTED = "limits.parts_unaccepted", Gauge, Number,
        "The same at the ports and paths where a part of the server listens, such as the workers of PHP-FPM; what is asked there is in none of the figures above.",
        labels: &["port"];
    OTHERS = "limits.others", Gauge, Processors,
        "Processors that a program used which is not watched, of those that the watched ones may run on; of the few that used most.",
        labels: BY_PROGRAM;
    BEHIND_CRYPTOGRAPHY = "limits.behind_cryptography", Gauge, Share,
        "Of all that a program used to which the watched ones connect, the share that went to libraries of cryptography: for handshakes of TLS and what belongs to them, or for what has no name there.",
        labels: BY_PROGRAM;
    BEHIND = "limits.behind", Gauge, Processors,
        "Processors that a program used to which the watched ones connect, of those that these may run on.",
        labels: BY_PROGRAM;
    PROGRAM_PROCESSORS = "limits.program.processors", Gauge, Processors,
        "Processors that the program's processes may run on.", labels: BY_PROGRAM;
    PROGRAM_PROCESSORS_BUSY = "limits.program.processors_busy", Gauge, Share,
        "How busy these processors were in the mean, with whatever program.", labels: BY_PROGRAM;
    PROGRAM_DESCRIPTORS = "limits.program.descriptors", Gauge, Share,
        "Open descriptors over those allowed, of the process that is nearest to its limit.", labels: BY_PROGRAM;
    PROGRAM_RUNNING = "limits.program.running", Gauge, Number, "Threads that run or wait for a processor.",
        labels: BY_PROGRAM;
    PROGRAM_DISK = "limits.program.disk", Gauge, Number,
        "Threads that wait for a disk, or for memory that has to be freed.", labels: BY_PROGRAM;
    PROGRAM_LOCK = "limits.program.lock", Gauge, Number,
        "Threads that wait for each other: at a futex, a lock on a file, a semaphore.", labels: BY_PROGRAM;
    PROGRAM_FUTEX = "limits.program.futex", Gauge, Number,
        "Of these, threads that wait at a futex, most of all for others of their own process.", labels: BY_PROGRAM;
    PROGRAM_EVENT = "limits.program.event", Gauge, Number,
        "Threads that wait for an event on any of several descriptors, a new connection, or a signal.",
        labels: BY_PROGRAM;
    PROGRAM_PEER = "limits.program.peer", Gauge, Number,
        "Threads that wait for the other end of one connection to send or to take something.", labels: BY_PROGRAM;
    PROGRAM_SLEEP = "limits.program.sleep", Gauge, Number, "Threads that sleep for a time.", labels: BY_PROGRAM;
    PROGRAM_OTHER = "limits.program.other", Gauge, Number,
        "Threads that wait for something else, or for what the kernel does not tell.", labels: BY_PROGRAM;
    PROGRAM_KEPT_WAITING = "limits.program.kept_waiting", Gauge, Number,
        "Threads that were ready to run and waited for a processor, in the mean since the look before.",
        labels: BY_PROGRAM;
    PROGRAM_PART = "limits.program.part", Gauge, Processors,
        "Processors that a program used which is not asked for by name, but a part of the server: what that has started, and the applications that it asks on this host (php-fpm; what runs applications and listens at a unix socket).",
        labels: BY_PROGRAM;
    PROGRAM_BUSIEST = "limits.program.busiest", Gauge, Processors,
        "Processors that the thread used that used most since the look before.", labels: BY_PROGRAM;
    PROGRAM_COLLECTOR = "limits.program.collector", Gauge, Processors,
        "Processors that were used to collect garbage, by the names of threads or of functions.", labels: BY_PROGRAM;
    PROGRAM_HANDSHAKES = "limits.program.handshakes", Gauge, Processors,
        "Processors that were used for handshakes of TLS, by the names of functions.", labels: BY_PROGRAM;
    PROGRAM_CRYPTOGRAPHY = "limits.program.cryptography", Gauge, Processors,
        "Processors that were used in libraries of cryptography for something else, or for what has no name there.", labels: BY_PROGRAM;
    PROGRAM_STOLEN = "limits.program.stolen", Gauge, Share,
        "Share of the time in which the hypervisor ran something else on the program's processors.",
        labels: BY_PROGRAM;
    PROGRAM_CPU_QUOTA = "limits.program.cpu_quota", Gauge, Processors,
        "Processors that the quota of the control group is worth.", labels: BY_PROGRAM;
    PROGRAM_CPU_THROTTLED = "limits.program.cpu_throttled", Gauge, Share,
        "Share of the quota's periods in which the control group had to stop.", labels: BY_PROGRAM;
    PROGRAM_MEMORY_USED = "limits.program.memory_used", Gauge, Share,
        "Memory of the control group over its limit.", labels: BY_PROGRAM;
    PROGRAM_MEMORY_REFAULTS = "limits.program.memory_refaults", Gauge, PerSecond,
        "Pages that the control group had to give up and needed again.", labels: BY_PROGRAM;
    PROGRAM_IO_USED = "limits.program.io_used", Gauge, Share,
        "What disks did for the control group over what they may, of the limit that is nearest.",
        labels: BY_PROGRAM;
    DISK_BUSY = "limits.disk.busy", Gauge, Share, "Share of the time with a request under way.", labels: BY_DISK;
    DISK_REQUESTS = "limits.disk.requests", Gauge, Number, "Requests under way, in the mean.", labels: BY_DISK;
    QUEUE_WAITING = "limits.queue.waiting_bytes", Gauge, Bytes,
        "Bytes that wait in the queueing discipline of the interface.",
        labels: BY_INTERFACE, viewpoint: Viewpoint::Network;
    QUEUE_DROPS = "limits.queue.drops", Gauge, PerSecond,
        "Packets for which the queueing discipline had no room.",
        labels: BY_INTERFACE, viewpoint: Viewpoint::Network;
    QUEUE_OVERLIMITS = "limits.queue.overlimits", Gauge, PerSecond,
        "How often something had to wait for the rate of the queueing discipline.",
        labels: BY_INTERFACE, viewpoint: Viewpoint::Network;
    SOCKETS_UNACCEPTED = "limits.sockets.unaccepted", Gauge, Number,
        "Connections that wait to be accepted on the watched ports.";
    SOCKETS_ROOM = "limits.sockets.room", Gauge, Number,
        "Connections that may wait to be accepted on the watched ports.";
    SOCKETS_IDLE = "limits.sockets.idle", Gauge, Number,
        "Accepted connections of the watched ports on which the server owes nothing: what was sent last, the server sent, or nothing was.";
    SOCKETS_OWED = "limits.sockets.owed", Gauge, Number,
        "Accepted connections of the watched ports on which something came after the last that the server sent.";
    SOCKETS_UNATTENDED = "limits.sockets.unattended", Gauge, Number,
        "Of these, connections with something that the program has not read.";
    SOCKETS_WINDOW_LIMITED = "limits.sockets.window_limited", Gauge, Share,
        "Of the time in which the connections of the watched ports had something to send, the share in which the receiver's window kept it back.";
    SOCKETS_SEGMENTS = "limits.sockets.segments", Gauge, PerSecond,
        "Segments sent, without those that were sent again, as the kernel's TCP counts them.";
    SOCKETS_SENT = "limits.sockets.sent_bytes", Gauge, BytesPerSecond,
        "Bytes sent on connections of the watched ports that are there, those that were sent again included.";
    SOCKETS_SENT_AGAIN = "limits.sockets.sent_again_bytes", Gauge, BytesPerSecond,
        "Of these, what was sent again.";
    SOCKETS_UNREAD = "limits.sockets.unread", Gauge, Number,
        "Connections of the watched ports with something to be read.";
    SOCKETS_UNSENT = "limits.sockets.unsent_bytes", Gauge, Bytes,
        "Bytes on the watched ports that clients do not have yet.";
    SOCKETS_TIME_WAIT = "limits.sockets.time_wait", Gauge, Number, "Connections in TIME_WAIT.";
    SOCKETS_PORTS_USED = "limits.sockets.ports_used", Gauge, Share,
        "Local ports in use, over those that there are, of the address with the most.";
    LISTEN_OVERFLOWS = "limits.sockets.listen_overflows", Gauge, PerSecond,
        "Connections that found a listen queue full, as the kernel's TCP counts them.";
    LISTEN_DROPS = "limits.sockets.listen_drops", Gauge, PerSecond,
        "Connections that a listening socket dropped, as the kernel's TCP counts them.";
    SYN_QUEUE_FULL = "limits.sockets.syn_queue_full", Gauge, PerSecond,
        "SYNs that found the SYN queue full, as the kernel's TCP counts them.";
    RETRANSMITS = "limits.sockets.retransmits", Gauge, PerSecond,
        "Segments sent again, as the kernel's TCP counts them.";
    SYN_RETRANSMITS = "limits.sockets.syn_retransmits", Gauge, PerSecond,
        "SYNs and SYN-ACKs sent again, as the kernel's TCP counts them.";
}

/// Of these a value is that of the moment of a look; of all others that of the time since the look before.
pub const OF_A_MOMENT: &[Metric] = &[
    OUTGOING,
    OUTGOING_AWAITED,
    OUTGOING_KNOWN,
    OUTGOING_UNACCEPTED,
    PARTS_UNACCEPTED,
    PROGRAM_CPU_QUOTA,
    PROGRAM_DESCRIPTORS,
    PROGRAM_DISK,
    PROGRAM_EVENT,
    PROGRAM_FUTEX,
    PROGRAM_LOCK,
    PROGRAM_MEMORY_USED,
    PROGRAM_OTHER,
    PROGRAM_PEER,
    PROGRAM_PROCESSORS,
    PROGRAM_RUNNING,
    PROGRAM_SLEEP,
    QUEUE_WAITING,
    SOCKETS_IDLE,
    SOCKETS_OWED,
    SOCKETS_PORTS_USED,
    SOCKETS_ROOM,
    SOCKETS_TIME_WAIT,
    SOCKETS_UNACCEPTED,
    SOCKETS_UNATTENDED,
    SOCKETS_UNREAD,
    SOCKETS_UNSENT,
];
