//! Place tokens: sealing a [`policy::Visit`] into the text of a cookie or a header.
//!
//! 48 bytes in base64url, big-endian, sealed like a session's token (see [`token`](super::token)):
//!
//! | bytes | what |
//! | --- | --- |
//! | 1 | version, 2: no token of a session |
//! | 1 | id of the key it is sealed with |
//! | 2 | after how many seconds the visitor was told to come back |
//! | 4 | the place that it was told |
//! | 8 | id of the session that is to begin |
//! | 8 + 8 | first visit, last visit: nanoseconds since 1970 |
//! | 16 | the seal |

use policy::{Told, Visit};
use units::{SessionId, Time};

use crate::session::token::{CLAIM, Key, number, open_claim, seal_claim};

const VERSION: u8 = 2;

/// Writes a token, unless the visitor was told nothing.
pub(crate) fn seal(key: &Key, visit: &Visit) -> Option<String> {
    let Told { at, place, seconds } = visit.told?;
    let mut claim = [0; CLAIM];
    claim[0] = VERSION;
    claim[2..4].copy_from_slice(&seconds.to_be_bytes());
    claim[4..8].copy_from_slice(&place.to_be_bytes());
    claim[8..16].copy_from_slice(&visit.id.0.to_be_bytes());
    claim[16..24].copy_from_slice(&visit.first.as_nanos().to_be_bytes());
    claim[24..32].copy_from_slice(&at.as_nanos().to_be_bytes());
    Some(seal_claim(key, claim))
}

/// Reads a token sealed with one of `keys`; anything else is not a token.
pub(crate) fn open<'a>(keys: impl Iterator<Item = &'a Key>, text: &[u8]) -> Option<Visit> {
    let claim = open_claim(keys, VERSION, text)?;
    let told = Told {
        at: Time::from_nanos(number(&claim, 24)),
        place: u32::from_be_bytes([claim[4], claim[5], claim[6], claim[7]]),
        seconds: u16::from_be_bytes([claim[2], claim[3]]),
    };
    Some(Visit {
        id: SessionId(number(&claim, 8)),
        first: Time::from_nanos(number(&claim, 16)),
        told: Some(told),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::token::{self, Classes};
    use policy::Session;
    use units::ClassId;

    fn visit() -> Visit {
        let told = Told { at: Time::from_nanos(1_700_000_000_000_000_002), place: 4711, seconds: 59 };
        let first = Time::from_nanos(1_700_000_000_000_000_001);
        Visit { id: SessionId(0x0123_4567_89ab_cdef), first, told: Some(told) }
    }

    #[test]
    fn a_token_says_what_was_sealed_and_nothing_else() {
        let key = Key::new(b"secret", "site");
        let text = seal(&key, &visit()).unwrap();
        assert_eq!(open([&key].into_iter(), text.as_bytes()), Some(visit()));
        for at in 0..text.len() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(open([&key].into_iter(), &forged), None, "character {at}");
        }
        assert_eq!(open([&Key::new(b"other", "site")].into_iter(), text.as_bytes()), None);
        assert_eq!(seal(&key, &Visit { told: None, ..visit() }), None);
    }

    #[test]
    fn places_and_sessions_are_no_tokens_of_each_other() {
        let (key, classes) = (Key::new(b"secret", "site"), Classes::new(["basic"].into_iter()));
        let session = Session::begin(SessionId(1), ClassId(0), Time::from_nanos(1));
        let (session, place) = (token::seal(&key, &classes, &session), seal(&key, &visit()).unwrap());
        assert_eq!(open([&key].into_iter(), session.as_bytes()), None);
        assert_eq!(token::open([&key].into_iter(), &classes, place.as_bytes()), None);
    }
}
