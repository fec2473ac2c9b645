//! What a file is, by the end of its name.

pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

/// What is not known by its name.
const BYTES: &str = "application/octet-stream";

/// The types of what the workloads of the literature ask for, and of what pages are made of today.
const BY_EXTENSION: [(&str, &str); 27] = [
    ("aiff", "audio/aiff"),
    ("au", "audio/basic"),
    ("avi", "video/x-msvideo"),
    ("css", "text/css; charset=utf-8"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", HTML),
    ("html", HTML),
    ("ico", "image/vnd.microsoft.icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", TEXT),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
];

/// The media type of the file `name`.
pub(crate) fn of(name: &[u8]) -> &'static str {
    let file = name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let Some(dot) = file.iter().rposition(|&byte| byte == b'.') else { return BYTES };
    let extension = file.get(dot + 1..).unwrap_or_default();
    let known = BY_EXTENSION.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known.as_bytes()));
    known.map_or(BYTES, |(_, media_type)| media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_dot_of_the_last_segment_counts() {
        for (name, media_type) in [
            (&b"a/b.html"[..], HTML),
            (b"A.GIF", "image/gif"),
            (b"a.tar.gz", "application/gzip"),
            (b"a.html/b", BYTES),
            (b"a", BYTES),
            (b"a.", BYTES),
            (b"a.\xff", BYTES),
        ] {
            assert_eq!(of(name), media_type, "{}", name.escape_ascii());
        }
    }
}
