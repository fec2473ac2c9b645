//! Certificates that are renewed while the gate runs, and those that cannot be used.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::common::tls::{Identity, client, connect, run};
use crate::common::{CLASSES, Gate, origin};
use rustix::fs::inotify;
use rustls_pki_types::CertificateDer;

const DAY: Duration = Duration::from_secs(24 * 3600);

fn shows(gate: &Gate, certificate: &CertificateDer<'static>) -> bool {
    run(connect(gate.secure(), "shop.example", &client(certificate, &["h2"]))).is_ok()
}

#[test]
fn renewed_certificates_are_read_on_demand() {
    let origin = origin();
    let mut identity = Identity::new(&["shop.example"]);
    let gate = Gate::start(origin.address(), &identity.listener());
    let reload = || gate.ask("POST", "/api/v1/reload", "");
    let first = identity.certificate.clone();
    assert!(shows(&gate, &first));

    identity.renew(&["shop.example"], |_| {});
    assert!(shows(&gate, &first), "not before it is told to");
    assert_eq!(reload().status, 200);
    let second = identity.certificate.clone();
    assert!(shows(&gate, &second) && !shows(&gate, &first));

    // Whatever is wrong with the next one, clients go on to see the one before.
    let expired = |params: &mut rcgen::CertificateParams| {
        params.not_before = (SystemTime::now() - 30 * DAY).into();
        params.not_after = (SystemTime::now() - 10 * DAY).into();
    };
    identity.renew(&["shop.example"], expired);
    let refused = reload();
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("the certificate expired 10 days ago; renew it"), "{}", refused.text());
    fs::write(identity.cert(), "nothing").unwrap();
    assert_eq!(reload().status, 400);
    assert!(shows(&gate, &second));

    identity.renew(&["shop.example"], |_| {});
    assert_eq!(reload().status, 200);
    assert!(shows(&gate, &identity.certificate));
}

/// What `gate check` says.
fn read(directory: &Path) -> Result<String, String> {
    let text = format!(
        "upstream = '127.0.0.1:1'\n[[listener]]\naddress = '127.0.0.1:0'\n[[listener.certificate]]\ncert = 'cert.pem'\nkey = 'key.pem'\n{CLASSES}"
    );
    let source = config::Source::new("gate.toml", text);
    let settings = gate::Settings::from_source(&source, directory).map_err(|error| error.to_string())?;
    gate::check(&settings, gate::Names::NotLookedUp)
        .map(|checked| checked.to_string())
        .map_err(|error| error.to_string())
}

#[test]
fn what_is_wrong_with_a_certificate_is_told_with_its_file_and_line() {
    let identity = Identity::new(&["shop.example"]);
    let other = Identity::new(&["shop.example"]);
    let directory = identity.cert().parent().unwrap().to_owned();
    let place = |file: &str| directory.join(file).display().to_string();
    assert!(read(&directory).unwrap().contains("TLS for shop.example"));

    fs::copy(other.key(), identity.key()).unwrap();
    let mismatch = format!(
        "gate.toml:5: {}: the key in {} is not that of the first certificate; the server's own certificate comes first, \
         then those of its issuers; give the key it was made for",
        place("cert.pem"),
        place("key.pem")
    );
    assert_eq!(read(&directory).unwrap_err(), mismatch);

    fs::copy(identity.cert(), identity.key()).unwrap();
    let no_key = read(&directory).unwrap_err();
    assert!(
        no_key.starts_with(&format!("gate.toml:6: {}: holds no private key; ", place("key.pem"))),
        "{no_key}"
    );
    fs::remove_file(identity.key()).unwrap();
    let no_file = read(&directory).unwrap_err();
    assert!(
        no_file.starts_with(&format!("gate.toml:6: {}: cannot be read: No such file", place("key.pem"))),
        "{no_file}"
    );
    fs::write(identity.cert(), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let garbage = read(&directory).unwrap_err();
    assert!(garbage.contains("cert.pem: the first certificate cannot be understood"), "{garbage}");
}

#[test]
fn an_old_certificate_is_better_than_none_at_the_start() {
    let mut identity = Identity::new(&["shop.example"]);
    identity.renew(&["shop.example"], |params| {
        params.not_after = (SystemTime::now() + DAY + DAY / 2).into();
    });
    let directory = identity.cert().parent().unwrap().to_owned();
    let told = read(&directory).unwrap();
    assert!(told.contains("cert.pem: the certificate expires in 1 days; renew it"), "{told}");
    identity.renew(&["shop.example"], |params| {
        params.not_before = (SystemTime::now() - 30 * DAY).into();
        params.not_after = (SystemTime::now() - 2 * DAY).into();
    });
    let told = read(&directory).unwrap();
    assert!(told.contains("the certificate expired 2 days ago"), "{told}");
}

#[test]
fn a_certificate_file_is_opened_once() {
    let identity = Identity::new(&["shop.example"]);
    let events = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    // The kernel joins equal events that follow each other, so closing is looked at as well.
    let watched = inotify::WatchFlags::OPEN | inotify::WatchFlags::CLOSE_NOWRITE;
    inotify::add_watch(&events, identity.cert(), watched).unwrap();
    let gate = Gate::start(origin().address(), &identity.listener());
    assert!(shows(&gate, &identity.certificate));
    let mut space = [MaybeUninit::uninit(); 1024];
    let mut reader = inotify::Reader::new(&events, &mut space);
    let events = std::iter::from_fn(|| reader.next().ok().map(|event| event.events()));
    assert_eq!(events.filter(|event| event.contains(inotify::ReadFlags::OPEN)).count(), 1);
}
