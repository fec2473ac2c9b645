//! Descriptors. Alone in its file: the descriptors of other tests would be counted too.

mod common;

use std::num::NonZeroU32;

use common::{closed, ok, options, run, web};
use load::{Options, Protocol};
use testkit::{PATIENCE, open_descriptors, poll_until};

#[test]
fn descriptors_do_not_leak() {
    let own = std::process::id();
    let server = web(|_| ok(10));
    let many = Options {
        load: closed(20),
        protocol: Protocol { requests_per_connection: NonZeroU32::new(1), ..Protocol::default() },
        ..options(server.address())
    };
    // The first run makes what stays open for good.
    run(&many);
    poll_until(PATIENCE, "the server to close its ends", || (open_descriptors(own) < 20).then_some(()));
    let before = open_descriptors(own);
    let opened = run(&many).summary.connections.opened;
    assert!(opened > 100, "only {opened} connections were opened");
    poll_until(PATIENCE, "all descriptors to be closed", || (open_descriptors(own) <= before).then_some(()));
}
