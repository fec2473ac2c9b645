//! [`Network`]: a network namespace for the server and one for the generator, and a link between them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tempfile::TempDir;
use units::Ratio;

use crate::cpus::Cpus;
use crate::directory::directory;
use crate::error::Error;
use crate::pinning::Pinning;
use crate::process::Process;
use crate::program::program;
use crate::resources::{Link, Sysctl};
use crate::run;
use crate::stop::Stop;

/// Addresses at the two ends of the link (RFC 2544: for tests of this kind).
pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const GENERATOR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
/// What it is called at both ends.
const LINK: &str = "hw0";
/// A packet waits no longer in front of the link than this; then it is dropped.
const MAX_QUEUEING: &str = "100ms";
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// A script that loses a share of what arrives, where who sent it cannot see it (nft(8), "numgen").
fn lose(share: Ratio) -> String {
    const PARTS: f64 = 10_000.0;
    let lost = (share.as_f64() * PARTS).round();
    let rule = format!("iifname {LINK} numgen random mod {PARTS} < {lost} drop");
    format!(
        "nft 'table inet headworks {{ chain arriving {{ type filter hook input priority 0; {rule}; }}; }}'"
    )
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    Server,
    Generator,
}

/// Two namespaces that are there as long as this is, or anything runs in them.
#[derive(Debug)]
pub(crate) struct Network {
    server: Process,
    generator: Process,
    _logs: TempDir,
}

impl Network {
    pub(crate) fn build(link: &Link, stop: &Stop) -> Result<Self, Error> {
        if !rustix::process::geteuid().is_root() {
            return Err(Error::Unavailable(
                "network namespaces need root; start this as root, or set testbed.kind to \"host\""
                    .to_owned(),
            ));
        }
        let tools = ["ip", "tc", "unshare", "nsenter", "nft"];
        let needed = if link.loss.is_some() { &tools[..] } else { &tools[..4] };
        for tool in needed {
            let package = match *tool {
                "ip" | "tc" => "iproute2",
                "nft" => "nftables",
                _ => "util-linux",
            };
            program(tool).ok_or_else(|| Error::Missing { program: (*tool).to_owned(), package })?;
        }
        let logs = directory()?;
        let network = Self {
            server: namespace(&logs.path().join("server.log"), stop)?,
            generator: namespace(&logs.path().join("generator.log"), stop)?,
            _logs: logs,
        };
        let end = network.generator.id();
        network.run(
            Side::Server,
            &format!("ip link set lo up && ip link add {LINK} type veth peer name {LINK} netns {end}"),
        )?;
        network.run(Side::Generator, "ip link set lo up")?;
        for (side, address) in [(Side::Server, SERVER), (Side::Generator, GENERATOR)] {
            network.run(side, &format!("ip address add {address}/24 dev {LINK} && ip link set {LINK} up"))?;
            if let Some(bits) = link.rate {
                // Enough for what arrives between two ticks of the kernel's clock, and for a whole segment.
                let burst = (bits / 8 / 100).max(65_536);
                let limit = format!("rate {bits}bit burst {burst} latency {MAX_QUEUEING}");
                network.run(side, &format!("tc qdisc add dev {LINK} root tbf {limit}"))?;
            }
            if let Some(loss) = link.loss {
                network.run(side, &lose(loss))?;
            }
        }
        for setting in &link.sysctls {
            network.set(Side::Server, setting)?;
        }
        for setting in &link.generator_sysctls {
            network.set(Side::Generator, setting)?;
        }
        Ok(network)
    }

    /// Words that run what follows them on this side.
    pub(crate) fn enter(&self, side: Side) -> Vec<OsString> {
        let process = match side {
            Side::Server => &self.server,
            Side::Generator => &self.generator,
        };
        vec!["nsenter".into(), format!("--net={}", file(process.id())).into()]
    }

    /// Does what connects to `authority` on the side that can reach it: each has a loopback interface of its own.
    pub(crate) fn reach<T: Send>(
        &self,
        authority: &str,
        ask: impl FnOnce() -> Option<T> + Send,
    ) -> Option<T> {
        let is_beside_server = authority.starts_with(&Ipv4Addr::LOCALHOST.to_string());
        let side = if is_beside_server { &self.server } else { &self.generator };
        let namespace = File::open(file(side.id())).ok()?;
        // A namespace belongs to a thread, so that this one needs no way back.
        std::thread::scope(|scope| {
            let ask = move || {
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).ok()?;
                ask()
            };
            scope.spawn(ask).join().ok().flatten()
        })
    }

    fn run(&self, side: Side, script: &str) -> Result<(), Error> {
        let words = self.enter(side);
        let [nsenter, net] = &words[..] else { return Ok(()) };
        let mut command = Command::new(nsenter);
        // Where `program` looks as well.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/sbin:/usr/bin")).arg(net).args(["sh", "-c", script]);
        match run::output("network", &mut command)? {
            (_, status) if status.success() => Ok(()),
            (said, _) => Err(Error::Unavailable(format!("`{script}` failed: {said}"))),
        }
    }

    fn set(&self, side: Side, Sysctl { name, value }: &Sysctl) -> Result<(), Error> {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        self.run(side, &format!("[ -e '{file}' ] && echo '{value}' >'{file}'")).map_err(|_| {
            let is_known = Path::new(&file).exists();
            let why = if is_known {
                "does not take that value, or is not a setting of a network namespace"
            } else {
                "has no such setting"
            };
            Error::Unavailable(format!("sysctl {name} = \"{value}\": the kernel {why}"))
        })
    }
}

fn file(id: u32) -> String {
    format!("/proc/{id}/ns/net")
}

/// A namespace of its own, and a process that does nothing but hold it.
fn namespace(log: &Path, stop: &Stop) -> Result<Process, Error> {
    let anywhere = Cpus::one(0);
    let mut command = Pinning::anywhere().command(&anywhere, Path::new("unshare"));
    command.args(["--net", "sleep", "infinity"]);
    let mut process = Process::start("network namespace", command, log)?;
    let ours = fs::read_link("/proc/self/ns/net").ok();
    let deadline = Instant::now() + START_TIMEOUT;
    while fs::read_link(file(process.id())).ok().filter(|it| Some(it) != ours.as_ref()).is_none() {
        if process.ended().is_some() || Instant::now() > deadline {
            return Err(process.error("could not be made".to_owned()));
        }
        stop.pause(Duration::from_millis(1))?;
    }
    Ok(process)
}
