//! Requests: what is let pass does not depend on how the bytes arrive.

use http1::request::{Filter, Limits, Stop};

/// What the filter made of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Filtered {
    /// What it let pass.
    pub(crate) passed: Vec<u8>,
    /// Requests whose head was well-formed.
    pub(crate) requests: u64,
    /// Why it let nothing more pass.
    pub(crate) stop: Option<Stop>,
}

/// Sends `bytes` through a filter, `piece` at a time, to a reader that takes `room` at a time.
/// Requests are answered as soon as they have passed.
pub(crate) fn through(bytes: &[u8], piece: usize, room: usize) -> Filtered {
    let mut filter = Filter::new(Limits::default());
    let (mut rest, mut passed) = (bytes, Vec::new());
    while filter.stop().is_none() {
        filter.answered(filter.requests());
        let ready = filter.ready().len().min(room);
        if ready > 0 {
            passed.extend_from_slice(&filter.ready()[..ready]);
            filter.passed(ready);
            continue;
        }
        if rest.is_empty() {
            break;
        }
        let (now, then) = rest.split_at(piece.min(room).min(rest.len()));
        let good = filter.take(now);
        passed.extend_from_slice(&now[..good]);
        rest = then;
    }
    Filtered { passed, requests: filter.requests(), stop: filter.stop() }
}

/// Tries the filter on `data`; the first two bytes say how it arrives.
///
/// # Panics
/// When it matters how the bytes arrive.
pub(crate) fn try_on(data: &[u8]) {
    let [piece, room, bytes @ ..] = data else { return };
    // A line is looked at when it has ended, if not before.
    let bytes = &[bytes, b"\n"].concat();
    let whole = through(bytes, usize::MAX, 16 * 1024);
    let split = through(bytes, usize::from(*piece) + 1, usize::from(*room) + 1);
    let kind = |outcome: &Filtered| outcome.stop.map(|stop| matches!(stop, Stop::Body(_)));
    // That a line is too long may be found before what else is wrong with it.
    assert_eq!(
        (&split.passed, split.requests, kind(&split)),
        (&whole.passed, whole.requests, kind(&whole)),
        "in pieces of {piece} to buffers of {room}"
    );
    assert!(bytes.starts_with(&whole.passed), "what has passed is not what has come");
}
