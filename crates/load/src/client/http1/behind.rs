//! [`Behind`]: what has arrived behind the last response that was asked for.

/// Of "HTTP/1.1 408", all that is looked at.
pub(crate) const MAX_LOOKED_AT: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    Nothing,
    /// The server ends the connection as idle, with a status of its own for that (RFC 9110, section 15.5.9). Whether it
    /// comes with the response or after it is chance.
    Farewell,
    /// More than the response announced: it is not the content that was asked for.
    Surplus,
}

impl Behind {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        match bytes {
            [] => Self::Nothing,
            _ if bytes.starts_with(b"HTTP/1.1 408") || bytes.starts_with(b"HTTP/1.0 408") => Self::Farewell,
            _ => Self::Surplus,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_farewell_is_no_content() {
        let kinds = [
            (&b""[..], Behind::Nothing),
            (b"HTTP/1.1 408 Request Timeout\r\n", Behind::Farewell),
            (b"HTTP/1.0 408", Behind::Farewell),
            (b"HTTP/1.1 40", Behind::Surplus),
            (b"HTTP/1.1 200 OK\r\n", Behind::Surplus),
            (b"x", Behind::Surplus),
            (b"\r\n", Behind::Surplus),
        ];
        for (bytes, expected) in kinds {
            assert_eq!(Behind::of(bytes), expected, "{}", bytes.escape_ascii());
        }
    }
}
