//! Bodies of chunks: what they hold does not depend on how they are cut, and what is read strictly is
//! read leniently as the same body.

use http1::chunks::{Chunks, Fault, Part, Rules, SizeLines, TrailerNames};

const STRICT: Rules = Rules {
    max_line: 256,
    max_trailers: 4096,
    max_trailer_lines: 100,
    lines: SizeLines::Strict,
    trailers: TrailerNames::Harmless,
};

/// What was made of some bytes.
#[derive(Debug, PartialEq, Eq)]
struct DecodedBody {
    data: Vec<u8>,
    trailers: Vec<u8>,
    /// Bytes that belong to the body.
    used: usize,
    /// Whether it is over, or what is wrong with it.
    over: Result<bool, Fault>,
}

fn read(bytes: &[u8], size: usize, rules: &Rules) -> DecodedBody {
    let mut chunks = Chunks::default();
    let mut outcome = DecodedBody { data: Vec::new(), trailers: Vec::new(), used: 0, over: Ok(false) };
    for piece in bytes.chunks(size) {
        let mut rest = piece;
        loop {
            match chunks.next(&mut rest, rules) {
                Ok(Part::Data(data)) => outcome.data.extend_from_slice(data),
                Ok(Part::Trailers(lines)) => outcome.trailers.extend_from_slice(lines),
                Ok(Part::More) => break,
                Ok(Part::End) => {
                    outcome.over = Ok(true);
                    break;
                }
                Err(fault) => {
                    // What has come of the trailers is given only where they are sound.
                    outcome.trailers.clear();
                    outcome.over = Err(fault);
                    break;
                }
            }
        }
        outcome.used += piece.len() - rest.len();
        assert_eq!(chunks.is_over(), outcome.over == Ok(true));
        if outcome.over != Ok(false) {
            break;
        }
    }
    outcome
}

/// Tries the decoder on `data`; the first byte says how it arrives.
///
/// # Panics
/// When it matters how the bytes arrive, or with which rules a sound body is read.
pub(crate) fn try_on(data: &[u8]) {
    let [size, bytes @ ..] = data else { return };
    for rules in [STRICT, Rules::RESPONSE] {
        let whole = read(bytes, usize::MAX, &rules);
        assert_eq!(read(bytes, usize::from(*size) + 1, &rules), whole, "in pieces of {size}: {rules:?}");
        assert!(whole.trailers.ends_with(b"\r\n") || whole.over != Ok(true));
    }
    let strict = read(bytes, usize::MAX, &STRICT);
    if strict.over == Ok(true) {
        assert_eq!(strict, read(bytes, usize::MAX, &Rules::RESPONSE), "{}", bytes.escape_ascii());
    }
}
