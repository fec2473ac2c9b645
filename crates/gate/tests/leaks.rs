//! Nothing is left behind by clients, whatever they do. Alone in its file: it counts the
//! descriptors of the whole process.

mod common;

use common::{Gate, origin, request};
use testkit::{PATIENCE, open_descriptors, poll_until};

#[test]
fn descriptors_return_to_what_they_were() {
    let origin = origin();
    let gate = Gate::start(origin.address(), "window = 4\n[limits]\nclass-queues = 20\n");
    assert_eq!(gate.get("/bytes/1", "").status, 200);
    let quiet = || {
        gate.wait_for("a quiet gate", |state| {
            let connections = &state["connections"];
            connections["clients"] == 0 && connections["upstream"] == 0 && state["in_service"] == 0
        });
        open_descriptors(std::process::id())
    };
    let before = quiet();
    for round in 0..200 {
        let mut clients: Vec<_> = (0..10).map(|_| gate.connect()).collect();
        for (kind, client) in clients.iter_mut().enumerate() {
            match kind {
                0 => drop(client.get("/bytes/10")),
                1 => drop(client.send(request("/bytes/3000000", ""))),
                2 => drop(client.send("GET / HTT")),
                3 => drop(client.send("\0\u{1}garbage\r\n\r\n")),
                4 => drop(client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\nhalf")),
                5 => drop(client.send(request("/burn?cpu=1ms", "")).finish_sending()),
                6 => drop(client.send(request("/bytes/5", "Connection: close\r\n")).until_closed()),
                7 => drop(client.send(request("/bytes/5", "")).response()),
                8 => drop(client.send(request("/burn?cpu=2ms", ""))),
                _ => {}
            }
        }
        // Some go all at once, some one after the other while others are still served.
        if round % 2 == 0 {
            clients.reverse();
        }
    }
    quiet();
    poll_until(PATIENCE, "descriptors to return", || {
        let now = open_descriptors(std::process::id());
        (now <= before).then_some(())
    });
    assert_eq!(gate.get("/bytes/1", "").status, 200);
}
