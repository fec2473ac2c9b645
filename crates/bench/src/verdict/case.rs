//! [`Case`]: a cause that is planted.

/// A cause, planted on a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) cause: &'static str,
    pub(super) server: &'static str,
    /// What of the spec is different on this server.
    pub(super) settings: &'static [&'static str],
}

const fn case(cause: &'static str, server: &'static str, settings: &'static [&'static str]) -> Case {
    Case { cause, server, settings }
}

/// nginx has no lock that requests wait for.
pub(super) const CASES: [Case; 26] = [
    case("server-cpu", "nginx", &[]),
    case("server-cpu", "apache", &[]),
    case("cpu-quota", "nginx", &[]),
    case("cpu-quota", "apache", &[]),
    case("client", "nginx", &[]),
    case("client", "apache", &[]),
    case("network", "nginx", &[]),
    case("network", "apache", &[]),
    case("disk", "nginx", &[]),
    case("disk", "apache", &[]),
    // It has but one process, which needs less itself.
    case("memory", "nginx", &["cgroup.memory=20MB", "cgroup.reads=100"]),
    case("memory", "apache", &[]),
    case("accept-queue", "nginx", &[]),
    case("accept-queue", "apache", &[]),
    case("worker-limit", "apache", &["server.backend-workers=64"]),
    case("worker-limit", "origin", &[]),
    // Its workers have many connections each; a request takes two.
    case(
        "worker-limit",
        "nginx",
        &["server.workers=1", "server.backend-workers=64", "server.directives.worker_connections=32"],
    ),
    // Processes of prefork have one connection each.
    case("fd-limit", "nginx", &[]),
    case("fd-limit", "apache", &["server.mpm=event"]),
    case("ephemeral-ports", "nginx", &[]),
    // With 150 workers, which is what it has otherwise, these would be taken before the ports.
    case("ephemeral-ports", "apache", &["server.workers=300"]),
    case("back-end", "nginx", &[]),
    case("back-end", "apache", &[]),
    case("serialization", "apache", &[]),
    case("none", "nginx", &[]),
    case("none", "apache", &[]),
];
