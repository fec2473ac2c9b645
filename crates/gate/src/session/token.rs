//! Session tokens: sealing what [`policy::Session`] says into the text of a cookie.
//!
//! 48 bytes in base64url, big-endian, so that the gate keeps no table of sessions:
//!
//! | bytes | what |
//! | --- | --- |
//! | 1 | version, 1 |
//! | 1 | id of the key it is sealed with |
//! | 1 | flags: bit 0, the class was raised |
//! | 1 | zero |
//! | 4 | fingerprint of the class's name |
//! | 8 | session id |
//! | 8 + 8 | issued, last seen: nanoseconds since 1970 |
//! | 16 | HMAC-SHA256 over the site's name and all of the above, truncated |
//!
//! A class is named by a fingerprint because its index changes when the operator adds another.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use policy::Session;
use sha2::{Digest, Sha256};
use units::{ClassId, SessionId, Time};

const VERSION: u8 = 1;
const RAISED: u8 = 1;
/// Bytes that a token says.
pub(super) const CLAIM: usize = 32;
const SEAL: usize = 16;
const BYTES: usize = CLAIM + SEAL;
/// Length of a token's text: 48 bytes are 64 characters without padding.
pub(crate) const TEXT: usize = BYTES / 3 * 4;

/// A key that seals tokens.
#[derive(Clone)]
pub(crate) struct Key {
    id: u8,
    // Has taken in the site's name: the same secret on two sites gives tokens that do not mix.
    primed: Hmac<Sha256>,
}

/// Whether they seal alike.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.primed.clone().finalize() == other.primed.clone().finalize()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Key {
    pub(crate) fn new(secret: &[u8], site: &str) -> Self {
        // RFC 2104 hashes a secret longer than a block and pads a shorter one with zeros; here
        // every secret is hashed, so that its length does not matter.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&Sha256::digest(secret));
        let mut primed = <Hmac<Sha256> as Mac>::new(&block.into());
        primed.update(site.as_bytes());
        primed.update(&[0]);
        let id = primed.clone().finalize().into_bytes()[0];
        Self { id, primed }
    }

    /// As it stands in tokens.
    pub(crate) fn id(&self) -> u8 {
        self.id
    }

    fn seal(&self, claim: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.primed.clone();
        mac.update(claim);
        mac
    }
}

/// The class names a token can carry.
#[derive(Debug, Clone)]
pub(crate) struct Classes(Vec<u32>);

impl Classes {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let fingerprint = |name: &str| {
            let digest = Sha256::digest(name);
            u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
        };
        Self(names.map(fingerprint).collect())
    }

    fn fingerprint(&self, class: ClassId) -> u32 {
        self.0.get(class.index()).or(self.0.last()).copied().unwrap_or_default()
    }

    fn find(&self, fingerprint: u32) -> Option<ClassId> {
        let index = self.0.iter().position(|known| *known == fingerprint)?;
        u8::try_from(index).ok().map(ClassId)
    }
}

/// Writes a token.
pub(crate) fn seal(key: &Key, classes: &Classes, session: &Session) -> String {
    let mut claim = [0; CLAIM];
    claim[0] = VERSION;
    claim[2] = if session.raised { RAISED } else { 0 };
    claim[4..8].copy_from_slice(&classes.fingerprint(session.class).to_be_bytes());
    claim[8..16].copy_from_slice(&session.id.0.to_be_bytes());
    claim[16..24].copy_from_slice(&session.issued.as_nanos().to_be_bytes());
    claim[24..32].copy_from_slice(&session.last_seen.as_nanos().to_be_bytes());
    seal_claim(key, claim)
}

/// Seals what is said after the first two bytes, and the version, which is the first.
pub(super) fn seal_claim(key: &Key, mut claim: [u8; CLAIM]) -> String {
    let mut token = [0; BYTES];
    claim[1] = key.id;
    token[..CLAIM].copy_from_slice(&claim);
    let mac = key.seal(&claim).finalize().into_bytes();
    token[CLAIM..].copy_from_slice(&mac[..SEAL]);
    URL_SAFE_NO_PAD.encode(token)
}

/// Reads a token sealed with one of `keys`; anything else is not a token.
pub(crate) fn open<'a>(
    keys: impl Iterator<Item = &'a Key>,
    classes: &Classes,
    text: &[u8],
) -> Option<Session> {
    let claim = open_claim(keys, VERSION, text)?;
    if claim[3] != 0 || claim[2] & !RAISED != 0 {
        return None;
    }
    Some(Session {
        id: SessionId(number(&claim, 8)),
        class: classes.find(u32::from_be_bytes([claim[4], claim[5], claim[6], claim[7]]))?,
        issued: Time::from_nanos(number(&claim, 16)),
        last_seen: Time::from_nanos(number(&claim, 24)),
        raised: claim[2] & RAISED != 0,
    })
}

/// What a token of that version says, if it was sealed with one of `keys`.
pub(super) fn open_claim<'a>(
    keys: impl Iterator<Item = &'a Key>,
    version: u8,
    text: &[u8],
) -> Option<[u8; CLAIM]> {
    if text.len() != TEXT {
        return None;
    }
    let mut token = [0; BYTES];
    URL_SAFE_NO_PAD.decode_slice(text, &mut token).ok().filter(|length| *length == BYTES)?;
    let (claim, seal) = token.split_first_chunk::<CLAIM>()?;
    if claim[0] != version {
        return None;
    }
    // The comparison takes the same time wherever the bytes differ.
    let mut keys = keys.filter(|key| key.id == claim[1]);
    keys.find(|key| key.seal(claim).verify_truncated_left(seal).is_ok())?;
    Some(*claim)
}

pub(super) fn number(claim: &[u8], at: usize) -> u64 {
    claim[at..at + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Classes {
        Classes::new(["premium", "basic"].into_iter())
    }

    fn session() -> Session {
        Session {
            id: SessionId(0x0123_4567_89ab_cdef),
            class: ClassId(1),
            issued: Time::from_nanos(1_700_000_000_000_000_001),
            last_seen: Time::from_nanos(1_700_000_000_000_000_002),
            raised: true,
        }
    }

    fn read(key: &Key, text: &str) -> Option<Session> {
        open([key].into_iter(), &classes(), text.as_bytes())
    }

    #[test]
    fn a_token_says_what_was_sealed() {
        let key = Key::new(b"secret", "site");
        let text = seal(&key, &classes(), &session());
        assert_eq!(text.len(), TEXT);
        assert_eq!(read(&key, &text), Some(session()));
    }

    #[test]
    fn no_bit_can_be_changed() {
        let key = Key::new(b"secret", "site");
        let text = seal(&key, &classes(), &session());
        let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut forged = bytes.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&key, &URL_SAFE_NO_PAD.encode(forged)), None, "bit {bit}");
        }
    }

    #[test]
    fn other_secrets_and_sites_are_strangers() {
        let text = seal(&Key::new(b"secret", "site"), &classes(), &session());
        assert_eq!(read(&Key::new(b"secret", "other"), &text), None);
        assert_eq!(read(&Key::new(b"other", "site"), &text), None);
    }

    #[test]
    fn a_class_is_found_by_name_after_the_list_has_changed() {
        let key = Key::new(b"secret", "site");
        let text = seal(&key, &classes(), &session());
        let read = |names: &[&str]| {
            let classes = Classes::new(names.iter().copied());
            open([&key].into_iter(), &classes, text.as_bytes()).map(|session| session.class)
        };
        assert_eq!(read(&["gold", "premium", "basic"]), Some(ClassId(2)));
        assert_eq!(read(&["gold", "premium"]), None);
    }

    proptest::proptest! {
        #[test]
        fn garbage_is_no_token(text in "[ -~]{0,80}", bytes: [u8; BYTES]) {
            let key = Key::new(b"secret", "site");
            assert_eq!(read(&key, &text), None);
            assert_eq!(read(&key, &URL_SAFE_NO_PAD.encode(bytes)), None);
        }
    }
}
