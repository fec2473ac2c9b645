//! The `Cookie` header (RFC 6265 section 4.2): finding a cookie, and taking ours out.

use http::header::{COOKIE, Entry};
use http::{HeaderMap, HeaderValue};

/// The value of the first cookie called `name`.
pub fn find<'a>(headers: &'a HeaderMap, name: &[u8]) -> Option<&'a [u8]> {
    all(headers).find_map(|(key, value)| (key == name).then_some(value))
}

/// The values of all cookies called `name`. A client may send several, with what was set for the
/// longest path first, and nothing says which is whose (RFC 6265 section 5.4).
pub fn called<'a>(headers: &'a HeaderMap, name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    all(headers).filter_map(move |(key, value)| (key == name).then_some(value))
}

/// Names and values of all cookies.
pub fn all(headers: &HeaderMap) -> impl Iterator<Item = (&[u8], &[u8])> {
    headers.get_all(COOKIE).iter().flat_map(|line| pairs(line.as_bytes())).map(split)
}

/// Takes every cookie out that is called one of `names`; headers left empty go with them.
pub fn remove(headers: &mut HeaderMap, names: &[&[u8]]) {
    if !all(headers).any(|(key, _)| names.contains(&key)) {
        return;
    }
    let Entry::Occupied(lines) = headers.entry(COOKIE) else { return };
    let (_, lines) = lines.remove_entry_mult();
    let rest: Vec<HeaderValue> = lines.filter_map(|line| without(&line, names)).collect();
    for line in rest {
        headers.append(COOKIE, line);
    }
}

fn without(line: &HeaderValue, names: &[&[u8]]) -> Option<HeaderValue> {
    let kept: Vec<&[u8]> = pairs(line.as_bytes()).filter(|pair| !names.contains(&split(pair).0)).collect();
    if kept.is_empty() {
        return None;
    }
    // Parts of a valid value, joined by valid characters, are one.
    HeaderValue::from_bytes(&kept.join(&b"; "[..])).ok()
}

fn pairs(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b';').map(<[u8]>::trim_ascii).filter(|pair| !pair.is_empty())
}

fn split(pair: &[u8]) -> (&[u8], &[u8]) {
    match pair.iter().position(|byte| *byte == b'=') {
        Some(at) => (&pair[..at], &pair[at + 1..]),
        None => (pair, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&'static str]) -> HeaderMap {
        lines.iter().map(|line| (COOKIE, HeaderValue::from_static(line))).collect()
    }

    #[test]
    fn cookies_are_found_wherever_they_stand() {
        let headers = headers(&["a=1; ours=two;b=3", "  c = 4 ;; flag; ours=other"]);
        let found = |name: &'static str| called(&headers, name.as_bytes()).collect::<Vec<_>>();
        for (name, values) in [("a", &["1"][..]), ("ours", &["two", "other"]), ("b", &["3"]), ("flag", &[""])]
        {
            let values: Vec<_> = values.iter().map(|value| value.as_bytes()).collect();
            assert_eq!(found(name), values, "{name}");
        }
        for name in ["our", "o", "", "two", "OURS"] {
            assert!(found(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn only_ours_is_removed() {
        for (lines, left) in [
            (&["a=1; ours=x; b=2"][..], &["a=1; b=2"][..]),
            (&["ours=x; ours-too=y"], &[]),
            (&["ours=x", "a=1", "b=2; ours=y"], &["a=1", "b=2"]),
            (&["a=1;b=2"], &["a=1;b=2"]),
        ] {
            let mut headers = headers(lines);
            remove(&mut headers, &[b"ours", b"ours-too"]);
            let kept: Vec<_> = headers.get_all(COOKIE).iter().map(|line| line.to_str().unwrap()).collect();
            assert_eq!(kept, left, "{lines:?}");
        }
    }
}
