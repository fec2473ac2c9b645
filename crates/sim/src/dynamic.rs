//! What a URL, or a line of a log, says about whether its page is made when it is asked for.

use traffic::trace::Logged;

/// Extensions of programs.
const PROGRAMS: [&str; 16] = [
    "php", "php3", "php4", "php5", "phtml", "cgi", "fcgi", "pl", "py", "rb", "asp", "aspx", "jsp", "do",
    "action", "cfm",
];

/// Extensions of files; a query behind one of these only tells versions of it apart.
const FILES: [&str; 24] = [
    "html", "htm", "txt", "css", "js", "mjs", "json", "xml", "png", "jpg", "jpeg", "gif", "webp", "avif",
    "svg", "ico", "woff", "woff2", "ttf", "pdf", "zip", "gz", "mp4", "webm",
];

/// Whether a request of a log is dynamic; `None` where it is a connection that was switched to another protocol, and no
/// request.
pub(crate) fn kind(logged: &Logged) -> Option<bool> {
    if logged.status == Some(101) || logged.method == "CONNECT" {
        return None;
    }
    let is_read = matches!(logged.method.as_str(), "GET" | "HEAD");
    // What is not a file's name is asked of a program.
    Some(!is_read || logged.url.as_deref().is_none_or(is_dynamic))
}

/// Whether the page is a program's, by its path, its extension, or its query.
pub(crate) fn is_dynamic(url: &str) -> bool {
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    if path.contains("/cgi-bin/") || path.contains("/fcgi-bin/") {
        return true;
    }
    // `/index.php/page` names a program as well.
    let mut extensions = path.split('/').filter_map(|part| part.rsplit_once('.')).map(|(_, end)| end);
    if extensions.clone().any(|end| is_one_of(end, &PROGRAMS)) {
        return true;
    }
    query.is_some_and(|query| !query.is_empty()) && !extensions.any(|end| is_one_of(end, &FILES))
}

fn is_one_of(extension: &str, known: &[&str]) -> bool {
    known.iter().any(|one| one.eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_from_files() {
        for url in
            ["/a.php", "/a.PHP?x=1", "/cgi-bin/count", "/search?q=a", "/index.php/page", "/burn?cpu=5ms"]
        {
            assert!(is_dynamic(url), "{url}");
        }
        for url in ["/", "/a.gif", "/style.css?v=3", "/bytes/2000", "/a/b.html", "/x?"] {
            assert!(!is_dynamic(url), "{url}");
        }
    }
}
