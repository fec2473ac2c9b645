//! `[server]`: which servers there are, and what does not go together.

use testbed::Mpm;

use super::*;

#[test]
fn servers_come_in_several_kinds() {
    for (settings, kind, workers, behind) in [
        (&["server.kind=apache"][..], Kind::Apache(Mpm::Prefork), 150, None),
        (&["server.kind=apache", "server.mpm=event"], Kind::Apache(Mpm::Event), 150, Some(5)),
        (&["server.kind=nginx", "server.backend-workers=4"], Kind::Nginx, 1, Some(4)),
        (&["server.kind=apache", "server.mpm=worker"], Kind::Apache(Mpm::Worker), 150, Some(5)),
        (&["server.kind=node"], Kind::Node, 1, None),
        (&["server.kind=node", "server.workers=2"], Kind::Node, 2, None),
    ] {
        let server = read(GOOD, settings).unwrap().server;
        let expected = (kind, workers, behind);
        assert_eq!((server.kind, server.workers, server.backend_workers), expected, "{settings:?}");
    }
}

#[test]
fn a_command_is_told_of_what_it_says() {
    let command = "server.command=[\"x\", \"{port}\", \"-w\", \"{workers}\"]";
    let settings = ["server.kind=command", command, "server.workers=2"];
    let server = read(GOOD, &settings).unwrap().server;
    assert_eq!(server.workers, 2);
    assert!(matches!(server.kind, Kind::Command(words) if words.len() == 4));
}

#[test]
fn nginx_has_a_worker_per_processor() {
    let spec = read(GOOD, &["server.kind=nginx", "server.cpus=0,2-3"]).unwrap();
    assert_eq!((spec.server.kind, spec.server.workers), (Kind::Nginx, 3));
}

/// What stands in the good spec, what to put instead, and what is said then.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "kind = \"origin\"",
        "kind = \"apach\"",
        "spec.toml:5: unknown value \"apach\"; did you mean \"apache\"?",
    ),
    (
        "kind = \"origin\"",
        "kind = \"url\"",
        "spec.toml:4: the server is of kind \"url\" and has no url; add url = \"http://127.0.0.1:8080\"",
    ),
    (
        "kind = \"origin\"",
        "kind = \"url\"\nurl = \"localhost\"",
        "spec.toml:6: \"localhost\" is not an address of a server; write it as http://HOST:PORT",
    ),
    (
        "kind = \"origin\"",
        "kind = \"nginx\"\nurl = \"http://127.0.0.1:80\"",
        "spec.toml:6: only a server of kind \"url\" has a url; leave it out; the lab starts the others on free ports",
    ),
    (
        "kind = \"origin\"",
        "kind = \"nginx\"\nmpm = \"event\"",
        "spec.toml:6: only a server of kind \"apache\" has an mpm; leave it out",
    ),
    (
        "kind = \"origin\"",
        "kind = \"apache\"\nmpm = \"evnt\"",
        "spec.toml:6: unknown value \"evnt\"; did you mean \"event\"?",
    ),
    (
        "kind = \"origin\"",
        "kind = \"node\"\nbackend-workers = 4",
        "spec.toml:6: only servers of kind \"apache\" and \"nginx\" have backend-workers; leave it out",
    ),
    (
        "kind = \"origin\"",
        "kind = \"nginx\"\nbackend-workers = 0",
        "spec.toml:6: backend-workers is 0; give at least 1",
    ),
    ("kind = \"origin\"", "kind = \"origin\"\nworkers = 0", "spec.toml:6: workers is 0; give at least 1"),
    ("kind = \"origin\"", "kind = \"origin\"\nbacklog = 0", "spec.toml:6: backlog is 0; give at least 1"),
    (
        "kind = \"origin\"",
        "kind = \"origin\"\ncommand = [\"x\", \"{port}\"]",
        "spec.toml:6: only a server of kind \"command\" has a command; leave it out, or set kind",
    ),
    (
        "kind = \"origin\"",
        "kind = \"command\"\ncommand = [\"{port}\"]",
        "spec.toml:4: a server of kind \"command\" needs a command that is told the port; \
         add command = [\"my-server\", \"--listen\", \"{address}:{port}\"]",
    ),
    (
        "kind = \"origin\"",
        "kind = \"command\"\ncommand = [\"x\", \"{port}\"]\nworkers = 2",
        "spec.toml:7: the command is not told of workers; leave workers out, or say {workers} in the command",
    ),
    (
        "kind = \"origin\"",
        "kind = \"command\"\ncommand = [\"x\", \"{port}\"]\nbacklog = 2",
        "spec.toml:7: the command is not told of backlog; leave backlog out, or say {backlog} in the command",
    ),
    (
        "kind = \"origin\"",
        "kind = \"command\"\ncommand = [\"x\", \"{port}\"]\nkeep-alive = \"2s\"",
        "spec.toml:7: keep-alive is nothing that a server of kind \"command\" can be told; \
         leave it out, and say it in the command",
    ),
    (
        "kind = \"origin\"",
        "kind = \"apache\"\nmpm = \"worker\"\nworkers = 151",
        "spec.toml:7: an Apache of threads has 25 of them in each process; \
         give a multiple of 25, or less than that",
    ),
    (
        "kind = \"origin\"",
        "kind = \"origin\"\ncpus = \"first\"",
        "spec.toml:6: cannot read \"first\": processors are written as \"0\", \"0,2\" or \"1-3\"",
    ),
    (
        "kind = \"origin\"",
        "kind = \"origin\"\nfront-cpus = \"0\"\n\n[design]\nsubjects = [\"bare\"]",
        "spec.toml: server.front-cpus is given, and nothing stands in front of the server; \
         leave it out, or add [gate] or another subject than \"bare\"",
    ),
];

#[test]
fn what_does_not_go_together_is_said() {
    refused(WRONG);
}
