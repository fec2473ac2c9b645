//! What to do about a bottleneck, and what is to be expected then.

use catalogue::watch::limits;
use record::search::{Resource, Used};

use super::level::Level;
use super::signs::is_limit_of_group;

/// What to do when it is the bottleneck, as it is at `level`, and what would be next.
pub(super) fn next(resource: Resource, level: &Level) -> Vec<String> {
    [Some(remedy(resource, level)), nearest(resource, level)].into_iter().flatten().collect()
}

/// What to do when it is the bottleneck, as it is at `level`.
pub(super) fn remedy(resource: Resource, level: &Level) -> String {
    let places =
        level.most(limits::SOCKETS_ROOM).map_or_else(String::new, |room| format!(" of {room:.0} places"));
    let said = match resource {
        Resource::AcceptQueue => {
            return format!(
                "Lengthen the listen queue{places}: the server's backlog (Apache: ListenBacklog; nginx: listen .. backlog=), and net.core.somaxconn, which bounds it."
            );
        }
        Resource::SynQueue => {
            return format!(
                "Lengthen the SYN queue: it is no longer than the listen queue{places}, so the server's backlog first (Apache: ListenBacklog; nginx: listen .. backlog=), then net.core.somaxconn and net.ipv4.tcp_max_syn_backlog, which bound it."
            );
        }
        Resource::Disk if is_limit_of_group(level) => {
            "Raise what the control group may ask of the disk (io.max; blkio.throttle of version 1), or read less from it (more memory for its cache, smaller content). A faster disk would not help."
        }
        Resource::None => "Offer more, to find what breaks first.",
        Resource::WorkerLimit if level.refused.connections.is_some() => {
            "Raise worker_connections. A request that is passed on takes two: one from the client, and one to what stands behind."
        }
        Resource::WorkerLimit => {
            "Give the server more workers (Apache: MaxRequestWorkers; PHP-FPM: pm.max_children; gunicorn: --workers, --threads; Java: threads of its executor), or have each held for less time (keep-alive, buffering in front, a quicker answer of what they wait for)."
        }
        Resource::ServerCpu => "Make requests cheaper (caching, logging, modules), or add processors.",
        Resource::BackEnd => {
            "It is not this server that has no more, but what it asks: look at that in the same way (headworks lab capacity against it alone, or headworks watch at its port), give it more, or ask it less (a cache, fewer questions for each request)."
        }
        Resource::Serialization => {
            "Find the lock that workers wait for (strace -f -T -p PID shows calls that wait, and on what), and hold it for less time; neither more processors nor more workers help."
        }
        Resource::Disk => {
            "Read less from the disk (more memory for its cache, smaller content), or get a faster one."
        }
        Resource::Memory => {
            "Give the server more memory: what it reads does not fit, so that it is read again and again."
        }
        Resource::CpuQuota => "Raise the quota of the control group (cpu.max); processors are idle.",
        Resource::Network => "Send less (compression, caching at clients), or get a faster link.",
        Resource::FdLimit => "Raise the limit of descriptors (ulimit -n, LimitNOFILE, worker_rlimit_nofile).",
        Resource::EphemeralPorts if level.summary.client.without_port == 0 => {
            "Have the server keep its connections to what stands behind it (nginx: keepalive in upstream; Apache: enablereuse), widen its net.ipv4.ip_local_port_range, or give it more addresses."
        }
        Resource::EphemeralPorts => {
            "Keep connections open, widen net.ipv4.ip_local_port_range, or use more addresses."
        }
        Resource::Client => "Give the generator processors of its own, more threads, or another machine.",
        Resource::Alternating => "Lift one of them, and measure again.",
        other => of_application(other),
    };
    said.to_owned()
}

/// Of what is in the application, beside the server, or on the way to it.
fn of_application(resource: Resource) -> &'static str {
    match resource {
        Resource::KeptConnections => {
            "Give connections back sooner (Apache: KeepAliveTimeout; gunicorn: --keep-alive; PHP's and Java's servers have the like), put something in front that keeps them (nginx, HAProxy), or let workers wait for many at a time (Apache: mpm_event; gunicorn: gthread)."
        }
        Resource::ApplicationLock => {
            "Find the lock (perf trace -s, or a profiler that shows where threads wait), and hold it for less time, or give each worker its own; an interpreter that runs one thread at a time (Python) needs more processes instead of threads."
        }
        Resource::ApplicationPool => {
            "Enlarge the pool (connections to the database, or whatever has so many places), or hold each for less time; first see that what is behind it can serve more at once."
        }
        Resource::EventLoop => {
            "Run more processes of it (Node: cluster; nginx: worker_processes; Python: --workers), or take what keeps its thread out of the loop (a worker thread, an asynchronous call)."
        }
        Resource::NameLookup => {
            "Keep the answers (a resolver on this machine, or addresses in the configuration), or look up once, at start."
        }
        Resource::Tls => {
            "Have connections kept and sessions resumed, by clients and towards what the server asks; use an ECDSA certificate instead of RSA; or end TLS elsewhere."
        }
        Resource::GarbageCollection => {
            "Give the runtime more memory (Java: -Xmx; Node: --max-old-space-size; Go: GOGC, GOMEMLIMIT), or make less garbage for each request."
        }
        Resource::OtherProgram => {
            "Move the other program to other processors or another machine (taskset, cpuset), give it less (nice, cpu.weight, cpu.max), or run it at another time."
        }
        Resource::Steal => {
            "Ask who runs the machine for processors of its own, or move; nothing on this machine helps."
        }
        Resource::PacketLoss => {
            "Find where packets are lost (ethtool -S, tc -s qdisc, mtr), a bad link or a queue that is too short, and mend that."
        }
        Resource::RateLimit => {
            "Raise the limit if the server can carry more (nginx: limit_req, limit_conn; the application's own; what stands in front): nothing else is at its end."
        }
        _ => "",
    }
}

const AT_ITS_END: f64 = 0.95;
/// Of less than this share nothing can be said of where its end is.
const TOLD: f64 = 0.1;

/// What comes nearest to its end after it, without what only waits for it.
fn nearest(resource: Resource, level: &Level) -> Option<String> {
    let used = level.used();
    let others =
        used.iter().filter_map(|(name, share)| Some((Used::named(name)?, *share))).filter(|(of, share)| {
            // What is at its end as well waits for it, or is what it takes.
            let is_other = of.resource() != resource && *share < AT_ITS_END;
            is_other && !of.resource().is_generators() && *of != Used::ListenQueue
        });
    let (of, share) = others.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let achieved = level.summary.rate.achieved;
    let then = (of.is_proportional() && (TOLD..1.0).contains(&share) && achieved > 0.0).then(|| {
        let most = achieved / share;
        format!(" Unless something else comes first, that sets the limit then, at about {most:.0}/s.")
    });
    let is_one = !resource.is_generators() && resource != Resource::Alternating;
    is_one.then(|| {
        format!(
            "Measure again then. Nearest to its end besides: {}, {:.0} % at {achieved:.0}/s.{}",
            of.name(),
            share * 100.0,
            then.unwrap_or_default()
        )
    })
}
