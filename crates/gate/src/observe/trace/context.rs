//! The trace that a request belongs to (W3C Trace Context).

use http::{HeaderMap, HeaderName, HeaderValue};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// Version 00: `00-` trace id `-` parent id `-` flags.
const LENGTH: usize = 55;
const SAMPLED: u8 = 1;

/// The trace of a request that is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) id: u128,
    /// The client's span, if it names one.
    pub(crate) parent: Option<u64>,
    /// What the request is here.
    pub(crate) span: u64,
    /// What it is in the upstream, as far as we see it.
    pub(crate) upstream: u64,
}

/// What a client says of the trace that its request is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parent {
    trace: u128,
    span: u64,
    sampled: bool,
}

impl Trace {
    /// The trace of a request with these headers, if it is to be recorded: a `share` of all are,
    /// or, if clients are to be followed, those that a client records.
    pub(crate) fn of(headers: &HeaderMap, share: f64, follow: bool) -> Option<Self> {
        let parent = parent(headers);
        let recorded = match parent {
            Some(parent) if follow => parent.sampled,
            _ => fastrand::f64() < share,
        };
        recorded.then(|| Self {
            id: parent.map_or_else(|| fastrand::u128(1..), |parent| parent.trace),
            parent: parent.map(|parent| parent.span),
            span: fastrand::u64(1..),
            upstream: fastrand::u64(1..),
        })
    }

    /// Tells the upstream of it.
    pub(crate) fn pass_on(&self, headers: &mut HeaderMap) {
        let text = format!("00-{:032x}-{:016x}-{SAMPLED:02x}", self.id, self.upstream);
        if let Ok(value) = HeaderValue::from_maybe_shared(bytes::Bytes::from(text)) {
            headers.insert(TRACEPARENT, value);
        }
    }
}

/// One header, or none: who sends two means something else.
fn parent(headers: &HeaderMap) -> Option<Parent> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let text = value.to_str().ok()?;
    // Later versions begin in the same way, and may say more behind another dash.
    let later = text.len() > LENGTH && !text.starts_with("00") && text.as_bytes()[LENGTH] == b'-';
    if text.starts_with("ff") || !(text.len() == LENGTH || later) {
        return None;
    }
    let mut parts = text.get(..LENGTH)?.split('-');
    let mut hex = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits)?;
        let lower = part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        u128::from_str_radix(part, 16).ok().filter(|_| lower)
    };
    let (_version, trace, span, flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
    let span = u64::try_from(span).ok().filter(|span| *span != 0)?;
    (trace != 0).then_some(Parent { trace, span, sampled: flags & u128::from(SAMPLED) != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (TRACEPARENT, HeaderValue::from_static(value))).collect()
    }

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn only_what_the_recommendation_allows_is_a_parent() {
        let good = Parent {
            trace: 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c,
            span: 0xb7ad_6b71_6920_3331,
            sampled: true,
        };
        assert_eq!(parent(&headers(&[GOOD])), Some(good));
        let later = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more";
        assert_eq!(parent(&headers(&[later])), Some(Parent { sampled: false, ..good }));
        for bad in [
            "",
            "00",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319cb7ad6b7169203331-01--",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(parent(&headers(&[bad])), None, "{bad}");
        }
        assert_eq!(parent(&headers(&[GOOD, GOOD])), None);
    }

    #[test]
    fn a_client_decides_only_when_it_is_followed() {
        let unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
        assert!(Trace::of(&headers(&[GOOD]), 0.0, false).is_none());
        assert!(Trace::of(&headers(&[unsampled]), 1.0, true).is_none());
        assert!(Trace::of(&headers(&[]), 1.0, true).is_some());
        let trace = Trace::of(&headers(&[GOOD]), 0.0, true).unwrap();
        let mut passed = headers(&[GOOD]);
        trace.pass_on(&mut passed);
        let next = parent(&passed).unwrap();
        assert_eq!((next.trace, next.span, next.sampled), (trace.id, trace.upstream, true));
        assert_eq!(trace.parent, Some(0xb7ad_6b71_6920_3331));
    }
}
