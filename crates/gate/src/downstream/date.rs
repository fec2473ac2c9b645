//! `Date` in responses over HTTP/2 (RFC 9110 section 6.6.1). hyper writes that of HTTP/1.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use http::HeaderValue;

thread_local! {
    /// Of the second it was last asked in.
    static DATE: RefCell<(u64, HeaderValue)> = const { RefCell::new((u64::MAX, HeaderValue::from_static(""))) };
}

/// The time now, as fields of HTTP have it.
pub(crate) fn now() -> HeaderValue {
    let now = SystemTime::now();
    let second = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    DATE.with_borrow_mut(|(of, date)| {
        if *of != second
            && let Ok(text) = HeaderValue::try_from(httpdate::fmt_http_date(now))
        {
            (*of, *date) = (second, text);
        }
        date.clone()
    })
}
