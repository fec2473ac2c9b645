//! Servers that authenticate connections, as with NTLM, and take all that comes later over one to be from the same user.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::Write as _;

use testkit::{Hostile, Raw};

use crate::common::{Gate, request};

/// Says who is taken to have asked, over which connection.
fn authenticates_connections() -> Hostile {
    Hostile::start(|mut stream, number| {
        let mut user = "nobody".to_owned();
        while let Some(head) = crate::common::read_head(stream) {
            for line in head.lines() {
                if let Some(("authorization: NTLM" | "authorization: Negotiate", name)) =
                    line.rsplit_once(' ')
                {
                    user = name.to_owned();
                }
            }
            let text = format!("{user} on {number}");
            let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len());
        }
    })
}

fn ask(client: &mut Raw, headers: &str) -> String {
    client.send(request("/", headers)).response().text().to_owned()
}

#[test]
fn nobody_is_taken_for_somebody_else() {
    for scheme in ["NTLM", "Negotiate"] {
        let server = authenticates_connections();
        let gate = Gate::start(server.address(), "");
        let [mut alice, mut bob, mut stranger] = [(); 3].map(|()| gate.connect());
        assert_eq!(ask(&mut stranger, ""), "nobody on 0");
        // The connection that was free becomes hers.
        assert_eq!(ask(&mut alice, &format!("Authorization: {scheme} alice\r\n")), "alice on 0");
        assert_eq!(ask(&mut stranger, ""), "nobody on 1");
        assert_eq!(ask(&mut bob, &format!("Authorization: {scheme} bob\r\n")), "bob on 1");
        for _ in 0..3 {
            assert_eq!(ask(&mut alice, ""), "alice on 0", "she need not say it again");
            assert_eq!(ask(&mut bob, ""), "bob on 1");
            assert_eq!(ask(&mut stranger, ""), "nobody on 2");
        }
        drop((alice, bob));
        gate.wait_for("their connections to be closed", |state| state["connections"]["upstream"] == 1);
        assert_eq!(ask(&mut gate.connect(), ""), "nobody on 2");
    }
}
