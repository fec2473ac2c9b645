//! Lines of logs as many kinds of software write them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::path::Path;

use traffic::trace::{AccessLog, Format, LineFormat, Logged, Reason, Trace};
use units::Span;

/// What a log is read as: requests in their order, and their times in milliseconds after the first.
struct Expected<'a> {
    format: LineFormat,
    requests: &'a [&'a str],
    millis: &'a [u64],
    statuses: &'a [u16],
    bytes: &'a [u64],
}

fn trace(format: Option<&str>, log: &str) -> Trace {
    let reader = match format {
        Some(format) => AccessLog::default().with_format(format.parse().unwrap()),
        None => AccessLog::default(),
    };
    reader.keep_seconds().parse(Path::new("log"), log.as_bytes()).unwrap()
}

/// `GET host/path`, and what is sent.
fn requests(trace: &Trace) -> Vec<String> {
    let object = |index: u32| &trace.objects[index as usize];
    let shown = trace.requests.iter().map(|request| {
        let object = object(request.object);
        let (method, host, url) = (object.method, object.host.as_deref().unwrap_or_default(), &object.url);
        let body = object
            .body
            .as_ref()
            .map(|body| format!(" {}: {}", body.content_type, String::from_utf8_lossy(&body.bytes)));
        format!("{method} {host}{url}{}", body.unwrap_or_default())
    });
    shown.collect()
}

#[track_caller]
fn check(format: Option<&str>, log: &str, expected: &Expected<'_>) {
    let trace = trace(format, log);
    assert_eq!(trace.skipped.broken(), 0, "{}", trace.skipped);
    assert_eq!(trace.formats.keys().collect::<Vec<_>>(), [&expected.format]);
    assert_eq!(requests(&trace), expected.requests);
    let millis: Vec<u64> = trace.requests.iter().map(|request| request.at.as_nanos() / 1_000_000).collect();
    assert_eq!(millis, expected.millis);
    let statuses: Vec<u16> = trace.requests.iter().filter_map(|request| request.status).collect();
    assert_eq!(statuses, expected.statuses);
    let bytes: Vec<u64> = trace.requests.iter().filter_map(|request| request.bytes).collect();
    assert_eq!(bytes, expected.bytes);
}

fn logged(log: &str) -> Vec<Logged> {
    let mut lines = Vec::new();
    AccessLog::default().each_of(Path::new("log"), log.as_bytes(), |line| lines.push(line)).unwrap();
    lines
}

#[test]
fn json_of_nginx() {
    let log = r#"{"time_local":"14/Nov/2023:22:13:22 +0000","msec":"1700000002.250","remote_addr":"192.0.2.1","host":"www.example.org","request":"GET /a?q=%22 HTTP/1.1","status":"200","body_bytes_sent":"612","request_time":"1.250","http_user_agent":"a \"b\""}
{"msec":1700000002.500,"request_method":"POST","request_uri":"/form","http_host":"shop.example.org:8080","status":302,"bytes_sent":100,"request_time":0.500,"request_body":"{\"a\": 1}"}
{"time_iso8601":"2023-11-14T22:13:23+00:00","request_method":"DELETE","uri":"/item","args":"id=7","server_name":"_","status":204,"body_bytes_sent":0,"request_body":"-"}
"#;
    check(
        None,
        log,
        &Expected {
            format: LineFormat::Json,
            requests: &[
                "GET www.example.org/a?q=%22",
                "POST shop.example.org:8080/form application/json: {\"a\": 1}",
                "DELETE /item?id=7",
            ],
            millis: &[0, 1000, 2000],
            statuses: &[200, 302, 204],
            bytes: &[612, 100, 0],
        },
    );
    let lines = logged(log);
    assert_eq!((lines[0].is_end, lines[0].took), (Some(true), Some(Span::from_millis(1250))));
    assert_eq!((lines[0].at, lines[1].url.as_deref()), (Span::from_millis(1_700_000_002_250), Some("/form")));
}

#[test]
fn caddy() {
    let line = |ts: &str, duration: &str, uri: &str| {
        format!(
            r#"{{"level":"info","ts":{ts},"logger":"http.log.access.log0","msg":"handled request","request":{{"remote_ip":"192.0.2.1","remote_port":"41342","client_ip":"192.0.2.1","proto":"HTTP/2.0","method":"GET","host":"caddy.example.org","uri":"{uri}","headers":{{"User-Agent":["curl/8.4.0"],"Accept":["*/*"]}},"tls":{{"resumed":false,"version":772}}}},"bytes_read":0,"user_id":"","duration":{duration},"size":10900,"status":200,"resp_headers":{{"Server":["Caddy"],"Content-Type":["text/html"]}}}}"#
        ) + "\n"
    };
    let log = line("1700000001.5241024", "0.5241024", "/?a=1")
        + &line(r#""2023-11-14T22:13:22.000Z""#, "1", "/b")
        + &line(r#""2023/11/14 22:13:23.500""#, r#""500ms""#, "/c");
    check(
        None,
        &log,
        &Expected {
            format: LineFormat::Json,
            requests: &["GET caddy.example.org/?a=1", "GET caddy.example.org/b", "GET caddy.example.org/c"],
            millis: &[0, 0, 2000],
            statuses: &[200, 200, 200],
            bytes: &[10_900; 3],
        },
    );
}

#[test]
fn traefik() {
    let log = r#"{"ClientAddr":"192.0.2.1:31073","ClientHost":"192.0.2.1","ClientPort":"31073","ClientUsername":"-","DownstreamContentSize":75,"DownstreamStatus":404,"Duration":2000000000,"OriginContentSize":75,"OriginDuration":1694568,"OriginStatus":404,"Overhead":270331,"RequestAddr":"app.example.org:8443","RequestContentSize":0,"RequestCount":1,"RequestHost":"app.example.org","RequestMethod":"GET","RequestPath":"/api?x=1","RequestPort":"8443","RequestProtocol":"HTTP/1.1","RequestScheme":"http","RetryAttempts":0,"RouterName":"app@docker","ServiceAddr":"198.51.100.2:3000","ServiceName":"app@docker","StartLocal":"2023-11-14T22:13:20.123456789Z","StartUTC":"2023-11-14T22:13:20.123456789Z","entryPointName":"web","level":"info","msg":"","time":"2023-11-14T22:13:22Z"}
{"DownstreamContentSize":5,"DownstreamStatus":200,"Duration":1000000,"RequestHost":"app.example.org","RequestMethod":"HEAD","RequestPath":"/b","StartUTC":"2023-11-14T22:13:20.223456789Z","level":"info","msg":"","time":"2023-11-14T22:13:20Z"}
"#;
    check(
        None,
        log,
        &Expected {
            format: LineFormat::Json,
            requests: &["GET app.example.org:8443/api?x=1", "HEAD app.example.org/b"],
            millis: &[0, 100],
            statuses: &[404, 200],
            bytes: &[75, 5],
        },
    );
    assert_eq!((logged(log)[0].is_end, logged(log)[0].took), (Some(false), Some(Span::from_secs(2))));
}

#[test]
fn the_gate() {
    let log = r#"{"time":"2026-11-26T16:29:51.250000Z","client":"192.0.2.1","method":"GET","host":"shop","path":"/bytes/7?a=%22b","protocol":"HTTP/1.1","status":200,"bytes_in":0,"bytes_out":7,"class":"premium","rule":"rule 1","session":"new","decision":"dispatched","complete":true,"times":{"body":0.0,"server":0.02,"transfer":0.0,"total":0.021}}
{"time":"2026-11-26T16:29:51.350000Z","method":"-","host":null,"path":"","status":400}
{"time":"2026-11-26T16:29:51.350000Z","method":"OPTIONS","host":"shop","path":"/x","status":204,"bytes_out":0}
"#;
    let trace = trace(None, log);
    assert_eq!(requests(&trace), ["GET shop/bytes/7?a=%22b", "OPTIONS shop/x"]);
    assert_eq!(trace.skipped.reasons().collect::<Vec<_>>(), [(Reason::Empty, 1)]);
    assert_eq!(logged(log)[0].took, Some(Span::from_millis(21)));
    assert_eq!(trace.requests[1].at, Span::from_millis(100), "its times are when requests came");
}

#[test]
fn docker_and_other_things_before_lines() {
    let combined = |path: &str| {
        format!(r#"192.0.2.1 - - [14/Nov/2023:22:13:20.000 +0000] \"GET {path} HTTP/1.1\" 200 5"#)
    };
    let record = |log: &str| {
        format!("{{\"log\":\"{log}\",\"stream\":\"stdout\",\"time\":\"2024-01-01T00:00:00Z\"}}\n")
    };
    let json = r#"{\"ts\":1700000001.5,\"method\":\"GET\",\"uri\":\"/json\",\"status\":200,\"size\":5}\n"#;
    let log = record(&(combined("/a") + r"\n"))
        + &record("192.0.2.1 - - [14/Nov/2023:22:13:21.000 +0000] ")
        + &record(r#"\"GET /long HTTP/1.1\" 200 5\n"#)
        + &record(json)
        + "web-1  | 192.0.2.1 - - [14/Nov/2023:22:13:22.000 +0000] \"GET /compose HTTP/1.1\" 200 5\n"
        + "Nov 14 22:13:23 web nginx: {\"msec\":\"1700000003.000\",\"request\":\"GET /syslog HTTP/1.1\",\"status\":\"200\",\"bytes_sent\":\"5\"}\n";
    let trace = trace(None, &log);
    assert_eq!(trace.skipped.broken(), 0, "{}", trace.skipped);
    assert_eq!(requests(&trace), ["GET /a", "GET /long", "GET /json", "GET /compose", "GET /syslog"]);
    assert!(trace.summary().to_string().ends_with("read as common log format (3), JSON (2)"));
    let cut = record(&combined("/a").replace(" 200 5", r" 200 5\n")) + &record("192.0.2.1 - - ");
    let trace = AccessLog::default().parse(Path::new("log"), cut.as_bytes()).unwrap();
    assert_eq!(trace.skipped.reasons().collect::<Vec<_>>(), [(Reason::Cut, 1)]);
}

#[test]
fn iis_and_columns_that_change() {
    let log = "#Software: Microsoft Internet Information Services 10.0\r
#Version: 1.0\r
#Date: 2023-11-14 22:13:20\r
#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\r
2023-11-14 22:13:22 198.51.100.1 GET /default.aspx id=7 443 - 192.0.2.1 Mozilla/5.0+(Windows) - 200 0 0 2500\r
#Fields: time cs-method cs-uri-stem cs-uri-query sc-status sc-bytes cs-host time-taken\r
22:13:23 HEAD / - 304 120 www.example.org:8080 15\r
22:13:24 POST /form - 200 9 www.example.org 15\r
";
    let trace = trace(None, log);
    assert_eq!(requests(&trace), ["GET /default.aspx?id=7", "HEAD www.example.org:8080/"]);
    let millis: Vec<u64> = trace.requests.iter().map(|request| request.at.as_nanos() / 1_000_000).collect();
    assert_eq!(millis, [0, 3000], "22:13:22 and some part of a second, less 2.5 s, is 22:13:20");
    assert_eq!((trace.requests[0].status, trace.requests[1].bytes), (Some(200), Some(120)));
    assert_eq!(
        trace.skipped.left_out.iter().map(|(name, count)| (&**name, *count)).collect::<Vec<_>>(),
        [("POST", 1)]
    );
    assert_eq!((trace.skipped.broken(), trace.formats[&LineFormat::W3c]), (0, 2));
    let lines = logged(log);
    assert_eq!((lines[0].is_end, lines[0].took), (Some(true), Some(Span::from_millis(2500))));
    // Whose beginning is gone; and a line that has lost its end.
    let rest: String = log.split_inclusive('\n').skip(4).take(1).collect();
    check(
        Some("w3c"),
        &rest,
        &Expected {
            format: LineFormat::W3c,
            requests: &["GET /default.aspx?id=7"],
            millis: &[0],
            statuses: &[200],
            bytes: &[],
        },
    );
    let cut = format!("{log}22:13:25 GET /pro");
    let trace = AccessLog::default().parse(Path::new("log"), cut.as_bytes()).unwrap();
    assert_eq!(trace.skipped.reasons().collect::<Vec<_>>(), [(Reason::Cut, 1)]);
}

#[test]
fn cloudfront() {
    let log = "#Version: 1.0
#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end
2019-12-04	21:02:31	LAX1	392	192.0.2.100	GET	d111111abcdef8.cloudfront.net	/a%2520b/index.html	200	-	Mozilla/5.0%20(Windows%20NT%2010.0)	-	-	Hit	SOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ==	www.example.org	https	23	0.001	-	TLSv1.2	ECDHE-RSA-AES128-GCM-SHA256	Hit	HTTP/2.0	-	-	11040	0.001	Hit	text/html	78	-	-
2019-12-04	21:02:33	LAX1	500	192.0.2.100	GET	d111111abcdef8.cloudfront.net	/q	200	-	curl	x=1&y=%255B	-	Hit	k6WGMNkEzR5BEM_SaF47gjtX9zBDO2m349OY2an0QPEaUum1ZOLrow==	d111111abcdef8.cloudfront.net	https	23	1.700	-	TLSv1.2	ECDHE-RSA-AES128-GCM-SHA256	Hit	HTTP/2.0	-	-	11040	0.001	Hit	text/html	78	-	-
";
    let expected = Expected {
        format: LineFormat::CloudFront,
        requests: &["GET www.example.org/a%20b/index.html", "GET d111111abcdef8.cloudfront.net/q?x=1&y=%5B"],
        millis: &[0, 0],
        statuses: &[200, 200],
        bytes: &[392, 500],
    };
    check(None, log, &expected);
    let lines: String = log.split_inclusive('\n').skip(2).collect();
    check(Some("cloudfront"), &lines, &expected);
}

#[test]
fn load_balancers_of_aws() {
    let tail = r#""curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337281-1d84f3d73c47ec4e58577259" "www.example.com" "arn:aws:acm:us-east-2:123456789012:certificate/12345678""#;
    let log = format!(
        r#"https 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.0.2.1:2817 198.51.100.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://www.example.com:443/a?b=1 HTTP/1.1" {tail} 1 2018-07-02T22:22:48.364000Z "authenticate,forward" "-" "-" "198.51.100.1:80" "200" "-" "-"
http 2018-07-02T22:22:49.864000Z app/my-loadbalancer/50dc6c495c0c9188 192.0.2.1:2817 198.51.100.1:80 0.000 0.500 0.000 404 404 34 366 "GET http://www.example.com:8080/c HTTP/1.1" "curl/7.46.0" - -
http 2018-07-02T22:22:50.364000Z app/my-loadbalancer/50dc6c495c0c9188 192.0.2.1:2817 - -1 -1 -1 503 - 34 366 "HEAD http://www.example.com:80/d HTTP/1.1" "curl/7.46.0" - -
"#
    );
    check(
        None,
        &log,
        &Expected {
            format: LineFormat::Alb,
            requests: &["GET www.example.com/a?b=1", "GET www.example.com:8080/c", "HEAD www.example.com/d"],
            millis: &[0, 1000, 2000],
            statuses: &[200, 404, 503],
            bytes: &[57, 366, 366],
        },
    );
    let lines = logged(&log);
    assert_eq!((lines[0].is_end, lines[0].took), (Some(false), Some(Span::from_millis(171))));
    assert_eq!(
        (lines[1].is_end, lines[1].took, lines[2].took),
        (Some(true), Some(Span::from_millis(500)), None)
    );
    let classic = r#"2015-05-13T23:39:43.945958Z my-loadbalancer 192.0.2.1:2817 198.51.100.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.38.0" - -
2015-05-13T23:39:44.945958Z my-loadbalancer 192.0.2.1:2817 198.51.100.1:80 0.000086 2.001048 0.001337 200 200 0 57 "GET https://www.example.com:443/x HTTP/1.1" "curl/7.38.0" DHE-RSA-AES128-SHA TLSv1.2
"#;
    let expected = Expected {
        format: LineFormat::Elb,
        requests: &["GET www.example.com/", "GET www.example.com/x"],
        millis: &[0, 1000],
        statuses: &[200, 200],
        bytes: &[29, 57],
    };
    check(None, classic, &expected);
    check(Some("elb"), classic, &expected);
}

#[test]
fn haproxy() {
    let log = r#"Feb  6 12:14:14 localhost haproxy[14389]: 192.0.2.1:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"
haproxy[1]: 192.0.2.1:33318 [06/Feb/2009:12:14:14.755] https-in~ static/srv1 0/0/-1/-1/+25 503 212 - - SC-- 1/1/1/1/0 0/0 "GET https://www.example.org/a HTTP/2.0"
"#;
    let expected = Expected {
        format: LineFormat::Haproxy,
        requests: &["GET /index.html", "GET www.example.org/a"],
        millis: &[0, 100],
        statuses: &[200, 503],
        bytes: &[2750, 212],
    };
    check(None, log, &expected);
    check(Some("haproxy"), log, &expected);
    let lines = logged(log);
    assert_eq!((lines[0].is_end, lines[0].took), (Some(false), Some(Span::from_millis(109))));
}

#[test]
fn hosts_of_the_common_format() {
    let log = r#"www.example.org:443 192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "-" "-"
shop.example.org 192.0.2.1 - - [10/Oct/2000:13:55:37 -0700] "GET /a HTTP/1.1" 200 5 "-" "-"
192.0.2.1 - - [10/Oct/2000:13:55:38 -0700] "GET http://proxied.example.org/a HTTP/1.1" 200 5 "-" "-"
192.0.2.1 - - [10/Oct/2000:13:55:39 -0700] "GET /a HTTP/1.1" 200 5 "-" "-"
"#;
    let trace = trace(Some("combined"), log);
    assert_eq!(
        requests(&trace),
        ["GET www.example.org/a", "GET shop.example.org/a", "GET proxied.example.org/a", "GET /a"]
    );
    assert_eq!((trace.hosts().len(), trace.summary().urls), (3, 1));
    let summary = trace.summary().to_string();
    assert!(summary.starts_with("4 requests for 1 URLs of 3 hosts in 3"), "{summary}");
}

#[test]
fn a_format_that_is_given() {
    check(
        Some(
            r#"$remote_addr - $time_local "$request" $status $body_bytes_sent $request_time $host "$request_body" $content_type"#,
        ),
        "192.0.2.1 - 10/Oct/2000:13:55:40 +0000 \"PUT /a HTTP/1.1\" 201 0 3.000 www.example.org \"a=1&b=\\x22\" text/plain\n\
         192.0.2.1 - 10/Oct/2000:13:55:38 +0000 \"GET /b HTTP/1.1\" 200 5 0.000 www.example.org \"-\" -\n",
        &Expected {
            format: LineFormat::Given,
            requests: &["PUT www.example.org/a text/plain: a=1&b=\"", "GET www.example.org/b"],
            millis: &[0, 1000],
            statuses: &[201, 200],
            bytes: &[0, 5],
        },
    );
    let log = "[10/Oct/2000:13:55:36 +0000] 404 \"GET /a HTTP/1.1\" 1500\nother\n";
    let trace = trace(Some(r#"%t %>s "%r" %D"#), log);
    assert_eq!(trace.skipped.reasons().collect::<Vec<_>>(), [(Reason::OtherFormat, 1)]);
    let why = |format: &str| format.parse::<Format>().unwrap_err().to_string();
    assert!(why("$remote_addr \"$request\"").contains("has no time"));
    assert!(why("%t %h").contains("has no request"));
    assert!(why("squid").contains("write common, combined, json"));
}

#[test]
fn a_log_of_another_format_than_the_one_given_is_refused() {
    let json = "{\"msec\":\"1700000000.5\",\"request\":\"GET / HTTP/1.1\"}\n";
    let read = |format: &str| {
        let log = AccessLog::default().with_format(format.parse().unwrap());
        log.parse(Path::new("log"), json.as_bytes())
    };
    for format in ["haproxy", "alb", "elb", "w3c", "cloudfront"] {
        assert!(read(format).is_err(), "{format}");
    }
    assert!(read("json").is_ok());
}
