//! [`Activity`]: what a function is for, by its name.

/// What is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// Collects garbage.
    Collecting,
    /// Is of a handshake of TLS.
    Handshaking,
    /// Is of cryptography, whatever for.
    Encrypting,
}

/// Parts of the names of functions, as symbols have them: of Go's runtime, V8, CPython, PHP and Ruby.
const COLLECTING: [&str; 28] = [
    "runtime.gc",
    "runtime.scan",
    "runtime.(*gcWork)",
    "runtime.(*mspan).markBits",
    "runtime.(*sweepLocked)",
    "runtime.greyobject",
    "runtime.markroot",
    "runtime.findObject",
    "runtime.bgsweep",
    "runtime.sweepone",
    "runtime.wbBufFlush",
    "runtime.tryDeferToSpanScan",
    "internal/runtime/gc",
    "8internal9Scaveng",
    "8internal11MarkCompact",
    "8internal20MarkCompact",
    "8internal18MarkingVisitor",
    "8internal16ConcurrentMark",
    "8internal17IncrementalMark",
    "8internal7Sweeper",
    "8internal9Evacuat",
    "CollectGarbage",
    "gc_collect",
    "visit_decref",
    "visit_reachable",
    "zend_gc_",
    "gc_mark",
    "gc_sweep",
];
/// Of OpenSSL and BoringSSL, and of Go's own.
const HANDSHAKING: [&str; 26] = [
    "RSA_",
    "rsa_ossl",
    "BN_mod",
    "bn_mul",
    "bn_sqr",
    "bn_power",
    "BN_from_montgomery",
    "EC_POINT",
    "EC_KEY",
    "ECDSA_",
    "ECDH_",
    "ecp_nistz",
    "x25519",
    "X25519",
    "EVP_PKEY_",
    "EVP_DigestSign",
    "ossl_statem",
    "tls_process",
    "tls_construct",
    "SSL_do_handshake",
    "crypto/rsa.",
    "crypto/ecdsa.",
    "/bigmod.",
    "/nistec.",
    "/nistec/fiat.",
    "crypto/tls.(*Conn).handshake",
];
/// Files of which what has no name is cryptography.
const LIBRARIES: [&str; 4] = ["libcrypto.so", "libssl.so", "libgnutls.so", "libnettle.so"];

impl Activity {
    /// By the name of a function.
    pub(super) fn of_function(name: &str) -> Option<Self> {
        let is_one_of = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if is_one_of(&HANDSHAKING) {
            Some(Self::Handshaking)
        } else if is_one_of(&COLLECTING) {
            Some(Self::Collecting)
        } else {
            None
        }
    }

    /// By the name of a file.
    pub(super) fn of_file(file: &str) -> Option<Self> {
        let name = file.rsplit('/').next().unwrap_or(file);
        LIBRARIES.iter().any(|library| name.starts_with(library)).then_some(Self::Encrypting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_names() {
        for (name, expected) in [
            ("runtime.gcDrain", Some(Activity::Collecting)),
            ("runtime.scanobject", Some(Activity::Collecting)),
            ("runtime.mallocgc", None),
            ("_ZN2v88internal9Scavenger7ProcessEPNS_11JobDelegateE", Some(Activity::Collecting)),
            ("_ZN2v88internal7FactoryE", None),
            ("BN_mod_exp_mont_consttime", Some(Activity::Handshaking)),
            ("crypto/internal/fips140/bigmod.addMulVVW2048", Some(Activity::Handshaking)),
            ("aes_gcm_enc_update", None),
            ("main.main", None),
        ] {
            assert_eq!(Activity::of_function(name), expected, "{name}");
        }
        assert_eq!(Activity::of_file("/usr/lib/libcrypto.so.3"), Some(Activity::Encrypting));
        assert_eq!(Activity::of_file("/usr/lib/libc.so.6"), None);
    }
}
