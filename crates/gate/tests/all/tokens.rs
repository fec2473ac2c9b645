//! Tokens that are not what they say.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::{Gate, echo, session};
use testkit::{PATIENCE, poll_until};

const SECRET: &str = "explain = 'on'\n[session]\nsecret = 'a secret that the sites share'\n";

#[track_caller]
fn class(gate: &Gate, cookie: &str) -> (String, String) {
    let response = gate.get("/", cookie);
    let header = |name| response.header(name).unwrap().to_owned();
    (header("headworks-class"), header("headworks-rule"))
}

fn is_stranger(gate: &Gate, cookie: &str) -> bool {
    class(gate, cookie) == ("basic".to_owned(), "none".to_owned())
}

#[test]
fn one_of_another_site_or_class_is_a_stranger() {
    let server = echo("");
    let shop = Gate::start(server.address(), &format!("{SECRET}site = 'shop'\n"));
    let blog = Gate::start(server.address(), &format!("{SECRET}site = 'blog'\n"));
    let token = session(&shop.get("/", "Cookie: tier=premium\r\n"));
    assert_eq!(class(&shop, &token).1, "session");
    assert!(is_stranger(&blog, &token), "replayed from another site");
    // The classes of this gate are called otherwise, so the token's class is not one of them.
    let text = format!(
        "listen = '127.0.0.1:0'\nupstream = '{}'\n{SECRET}site = 'shop'\n[[class]]\nname = 'gold'\n[[class]]\nname = 'basic'\n",
        server.address()
    );
    let renamed = Gate::run(&text, std::path::Path::new("."));
    assert!(is_stranger(&renamed, &token), "of a class that is no more");
}

#[test]
fn nothing_that_was_changed_or_made_up_is_believed() {
    let server = echo("");
    let gate = Gate::start(server.address(), SECRET);
    let token = session(&gate.get("/", "Cookie: tier=premium\r\n"));
    let value = token.trim().strip_prefix("Cookie: headworks=").unwrap().to_owned();
    assert_eq!(value.len(), 64);
    let forged = |value: &str| format!("Cookie: headworks={value}\r\n");
    let flipped: String = value
        .chars()
        .enumerate()
        .map(|(at, c)| match (at, c) {
            (40, 'A') => 'B',
            (40, _) => 'A',
            (_, c) => c,
        })
        .collect();
    for wrong in [
        String::new(),
        "A".repeat(64),
        "A".repeat(6_000),
        flipped,
        value[..63].to_owned(),
        format!("{value}A"),
        format!("{value}="),
        format!("\"{value}\""),
        value.to_ascii_lowercase(),
        "%00".repeat(21) + "a",
        value.replace(|c: char| c.is_ascii_digit(), "\u{fe}"),
    ] {
        assert!(is_stranger(&gate, &forged(&wrong)), "{wrong}");
    }
    assert_eq!(class(&gate, &forged(&value)).0, "premium");
    // Nor does it make a token worse that another cookie has its name.
    assert_eq!(class(&gate, &format!("Cookie: headworks=x; headworks={value}\r\n")).0, "premium");
}

#[test]
fn an_absolute_end_is_one_however_busy_the_session() {
    let server = echo("");
    let gate = Gate::start(server.address(), &format!("{SECRET}idle = '400ms'\nabsolute = '1200ms'\n"));
    let mut token = session(&gate.get("/", "Cookie: tier=premium\r\n"));
    let id = |response: &testkit::Response| response.header("headworks-session").unwrap().to_owned();
    let first = id(&gate.get("/", &token));
    let other = poll_until(PATIENCE, "another session", || {
        let response = gate.get("/", &token);
        if response.header("set-cookie").is_some() {
            token = session(&response);
        }
        Some(id(&response)).filter(|id| *id != first)
    });
    assert_ne!(other, first);
}

#[test]
fn secrets_are_changed_without_ending_a_session() {
    let server = echo("");
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write("gate.key", "the first of all secrets");
    write("old.key", "the first of all secrets");
    let text = format!(
        "listen = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\nupstream = '{}'\nexplain = 'on'\n[session]\nsecret-file = 'gate.key'\nprevious-secret-file = 'old.key'\n{}",
        server.address(),
        crate::common::CLASSES
    );
    let gate = Gate::run(&text, directory.path());
    let first = session(&gate.get("/", "Cookie: tier=premium\r\n"));
    // As the manual has it: the present one becomes the previous one, and the gate reads again.
    write("gate.key", "the second of all secrets");
    assert_eq!(gate.ask("POST", "/api/v1/reload", "").status, 200);
    assert_eq!(class(&gate, &first).0, "premium");
    let second = session(&gate.get("/", "Cookie: tier=premium\r\n"));
    assert_ne!(first, second);
    write("old.key", "the second of all secrets");
    assert_eq!(gate.ask("POST", "/api/v1/reload", "").status, 200);
    assert!(is_stranger(&gate, &first), "its secret is gone");
    assert_eq!(class(&gate, &second).0, "premium");
}
