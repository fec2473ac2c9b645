//! TLS in front of the gate, with real clients.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;

use crate::common::tls::{Identity, client, connect, get, h1, h2, run, text};
use crate::common::{Gate, Held, echo, origin, session};
use testkit::{Hostile, PATIENCE, Raw};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::rustls::HandshakeKind;

#[test]
fn both_protocols_are_offered_and_the_server_is_told_of_tls() {
    let server = echo("");
    let identity = Identity::new(&["shop.example"]);
    let gate = Gate::start(server.address(), &identity.listener());
    let mut seen = Vec::new();
    for (protocols, chosen) in [(&["h2", "http/1.1"][..], "h2"), (&["http/1.1"], "http/1.1"), (&[], "")] {
        let config = client(&identity.certificate, protocols);
        let stream = run(connect(gate.secure(), "shop.example", &config)).unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol().unwrap_or_default(), chosen.as_bytes());
        let response = if chosen == "h2" {
            run(async { h2(stream).await.send_request(get("https://shop.example/a")).await.unwrap() })
        } else {
            let request = hyper::Request::get("/a").header("host", "shop.example");
            run(async {
                h1(stream).await.send_request(request.body(Default::default()).unwrap()).await.unwrap()
            })
        };
        let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
        assert!(cookie.ends_with("; Secure"), "{cookie}");
        let text = run(text(response)).to_lowercase();
        assert!(text.contains("x-forwarded-proto: https\r\n"), "{text}");
        assert!(text.contains("host: shop.example\r\n"), "{text}");
        seen.push(text);
    }
    let plain = gate.get("/a", "");
    assert!(plain.text().to_lowercase().contains("x-forwarded-proto: http\r\n"));
    assert!(!plain.header("set-cookie").unwrap().contains("Secure"));
    assert!(session(&plain).contains("headworks="));
}

#[test]
fn the_certificate_follows_the_name() {
    let origin = origin();
    let (first, second) = (Identity::new(&["one.example"]), Identity::new(&["two.example", "*.two.example"]));
    let listener = |more: &str| {
        let (first, second) = (first.table(), second.table());
        format!("[[listener]]\naddress = '127.0.0.1:0'\n{more}certificate = [{first}, {second}]\n")
    };
    let gate = Gate::start(origin.address(), &listener(""));
    let strict = Gate::start(origin.address(), &listener("strict-names = true\n"));
    // The certificate shown, if the client trusts it; whether one is shown is what counts.
    let shown = |gate: &Gate, name: &str| {
        [(&first, "first"), (&second, "second")].into_iter().find_map(|(identity, which)| {
            let config = dangerous::trusting(&identity.certificate);
            run(connect(gate.secure(), name, &config)).is_ok().then_some(which)
        })
    };
    for (name, expected, if_strict) in [
        ("one.example", Some("first"), Some("first")),
        ("two.example", Some("second"), Some("second")),
        ("WWW.two.example", Some("second"), Some("second")),
        ("a.b.two.example", Some("first"), None),
        ("www.one.example", Some("first"), None),
        ("127.0.0.1", Some("first"), None),
    ] {
        assert_eq!(shown(&gate, name), expected, "{name}");
        assert_eq!(shown(&strict, name), if_strict, "{name}, strictly");
    }
}

#[test]
fn sessions_are_resumed() {
    let origin = origin();
    let identity = Identity::new(&["shop.example"]);
    let gate = Gate::start(origin.address(), &identity.listener());
    let config = client(&identity.certificate, &["h2"]);
    let kinds: Vec<_> = (0..3)
        .map(|_| {
            run(async {
                let stream = connect(gate.secure(), "shop.example", &config).await.unwrap();
                let kind = stream.get_ref().1.handshake_kind().unwrap();
                // The ticket comes with the first response.
                let mut client = h2(stream).await;
                client.send_request(get("https://shop.example/bytes/1")).await.unwrap();
                kind
            })
        })
        .collect();
    assert_eq!(kinds, [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Resumed]);
}

#[test]
fn rules_see_the_name() {
    let origin = origin();
    let identity = Identity::new(&["vip.example", "shop.example"]);
    let rules = "[[rule]]\nclass = 'premium'\nserver-name = 'vip.*'\n";
    let gate = Gate::start(origin.address(), &format!("{}{rules}", identity.listener()));
    for name in ["vip.example", "shop.example"] {
        let config = client(&identity.certificate, &["h2"]);
        run(async {
            let mut client = h2(connect(gate.secure(), name, &config).await.unwrap()).await;
            // The host of the request is another matter.
            client.send_request(get("https://other.example/bytes/1")).await.unwrap();
        });
    }
    let arrived = |class: usize| gate.state()["classes"][class]["arrived"].clone();
    assert_eq!((arrived(0), arrived(1)), (1.into(), 1.into()));
}

#[test]
fn large_bodies_pass() {
    let origin = origin();
    let identity = Identity::new(&["shop.example"]);
    let gate = Gate::start(origin.address(), &identity.listener());
    for protocols in [&["h2"][..], &["http/1.1"]] {
        let config = client(&identity.certificate, protocols);
        let stream = run(connect(gate.secure(), "shop.example", &config)).unwrap();
        let request =
            hyper::Request::post("https://shop.example/bytes/2000000").header("host", "shop.example");
        let request = request.body(vec![b'x'; 2_000_000].into()).unwrap();
        let response = match protocols {
            ["h2"] => run(async { h2(stream).await.send_request(request).await.unwrap() }),
            _ => run(async { h1(stream).await.send_request(request).await.unwrap() }),
        };
        assert_eq!(run(text(response)).len(), 2_000_000, "{protocols:?}");
    }
}

#[test]
fn handshakes_that_do_not_end_are_cut_off_and_hold_up_nobody() {
    let origin = origin();
    let identity = Identity::new(&["shop.example"]);
    let more = format!("{}[client]\nheader-timeout = '500ms'\n", identity.listener());
    let gate = Gate::start(origin.address(), &more);
    let silent: Vec<_> = (0..300).map(|_| TcpStream::connect(gate.secure()).unwrap()).collect();
    // The first bytes of a ClientHello.
    let mut begun = Raw::connect(gate.secure());
    begun.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03");
    let config = client(&identity.certificate, &["h2"]);
    run(async {
        let mut client = h2(connect(gate.secure(), "shop.example", &config).await.unwrap()).await;
        assert_eq!(client.send_request(get("https://shop.example/bytes/1")).await.unwrap().status(), 200);
    });
    for mut socket in silent {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(socket.read(&mut [0; 100]).unwrap_or(0), 0);
    }
    begun.until_closed();
    let mut garbage = Raw::connect(gate.secure());
    let told = garbage.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n").until_closed();
    assert_eq!(told.first(), Some(&0x15), "an alert: {told:?}");
    let metrics = String::from_utf8(gate.connect_admin().get("/metrics").response().body).unwrap();
    assert!(metrics.contains("headworks_gate_tls_handshakes_total{result=\"done\"} 1\n"), "{metrics}");
}

#[test]
fn a_client_that_ends_in_the_middle_is_forgotten() {
    let server = Held::start();
    let identity = Identity::new(&["shop.example"]);
    let gate = Gate::start(server.address(), &format!("window = 1\n{}", identity.listener()));
    let mut first = gate.connect();
    first.get("/first");
    assert_eq!(server.next(), "/first");
    let config = client(&identity.certificate, &["http/1.1"]);
    let mut stream = run(connect(gate.secure(), "shop.example", &config)).unwrap();
    run(stream.write_all(b"GET /second HTTP/1.1\r\nHost: shop.example\r\n\r\n")).unwrap();
    gate.wait_for_queue(1);
    drop(stream);
    gate.wait_for_queue(0);
    server.release();
    assert_eq!(first.response().status, 200);
}

#[test]
fn websockets_pass_as_well() {
    let server = Hostile::start(|mut stream, _| {
        let Some(_) = crate::common::read_head(stream) else { return };
        let switch = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
        stream.write_all(switch.as_bytes()).unwrap();
        let mut message = [0; 5];
        while stream.read_exact(&mut message).is_ok() && stream.write_all(&message).is_ok() {}
    });
    let identity = Identity::new(&["shop.example"]);
    let gate = Gate::start(server.address(), &identity.listener());
    let config = client(&identity.certificate, &["http/1.1"]);
    let echoed = run(async {
        let mut stream = connect(gate.secure(), "shop.example", &config).await.unwrap();
        let ask = "GET /chat HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nhello";
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", head.escape_ascii());
        let mut echoed = [0; 5];
        stream.read_exact(&mut echoed).await.unwrap();
        stream.write_all(b"again").await.unwrap();
        stream.read_exact(&mut echoed).await.unwrap();
        echoed
    });
    assert_eq!(&echoed, b"again");
}

#[test]
fn curl_and_h2load_are_served() {
    let origin = origin();
    let identity = Identity::new(&["localhost"]);
    let gate = Gate::start(origin.address(), &identity.listener());
    let port = gate.secure().port();
    let cert = identity.cert();
    for (option, version) in [("--http2", "2"), ("--http1.1", "1.1")] {
        let curl = Command::new("curl")
            .args(["--silent", "--show-error", option, "--cacert"])
            .arg(&cert)
            .args(["--resolve", &format!("localhost:{port}:127.0.0.1")])
            .args(["--write-out", "%{http_version} %{http_code} %{size_download}", "--output", "/dev/null"])
            .arg(format!("https://localhost:{port}/bytes/70000"))
            .output();
        let Ok(curl) = curl else {
            testkit::skip(&"curl is not installed; install it with: apt-get install curl");
            return;
        };
        let said = String::from_utf8_lossy(&curl.stdout).into_owned();
        assert_eq!(said, format!("{version} 200 70000"), "{}", String::from_utf8_lossy(&curl.stderr));
    }
    let h2load = Command::new("h2load")
        .args(["--requests=500", "--clients=5", "--max-concurrent-streams=20"])
        .arg(format!("https://127.0.0.1:{port}/bytes/1000"))
        .output();
    let Ok(h2load) = h2load else {
        testkit::skip(&"h2load is not installed; install it with: apt-get install nghttp2-client");
        return;
    };
    let said = String::from_utf8_lossy(&h2load.stdout);
    assert!(said.contains("500 succeeded, 0 failed, 0 errored, 0 timeout"), "{said}");
}

/// A client that takes the one certificate it knows, whatever it is for.
mod dangerous {
    use super::Arc;
    use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
    use tokio_rustls::rustls::client::danger::{
        HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
    };
    use tokio_rustls::rustls::crypto::ring;
    use tokio_rustls::rustls::{
        CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    };

    #[derive(Debug)]
    struct Only(CertificateDer<'static>);

    pub(super) fn trusting(certificate: &CertificateDer<'static>) -> Arc<ClientConfig> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Only(certificate.clone())))
            .with_no_client_auth();
        Arc::new(config)
    }

    impl ServerCertVerifier for Only {
        fn verify_server_cert(
            &self,
            shown: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            if *shown == self.0 {
                Ok(ServerCertVerified::assertion())
            } else {
                Err(CertificateError::UnknownIssuer.into())
            }
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            ring::default_provider().signature_verification_algorithms.supported_schemes()
        }
    }
}
