//! What the targets of `fuzz/` try. Each takes any bytes, and panics when something is wrong.

use std::net::Ipv4Addr;
use std::path::Path;

use http::Request;
use policy::Session;
use units::{ClassId, SessionId, Time};

use crate::session::token::{self, Classes, Key};
use gate_config::settings::root::Settings;

/// Session tokens: only what was sealed is opened.
///
/// # Panics
/// When something else is.
pub fn tokens(data: &[u8]) {
    let key = Key::new(b"known to this trial alone", "");
    let classes = Classes::new(["premium", "basic"].into_iter());
    let open = |text: &[u8]| token::open([&key].into_iter(), &classes, text);
    let session = Session {
        id: SessionId(1),
        class: ClassId(1),
        issued: Time::from_nanos(2),
        last_seen: Time::from_nanos(3),
        raised: false,
    };
    let sealed = token::seal(&key, &classes, &session).into_bytes();
    // A fuzzer sees what is compared, and may bring it back.
    assert_eq!(open(data), (data == sealed).then_some(session), "a token out of nothing");
    let mut bent = sealed.clone();
    for change in data.chunks_exact(2) {
        let at = usize::from(change[0]) % bent.len();
        bent[at] ^= change[1];
    }
    assert_eq!(open(&bent), (bent == sealed).then_some(session), "a token that was changed");
}

/// Configuration files: they are read or refused, and what was read can be used.
///
/// # Panics
/// When the gate does.
pub fn settings(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let source = config::Source::new("gate.toml", text.to_owned());
    // Files that it names are looked for where there are none.
    let settings = match Settings::from_source(&source, Path::new("/nonexistent")) {
        Ok(settings) => settings,
        Err(error) => {
            assert!(error.to_string().starts_with("gate.toml"), "{error}");
            return;
        }
    };
    assert!(!settings.to_string().is_empty());
    let (head, ()) = Request::new(()).into_parts();
    settings.class_of(&Request::from_parts(head, ()), Ipv4Addr::LOCALHOST.into());
}

#[cfg(test)]
mod tests {
    use std::fs;

    use testkit::sweep;

    #[test]
    fn tokens() {
        let seeds = [&b""[..], b"\0\0", b"\x05\x01\x3f\xff", b"headworks=x;headworks=y", &[b'A'; 64]];
        sweep(super::tokens, &seeds.map(<[u8]>::to_vec), 1000);
    }

    #[test]
    fn settings() {
        let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gate.md")).unwrap();
        let examples = manual.split("```toml\n").skip(1).filter_map(|block| block.split("```").next());
        let seeds: Vec<Vec<u8>> = examples.map(|text| text.as_bytes().to_vec()).collect();
        sweep(super::settings, &seeds, 300);
    }
}
