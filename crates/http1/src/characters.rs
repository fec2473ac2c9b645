//! What each byte may be part of.

/// A method or a field's name (RFC 9110 section 5.6.2).
pub(crate) const TOKEN: u8 = 1;
/// A path: RFC 3986 section 3.3, and what browsers send besides.
pub(crate) const PATH: u8 = 2;
/// A query: RFC 3986 section 3.4, and what browsers send besides.
pub(crate) const QUERY: u8 = 4;
/// A host's name or IPv4 address as they occur. RFC 3986 has more, which no name server knows.
pub(crate) const HOST: u8 = 8;
/// A field's value (RFC 9110 section 5.5), white space included.
pub(crate) const TEXT: u8 = 16;
/// An underscore, which some servers take for a hyphen.
pub(crate) const UNDERSCORE: u8 = 32;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0u8;
    loop {
        let mut class = 0;
        if byte.is_ascii_alphanumeric() {
            class |= TOKEN | PATH | QUERY | HOST;
        }
        if matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        ) {
            class |= TOKEN;
        }
        if matches!(byte, b'-' | b'.' | b'_') {
            class |= HOST;
        }
        // Never `#`: a fragment is not sent, and a server that finds one cuts the target there. In a path no
        // backslash either, which some servers take for a slash. The rest is what `http::Uri` takes.
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'<' | b'>' | b'?' | b'\\' | b'`') {
            class |= PATH;
        }
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'<' | b'>' | b'"') {
            class |= QUERY;
        }
        if byte == b'\t' || byte >= b' ' && byte != 0x7f {
            class |= TEXT;
        }
        if byte == b'_' {
            class |= UNDERSCORE;
        }
        classes[byte as usize] = class;
        if byte == u8::MAX {
            return classes;
        }
        byte += 1;
    }
}

pub(crate) fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

/// Whether every byte may be part of that.
pub(crate) fn all(bytes: &[u8], of: u8) -> bool {
    bytes.iter().all(|byte| class(*byte) & of != 0)
}

/// Length of the run of [`TEXT`] that `bytes` begin with. Most bytes of a head are looked at here,
/// so it goes by words.
pub(crate) fn text(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        while let Some(word) = bytes[at..].first_chunk::<8>()
            && !suspicious(u64::from_le_bytes(*word))
        {
            at += 8;
        }
        let next = &bytes[at..bytes.len().min(at + 8)];
        if let Some(end) = next.iter().position(|byte| class(*byte) & TEXT == 0) {
            return at + end;
        }
        at += next.len();
        if at == bytes.len() {
            return at;
        }
    }
}

/// Whether a byte of the word is a control character; a tab is one, too.
fn suspicious(word: u64) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // The well-known test for a zero byte, and the one for a byte below 32.
    let delete = word ^ (ONES * 0x7f);
    let below = word.wrapping_sub(ONES * 0x20) & !word;
    (below | delete.wrapping_sub(ONES) & !delete) & HIGH != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_text_ends_at_the_first_control_character_wherever_it_stands() {
        for length in 0..40 {
            for bad in 0..=u8::MAX {
                let mut bytes = vec![b'x'; length];
                bytes.push(bad);
                bytes.extend_from_slice(b"\tand so on\x80\xff");
                let control = bad != b'\t' && (bad < b' ' || bad == 0x7f);
                assert_eq!(text(&bytes), if control { length } else { bytes.len() }, "{bad:#x} at {length}");
            }
        }
    }

    #[test]
    fn bytes_are_what_http_says() {
        for byte in 0..=u8::MAX {
            let token = http::Method::from_bytes(&[byte]).is_ok();
            assert_eq!(class(byte) & TOKEN != 0, token, "{byte:#x}");
            let value = http::HeaderValue::from_bytes(&[byte]).is_ok();
            assert_eq!(class(byte) & TEXT != 0, value, "{byte:#x}");
            for (of, prefix) in [(PATH, &b"/"[..]), (QUERY, b"/?")] {
                let target = [prefix, &[byte]].concat();
                let taken = http::Uri::try_from(target.as_slice()).is_ok();
                assert!(class(byte) & of == 0 || taken, "{byte:#x} in {prefix:?}");
            }
        }
    }
}
