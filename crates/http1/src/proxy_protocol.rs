//! The PROXY protocol: where a connection came from before a proxy took it ("The PROXY protocol",
//! versions 1 and 2, section 2).

use std::net::IpAddr;

/// What the beginning of a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// A header may be coming.
    Incomplete,
    /// Another protocol, or a header that may not be sent.
    Garbage,
    /// A whole header.
    Whole {
        /// Its bytes.
        length: usize,
        /// The client; none when the proxy speaks for itself or does not say.
        source: Option<IpAddr>,
    },
}

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
const TEXT: &[u8; 6] = b"PROXY ";
/// The longest header of version 1, its end included.
const MAX_LINE: usize = 107;
/// Of version 2, extensions included. They may be longer, but no proxy's are.
const MAX_HEADER: usize = 4096;

/// Reads the header of either version that `bytes` begin with.
pub fn parse(bytes: &[u8]) -> Header {
    let begins = |with: &[u8]| bytes.starts_with(with) || with.starts_with(bytes);
    if begins(&SIGNATURE) {
        binary(bytes)
    } else if begins(TEXT) {
        text(bytes)
    } else {
        Header::Garbage
    }
}

fn binary(bytes: &[u8]) -> Header {
    let Some(&[version, protocol, high, low]) = bytes.get(12..16).and_then(|rest| rest.first_chunk()) else {
        return Header::Incomplete;
    };
    let length = 16 + usize::from(u16::from_be_bytes([high, low]));
    if length > MAX_HEADER {
        return Header::Garbage;
    }
    let from_proxy = match version {
        0x20 => true,
        0x21 => false,
        _ => return Header::Garbage,
    };
    // Unspecified, TCP over IPv4 and IPv6, and Unix sockets; datagrams carry no HTTP that we speak.
    let (size, wide) = match protocol {
        0x00 => (0, false),
        0x11 => (12, false),
        0x21 => (36, true),
        0x31 => (216, false),
        // "The receiver must ignore" the protocol of a proxy that speaks for itself.
        _ if from_proxy => (0, false),
        _ => return Header::Garbage,
    };
    if length < 16 + size && !from_proxy {
        return Header::Garbage;
    }
    let Some(addresses) = bytes.get(16..length) else { return Header::Incomplete };
    let source = match (from_proxy, protocol, wide) {
        (false, 0x11, _) => addresses.first_chunk::<4>().map(|octets| IpAddr::from(*octets)),
        (false, _, true) => addresses.first_chunk::<16>().map(|octets| IpAddr::from(*octets)),
        _ => None,
    };
    Header::Whole { length, source }
}

fn text(bytes: &[u8]) -> Header {
    let line = &bytes[..bytes.len().min(MAX_LINE)];
    let Some(end) = line.windows(2).position(|pair| pair == b"\r\n") else {
        return if line.len() == MAX_LINE { Header::Garbage } else { Header::Incomplete };
    };
    match std::str::from_utf8(&line[..end]).ok().and_then(fields) {
        Some(source) => Header::Whole { length: end + 2, source },
        None => Header::Garbage,
    }
}

/// The source that a line names; the outer `None` for one that is malformed.
fn fields(line: &str) -> Option<Option<IpAddr>> {
    let mut words = line.strip_prefix("PROXY ")?.split(' ');
    let family = words.next()?;
    if family == "UNKNOWN" {
        return Some(None);
    }
    let (source, destination): (IpAddr, IpAddr) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let ports = [words.next()?, words.next()?];
    let wide = match family {
        "TCP4" => false,
        "TCP6" => true,
        _ => return None,
    };
    let sound = words.next().is_none()
        && ports.iter().all(|port| is_port(port))
        && [source, destination].iter().all(|address| address.is_ipv6() == wide);
    sound.then_some(Some(source))
}

fn is_port(text: &str) -> bool {
    let leading_zero = text.len() > 1 && text.starts_with('0');
    !leading_zero && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(version: u8, protocol: u8, addresses: &[u8]) -> Vec<u8> {
        let length = u16::try_from(addresses.len()).unwrap().to_be_bytes();
        [&SIGNATURE, &[version, protocol][..], &length, addresses].concat()
    }

    /// Every beginning of a header is incomplete, and what follows one changes nothing.
    #[track_caller]
    fn check_whole(header: &[u8], source: Option<&str>) {
        let source = source.map(|source| source.parse().unwrap());
        let whole = Header::Whole { length: header.len(), source };
        assert_eq!(parse(header), whole);
        assert_eq!(parse(&[header, b"GET / HTTP/1.1"].concat()), whole);
        for length in 0..header.len() {
            assert_eq!(parse(&header[..length]), Header::Incomplete, "the first {length} bytes");
        }
    }

    #[test]
    fn both_versions_name_the_client() {
        check_whole(b"PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n", Some("192.0.2.7"));
        check_whole(b"PROXY TCP6 2001:db8::7 ::1 1 0\r\n", Some("2001:db8::7"));
        check_whole(b"PROXY UNKNOWN\r\n", None);
        check_whole(b"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n", None);
        let v4 = [192, 0, 2, 7, 198, 51, 100, 1, 0x12, 0x67, 1, 187];
        check_whole(&second(0x21, 0x11, &v4), Some("192.0.2.7"));
        let extended = [&v4[..], &[4, 0, 3, 1, 2, 3]].concat();
        check_whole(&second(0x21, 0x11, &extended), Some("192.0.2.7"));
        let mut v6 = [0; 36];
        v6[..4].copy_from_slice(&[0x20, 1, 0x0d, 0xb8]);
        check_whole(&second(0x21, 0x21, &v6), Some("2001:db8::"));
        check_whole(&second(0x21, 0x31, &[0; 216]), None);
        check_whole(&second(0x21, 0x00, &[]), None);
        check_whole(&second(0x20, 0x00, &[]), None);
        check_whole(&second(0x20, 0x11, &v4), None);
    }

    #[test]
    fn everything_else_is_garbage() {
        for garbage in [
            &b"GET / HTTP/1.1\r\n"[..],
            b"\x16\x03\x01",
            b"\r\n\r\nGET",
            b"PROXY TCP4 192.0.2.7 198.51.100.1 4711\r\n",
            b"PROXY TCP4 192.0.2.7 198.51.100.1 4711 443 1\r\n",
            b"PROXY TCP4 192.0.2.7  198.51.100.1 4711 443\r\n",
            b"PROXY TCP4 2001:db8::7 ::1 1 0\r\n",
            b"PROXY TCP6 192.0.2.7 198.51.100.1 4711 443\r\n",
            b"PROXY TCP4 192.0.2.7 198.51.100.1 04711 443\r\n",
            b"PROXY TCP4 192.0.2.7 198.51.100.1 +711 443\r\n",
            b"PROXY TCP4 192.0.2.7 198.51.100.1 65536 443\r\n",
            b"PROXY TCP4 192.0.2.300 198.51.100.1 1 443\r\n",
            b"PROXY UDP4 192.0.2.7 198.51.100.1 1 443\r\n",
            b"PROXY tcp4 192.0.2.7 198.51.100.1 1 443\r\n",
            b"PROXY \r\n",
            &[b"PROXY UNKNOWN "[..].to_vec(), vec![b'x'; 200]].concat(),
            &second(0x11, 0x11, &[0; 12]),
            &second(0x22, 0x11, &[0; 12]),
            &second(0x21, 0x12, &[0; 12]),
            &second(0x21, 0x11, &[0; 11]),
            &second(0x21, 0x21, &[0; 12]),
            &second(0x21, 0x11, &[0; 5000]),
        ] {
            assert_eq!(parse(garbage), Header::Garbage, "{}", garbage.escape_ascii());
        }
    }
}
