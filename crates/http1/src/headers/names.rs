//! Fields that decide what a request means, and where they may not be named.

/// Fields for the server, or that say where the message ends. Named in `Connection`, a proxy would
/// take them out; in the trailers, they come too late for a server that has acted on the head (RFC 9110
/// sections 6.5.1 and 7.6.1).
const DECISIVE: [&str; 20] = [
    "authorization",
    "cache-control",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "headworks-class",
    "host",
    "max-forwards",
    "origin",
    "proxy-authorization",
    "range",
    "set-cookie",
    "transfer-encoding",
    "via",
    "x-forwarded-for",
    "x-real-ip",
];

/// Fields of this connection, which no trailer can be.
const OF_THE_HOP: [&str; 6] = ["connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"];

fn is_among(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether a field decides what the request means: to a proxy, or to the server.
pub(crate) fn is_decisive(name: &[u8]) -> bool {
    is_among(name, &DECISIVE) || begins(name, b"x-forwarded-") || begins(name, b"headworks-")
}

/// Whether a field may come after the body.
pub(crate) fn may_be_trailer(name: &[u8]) -> bool {
    !is_among(name, &OF_THE_HOP) && !is_decisive(name)
}

/// Whether a name with underscores is a decisive one with hyphens. CGI and what came after it
/// (WSGI, PHP) know only underscores, so a server could take one for the other: the client's
/// `X_Forwarded_For` for the proxy's own.
pub(crate) fn is_alias(name: &[u8]) -> bool {
    let mut hyphenated = [0; MAX_NAME];
    let Some(hyphenated) = hyphenated.get_mut(..name.len()) else { return false };
    for (to, from) in hyphenated.iter_mut().zip(name) {
        *to = if *from == b'_' { b'-' } else { *from };
    }
    is_decisive(hyphenated)
}

/// Names beyond this length are not looked at: no server knows them.
const MAX_NAME: usize = 64;

fn begins(name: &[u8], prefix: &[u8]) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_any_spelling() {
        for name in ["Host", "CONTENT-LENGTH", "X-Forwarded-Proto", "Headworks-Anything"] {
            assert!(is_decisive(name.as_bytes()) && !may_be_trailer(name.as_bytes()), "{name}");
        }
        for name in ["Trailer", "te"] {
            assert!(!is_decisive(name.as_bytes()) && !may_be_trailer(name.as_bytes()), "{name}");
        }
        for name in ["Content_Length", "transfer_encoding", "X_Forwarded-For"] {
            assert!(is_alias(name.as_bytes()), "{name}");
        }
        for name in ["my_header", "x_forwarded", "", &"_".repeat(1000)] {
            assert!(!is_alias(name.as_bytes()) && !is_decisive(name.as_bytes()), "{name}");
        }
    }
}
