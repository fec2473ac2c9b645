use std::fs;
use std::path::PathBuf;

use units::{Bytes, Ratio};

use super::*;
use crate::leftovers::{self, mine, sweep};
use crate::resources::{Limits, Link, Sysctl};
use crate::{mounts, run};

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        testkit::skip(&"network namespaces and control groups need root");
    }
    is_root
}

fn pinning() -> (Pinning, Cpus) {
    (Pinning::anywhere(), Cpus::one(0))
}

fn sh(command: Command, script: &str) -> String {
    let mut command = command;
    command.args(["-c", script]);
    let (said, status) = run::output("shell", &mut command).unwrap();
    assert!(status.success(), "{script}: {said}");
    said
}

#[test]
fn server_and_generator_have_networks_of_their_own() {
    if !is_root() {
        return;
    }
    let sysctl = |name: &str, value: &str| Sysctl { name: name.to_owned(), value: value.to_owned() };
    let link = Link {
        rate: Some(20_000_000),
        loss: Some(Ratio::clamped(0.02)),
        sysctls: vec![sysctl("net.core.somaxconn", "77")],
        generator_sysctls: vec![sysctl("net.ipv4.ip_local_port_range", "20000 20500")],
    };
    let resources = Resources { network: Some(link), ..Resources::default() };
    let (pinning, cpus) = pinning();
    let testbed = Testbed::build(&resources, &pinning, &cpus, &cpus, &Stop::default()).unwrap();
    let shell = Path::new("sh");
    let (server, generator) = (|| testbed.server(shell), || testbed.generator(shell));
    assert_eq!(sh(server(), "cat /proc/sys/net/core/somaxconn"), "77");
    assert_eq!(sh(generator(), "cat /proc/sys/net/ipv4/ip_local_port_range"), "20000\t20500");
    assert!(sh(server(), "tc qdisc show dev hw0").contains("tbf"));
    for side in [server(), generator()] {
        let rules = sh(side, "PATH=$PATH:/usr/sbin nft list ruleset");
        assert!(rules.contains("numgen random mod 10000 < 200 drop"), "{rules}");
    }
    assert_eq!(
        sh(testbed.observer(shell), "ls /proc/self/net/dev >/dev/null; ip -o link show hw0 | wc -l"),
        "1"
    );
    let address = testbed.address();
    assert!(sh(generator(), "ip -o address show dev hw0").contains("198.18.0.2/24"));
    assert!(sh(server(), "ip -o address show dev hw0").contains(&format!("{address}/24")));
    let [namespace] = [sh(server(), "readlink /proc/self/ns/net")];
    drop(testbed);
    testkit::poll_until(testkit::PATIENCE, "the namespace to be without a process", || {
        let in_it = |entry: fs::DirEntry| fs::read_link(entry.path().join("ns/net")).ok();
        let entries = fs::read_dir("/proc").unwrap().flatten().filter_map(in_it);
        (!entries.into_iter().any(|link| link.display().to_string() == namespace)).then_some(())
    });
}

#[test]
fn a_share_of_the_machine_is_given_and_taken_back() {
    if !is_root() {
        return;
    }
    let server = Limits { cpu: Some(0.25), memory: Some(Bytes(64 << 20)), ..Limits::default() };
    let resources = Resources { server, descriptors: Some(99), ..Resources::default() };
    let (pinning, cpus) = pinning();
    let testbed = Testbed::build(&resources, &pinning, &cpus, &cpus, &Stop::default()).unwrap();
    let said = sh(testbed.server(Path::new("sh")), "ulimit -n; cat /proc/self/cgroup");
    assert_eq!(said.lines().next(), Some("99"));
    let mine = said.lines().filter(|line| line.contains(&mine()));
    assert!(mine.count() >= 1, "{said}");
    let directories: Vec<_> = testbed
        .server_group
        .iter()
        .flat_map(ControlGroup::members)
        .map(|file| file.parent().unwrap().to_owned())
        .collect();
    // Whatever still runs in it ends with it.
    let mut stray = testbed.server(Path::new("sleep")).arg("600").spawn().unwrap();
    testkit::poll_until(testkit::PATIENCE, "the stray program to be a member", || {
        let members = fs::read_to_string(directories[0].join("cgroup.procs")).unwrap();
        members.contains(&stray.id().to_string()).then_some(())
    });
    drop(testbed);
    assert!(!stray.wait().unwrap().success());
    assert!(directories.iter().all(|directory| !directory.exists()), "{directories:?}");
}

#[test]
fn what_cannot_be_set_is_said() {
    if !is_root() {
        return;
    }
    let sysctls = vec![Sysctl { name: "net.ipv4.no_such_thing".to_owned(), value: "1".to_owned() }];
    let resources = Resources { network: Some(Link { sysctls, ..Link::default() }), ..Resources::default() };
    let (pinning, cpus) = pinning();
    let error = Testbed::build(&resources, &pinning, &cpus, &cpus, &Stop::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "testbed: sysctl net.ipv4.no_such_thing = \"1\": the kernel has no such setting"
    );
}

#[test]
fn what_a_killed_lab_left_is_removed() {
    if !is_root() {
        return;
    }
    // As another test's lab may remove it first, it is enough that it goes.
    let left = mounts::control_groups().into_iter();
    let left = left.map(|root| root.join(leftovers::tests::left_by_another("server")));
    let left: Vec<_> = left.filter(|group| fs::create_dir(group).is_ok()).collect();
    assert!(!left.is_empty(), "there is no control group to make");
    let mut stray = Command::new("sleep").arg("600").spawn().unwrap();
    let joins = |group: &&PathBuf| fs::write(group.join("cgroup.procs"), stray.id().to_string()).is_ok();
    let is_in_one = left.iter().any(|group| joins(&group));
    sweep();
    assert!(left.iter().all(|group| !group.exists()), "{left:?}");
    if !is_in_one {
        stray.kill().unwrap();
    }
    assert!(!stray.wait().unwrap().success());
}
