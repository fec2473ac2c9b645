//! HAR files.

use serde_json::{Value, json};
use traffic::Workload;
use traffic::import::{Format, Imported, Options};

use super::{assert_notes, refused, taken};

/// As Chrome writes it: a form with a token, a login by a script, an order, a redirect.
const CHROME: &str = include_str!("chrome.har");

/// An entry as proxies write it: no pages, no types of resources.
fn entry(at_ms: u64, request: (&str, &str), response: (u16, &str, &str)) -> Value {
    let ((method, url), (status, mime, text)) = (request, response);
    let (seconds, millis) = (at_ms / 1000, at_ms % 1000);
    json!({
        "startedDateTime": format!("2026-01-31T12:00:{seconds:02}.{millis:03}+00:00"), "time": 10.0,
        "request": {"method": method, "url": url, "httpVersion": "HTTP/1.1", "headers": [], "queryString": [], "cookies": []},
        "response": {"status": status, "statusText": "", "headers": [], "content": {"size": 1, "mimeType": mime, "text": text}, "redirectURL": ""},
    })
}

fn with(mut entry: Value, pointer: &str, value: Value) -> Value {
    *entry.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    entry
}

fn with_headers(entry: Value, headers: &[(&str, &str)]) -> Value {
    let headers = headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    with(entry, "/request/headers", headers)
}

fn with_body(mut entry: Value, data: Value) -> Value {
    entry["request"]["postData"] = data;
    entry
}

fn har(entries: Vec<Value>) -> String {
    json!({"log": {"version": "1.2", "creator": {"name": "mitmproxy", "version": "11"}, "entries": entries}})
        .to_string()
}

#[track_caller]
fn of(entries: Vec<Value>) -> (Imported, Workload) {
    taken("visit.har", &har(entries), &Options::default())
}

fn urls(workload: &Workload) -> Vec<&str> {
    workload.pages.iter().map(|page| &*page.url).collect()
}

const HTML: (u16, &str, &str) = (200, "text/html; charset=utf-8", "<p>");
const JSON: (u16, &str, &str) = (200, "application/json", "{}");

#[test]
fn a_visit_becomes_pages_with_what_is_embedded_and_pauses() {
    let (imported, workload) = taken("chrome.har", CHROME, &Options::default());
    assert_eq!(imported.text, include_str!("chrome.toml"));
    assert_eq!(workload.requests_per_session(), 7);
    assert_notes(
        &imported,
        &[
            "left out: requests to https://cdn.example (1)",
            "left out: what the browser took from its cache (1)",
            "left out: WebSockets (1)",
            "left out: requests that were blocked or failed (1)",
            "left out: header fields X-Api-Key, which are secrets",
            "left out: cookies that the browser had before the recording",
            "${access_token}: json:/auth/access_token of POST /api/login, sent by POST /api/orders and 1 more",
            "a password stands in the body of POST /api/login",
            "taken: 8 requests to http://shop.example:8080, as 6 pages with 1 embedded object",
            "redirects were followed: run it with --follow 1",
        ],
    );
}

#[test]
fn options_change_what_is_taken() {
    let take = |options: &Options| taken("chrome.har", CHROME, options).0.text;
    let quick = take(&Options { no_think: true, ..Options::default() });
    assert!(!quick.contains("think"), "{quick}");
    let secret = take(&Options { secrets: true, ..Options::default() });
    assert!(
        secret.contains("header = { Cookie = \"tier=gold\" }") && secret.contains("X-Api-Key"),
        "{secret}"
    );
    for host in ["cdn.example", "CDN.example:443"] {
        let other = take(&Options { host: Some(host.to_owned()), ..Options::default() });
        assert!(other.contains("url = \"/app.js\"") && !other.contains("/cart"), "{other}");
    }
    let options = Options { host: Some("example.org".to_owned()), ..Options::default() };
    assert_eq!(
        refused("a.har", CHROME, &options),
        "a.har: no entry is of example.org; --host can be cdn.example, shop.example:8080"
    );
    let options = Options { tags: vec!["pets".to_owned()], ..Options::default() };
    assert!(refused("a.har", CHROME, &options).starts_with("--tag is for OpenAPI descriptions"));
}

#[test]
fn pages_are_found_without_the_browser_saying_so() {
    let (_, workload) = of(vec![
        entry(900, ("GET", "https://a.example/b.css?v=1#x"), (200, "text/css", "")),
        entry(0, ("GET", "https://a.example:443/"), HTML),
        entry(20, ("GET", "https://a.example/a.js"), (200, "application/javascript", "")),
        entry(30, ("GET", "https://a.example/missing.png"), (404, "image/png", "")),
        entry(40, ("GET", "https://a.example/api"), JSON),
        entry(50, ("GET", "https://a.example/c.png"), (200, "image/png", "")),
        entry(1_260, ("GET", "https://a.example/next"), HTML),
    ]);
    assert_eq!(urls(&workload), ["/", "/missing.png", "/api", "/next"]);
    assert_eq!(workload.pages[0].embedded.iter().map(|url| &**url).collect::<Vec<_>>(), ["/a.js", "/c.png"]);
    assert_eq!(&*workload.pages[2].embedded[0], "/b.css?v=1", "loaded while the user reads");
    let thinks: Vec<String> = workload.pages.iter().map(|page| page.think.to_string()).collect();
    assert_eq!(thinks, ["0s", "0s", "1.2s", "0s"]);
    assert!(workload.pages[1].request.expect.status.as_ref().unwrap().contains(404));
}

/// Playwright writes one page for each tab.
#[test]
fn documents_of_one_tab_are_pages() {
    let of_tab = |at, url: &str, kind: &str, destination: &str| {
        let mut entry = with_headers(entry(at, ("GET", url), HTML), &[("Sec-Fetch-Dest", destination)]);
        entry["pageref"] = json!("page@1");
        entry["_resourceType"] = json!(kind);
        entry
    };
    let (_, workload) = of(vec![
        of_tab(0, "http://a.example/", "document", "document"),
        of_tab(15, "http://a.example/frame", "document", "iframe"),
        of_tab(30, "http://a.example/next", "document", "document"),
        of_tab(45, "http://a.example/b.png", "image", "image"),
    ]);
    assert_eq!(urls(&workload), ["/", "/next"]);
    assert_eq!((&*workload.pages[0].embedded[0], &*workload.pages[1].embedded[0]), ("/frame", "/b.png"));
}

#[test]
fn fields_of_browsers_are_dropped_and_others_kept() {
    let request = with_headers(
        entry(0, ("GET", "http://a.example/api"), JSON),
        &[
            (":authority", "a.example"),
            ("user-agent", "Mozilla/5.0"),
            ("sec-ch-ua", "\"Chromium\""),
            ("accept", "application/json"),
            ("if-none-match", "\"1\""),
            ("hx-request", "true"),
            ("x-a", "1"),
            ("X-A", "2"),
            ("x-umlaut", "ü"),
            ("authorization", "Basic YTpi"),
        ],
    );
    let (imported, workload) = of(vec![request]);
    let headers: Vec<_> = workload.pages[0]
        .request
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), &**value.text()))
        .collect();
    assert_eq!(headers, [("accept", "application/json"), ("hx-request", "true"), ("x-a", "1, 2")]);
    assert_notes(
        &imported,
        &[
            "left out: header fields with characters that a workload cannot hold (x-umlaut) (1)",
            "left out: header fields authorization",
        ],
    );
}

#[test]
fn bodies_are_sent_as_recorded_or_left_out() {
    let post = |data: Value| with_body(entry(0, ("POST", "http://a.example/p"), JSON), data);
    let body = |data: Value| {
        let (_, workload) = of(vec![post(data)]);
        let request = &workload.pages[0].request;
        let kind = request.headers.iter().find(|(name, _)| name == "Content-Type");
        (
            request.body.as_ref().and_then(|body| body.fixed()).unwrap().to_string(),
            kind.unwrap().1.text().to_string(),
        )
    };
    let form = "application/x-www-form-urlencoded";
    let multipart = "multipart/form-data; boundary=x";
    let parts = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n${b}$\r\n--x--\r\n";
    for (data, expected, kind) in [
        (
            json!({"mimeType": form, "params": [{"name": "a b", "value": "ü&"}, {"name": "c"}]}),
            "a+b=%C3%BC%26&c=",
            form,
        ),
        (json!({"mimeType": form, "text": "a=1", "params": [{"name": "a", "value": "1"}]}), "a=1", form),
        (json!({"mimeType": multipart, "text": parts}), parts, multipart),
        (json!({"mimeType": "text/plain", "text": "$${x}'\"\\", "params": []}), "$${x}'\"\\", "text/plain"),
        (json!({"mimeType": "text/plain", "text": "aGk=", "encoding": "base64"}), "hi", "text/plain"),
    ] {
        assert_eq!(body(data), (expected.to_owned(), kind.to_owned()));
    }
    let (imported, workload) = of(vec![
        entry(0, ("POST", "http://a.example/empty"), JSON),
        post(json!({"mimeType": "image/png", "text": "/9j/", "encoding": "base64"})),
        post(json!({"mimeType": "image/png", "text": "\u{fffd}PNG"})),
        post(json!({"mimeType": multipart, "params": [{"name": "f", "fileName": "a.png"}]})),
        post(json!({"mimeType": "text/plain", "text": "@all"})),
        with_headers(entry(0, ("POST", "http://a.example/p"), JSON), &[("content-length", "4")]),
    ]);
    assert_eq!(urls(&workload), ["/empty"]);
    assert_notes(
        &imported,
        &[
            "left out: POST /p, whose body is not text (2)",
            "left out: POST /p, whose body is not in the recording (2)",
            "left out: POST /p, whose body begins with @",
        ],
    );
}

#[test]
fn redirects_are_one_request_of_a_run_that_follows() {
    let redirect = |at, url: &str, to: &str| {
        with(entry(at, ("GET", url), (302, "", "")), "/response/redirectURL", json!(to))
    };
    let (imported, workload) = of(vec![
        redirect(0, "http://a.example/a", "b?x"),
        redirect(10, "http://a.example/b?x", "http://a.example/c#top"),
        entry(20, ("GET", "http://a.example/c"), HTML),
        redirect(30, "http://a.example/out", "https://login.example/"),
        entry(40, ("GET", "http://a.example/c"), HTML),
    ]);
    assert_eq!(urls(&workload), ["/a", "/out", "/c"]);
    let expects: Vec<_> =
        workload.pages.iter().map(|page| page.request.expect.status.as_ref().unwrap().to_string()).collect();
    assert_eq!(expects, ["200", "302", "200"]);
    assert!(imported.text.contains("--workload FILE --follow 2"), "{}", imported.text);
    assert_notes(&imported, &["GET /out redirects to https://login.example: without --follow"]);
}

#[test]
fn values_of_responses_are_taken_where_they_are_sent_later() {
    let with_field = |mut entry: Value, name: &str, value: &str| {
        entry["response"]["headers"] = json!([{"name": name, "value": value}]);
        entry
    };
    let get = |at, url: &str| entry(at, ("GET", url), JSON);
    let (imported, workload) = of(vec![
        entry(
            0,
            ("GET", "http://a.example/"),
            (
                200,
                "text/html",
                "<meta content='m-12345678' name='csrf-token'><input value=\"h+1234567=\" name=\"h\" type=hidden>",
            ),
        ),
        with_field(
            entry(
                10,
                ("GET", "http://a.example/s?mine=12345678901"),
                (
                    200,
                    "application/json",
                    r#"{"a/b":[{"key":"k.12345678"}],"mine":12345678901,"seen":"2026-01-31","word":"something"}"#,
                ),
            ),
            "X-Next",
            "/list/4?c=9",
        ),
        with_headers(
            get(20, "http://a.example/x/k.12345678/y?mine=12345678901&d=2026-01-31&w=something"),
            &[("X-CSRF-Token", "m-12345678")],
        ),
        get(30, "http://a.example/list/4?c=9"),
        get(40, "http://a.example/xk.12345678"),
        with_body(
            entry(
                50,
                ("POST", "http://a.example/f"),
                (201, "application/json", r#"{"id":7,"order_id":"77"}"#),
            ),
            json!({"mimeType": "text/plain", "text": "h=h%2B1234567%3D"}),
        ),
        get(60, "http://a.example/f/7/17?n=77&m=177"),
    ]);
    assert_eq!(
        urls(&workload),
        [
            "/",
            "/s?mine=12345678901",
            "/x/${key}/y?mine=12345678901&d=2026-01-31&w=something",
            "${X-Next}",
            "/xk.12345678",
            "/f",
            "/f/${id}/17?n=${order_id}&m=177",
        ]
    );
    let takes = |page: usize| -> Vec<String> {
        workload.pages[page]
            .request
            .takes
            .iter()
            .map(|take| format!("{} {}", take.name, take.place))
            .collect()
    };
    assert_eq!(takes(0), ["csrf-token regex:(?i)<meta[^>]*\\scontent='([^']+)[^>]*\\sname='csrf\\-token'"]);
    assert_eq!(takes(1), ["X-Next header:x-next", "key json:/a~1b/0/key"]);
    assert_eq!(&**workload.pages[2].request.headers[0].1.text(), "${csrf-token}");
    assert_notes(&imported, &["POST /f sends regex:"]);
}

#[test]
fn what_cannot_be_repeated_is_left_out() {
    let (imported, workload) = of(vec![
        entry(0, ("GET", "http://a.example/"), HTML),
        entry(10, ("GET", "data:image/png;base64,AAAA"), (200, "image/png", "")),
        entry(20, ("GET", "http://a.example/events"), (200, "text/event-stream", "")),
        entry(30, ("GET", "http://a.example/ü"), HTML),
        entry(40, ("GET", "http://a.example/a|b?${c}"), (200, "image/png", "")),
    ]);
    assert_eq!(urls(&workload), ["/", "/a|b?$${c}"]);
    assert_notes(
        &imported,
        &[
            "left out: data: URLs",
            "left out: streams of events",
            "left out: requests whose method or URL has characters",
        ],
    );
}

#[test]
fn what_is_not_a_recording_is_refused_with_its_place() {
    let cut = &CHROME[..CHROME.len() / 2];
    let line = cut.matches('\n').count() + 1;
    let no_url = CHROME.replacen("\"url\":", "\"uri\":", 1);
    let forced = Options { format: Some(Format::Har), ..Options::default() };
    for (text, expected) in [
        (cut, format!("a.har:{line}: the file ends in the middle; export it anew")),
        (&no_url, "a.har:14: missing field `url`".to_owned()),
        ("{}", "a.har:1: missing field `log`".to_owned()),
        ("openapi: 3.0.0", "a.har:1: expected value".to_owned()),
        (r#"{"log": {"version": "1.2"}}"#, "a.har:1: missing field `entries`".to_owned()),
        (
            "{\"log\": {\n\"entries\": []}}",
            "a.har:2: there are no entries; open the network panel".to_owned(),
        ),
        (
            r#"{"log": {"version": "2.0", "entries": []}}"#,
            "a.har:1: HAR 2.0 is not known; export it as HAR 1.2".to_owned(),
        ),
        (
            &CHROME.replacen("2026-01-31T12:00:00.060Z", "noon", 1),
            "a.har:19: startedDateTime of entries[1] is \"noon\"; write".to_owned(),
        ),
        (
            &har(vec![entry(0, ("GET", "http://a.example/"), (0, "", ""))]),
            "a.har: no entry of it is a request over http".to_owned(),
        ),
    ] {
        let said = refused("a.har", text, &forced);
        assert!(said.starts_with(&expected), "{said}\n{expected}");
    }
    assert!(
        refused("a.har", "{\"a\": 1}", &Options::default()).starts_with("a.har: it is neither a HAR file")
    );
}
