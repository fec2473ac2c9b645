//! Windows.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use testkit::{Nginx, Raw};
use units::Ratio;
use watch::requests::Budget;

use crate::servers::address;
use crate::{Followed, is_able};

/// Some requests are seen, and none that had begun before.
#[test]
fn windows_see_requests_from_their_beginning() {
    if !is_able() {
        return;
    }
    let documents = tempfile::tempdir().unwrap();
    std::fs::write(documents.path().join("page"), "x").unwrap();
    let Some(nginx) = Nginx::start(documents.path(), "keepalive_requests 1000000;") else { return };
    let address = address(nginx.url());
    let budget = Budget::Share(Ratio::clamped(0.5));
    let mut followed = Followed::within(address.port(), budget);
    let end = Instant::now() + Duration::from_secs(3);
    let client = std::thread::spawn(move || {
        let mut kept = Raw::connect(address);
        let mut asked = 0;
        while Instant::now() < end {
            kept.get("/page").response();
            asked += 1;
        }
        asked
    });
    while !client.is_finished() {
        followed.turn();
        std::thread::sleep(Duration::from_millis(2));
    }
    let asked: usize = client.join().unwrap();
    let told = &mut followed.told;
    followed.requests.end(|request| told.push(*request)).unwrap();
    followed.requests.look(|_| ()).unwrap();
    let seen = followed.told.len();
    assert!(seen > 0 && seen < asked, "{seen} of {asked}");
    let complete = followed.told.iter().all(|request| request.parsed.is_some() && request.bytes_sent > 1);
    assert!(complete, "{:?}", followed.told);
    drop(nginx.stop());
    assert!(TcpStream::connect(address).is_err());
}
