//! [`Expression`]: a condition written in CEL.

use cel::Env;

use crate::rules::expression::check;
use crate::rules::expression::term::Test;
use crate::rules::subject::View;

/// A condition written in CEL.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    text: String,
    test: Test,
    names_headers: bool,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Why a text is not a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    /// Where in the text: bytes from its beginning.
    pub(crate) at: usize,
    pub(crate) what: String,
    pub(crate) mend: Option<String>,
}

/// Longer expressions are programs, not conditions.
const MAX_BYTES: usize = 4096;
/// People do not write deeper nesting by hand, and reading it takes stack.
const MAX_DEPTH: u16 = 32;
/// Operators in a chain between two `&&` or `||`; reading a longer one takes much stack as well.
const MAX_CHAIN: usize = 48;

impl Expression {
    /// Reads a condition; `classes` are those a session can be of.
    pub(crate) fn new(text: &str, classes: &[String]) -> Result<Self, Unfit> {
        if text.len() > MAX_BYTES {
            let what = format!("an expression of {} bytes is too long", text.len());
            return Err(Unfit { at: 0, what, mend: Some(format!("at most {MAX_BYTES} are read")) });
        }
        if let Some(at) = too_entangled(text) {
            let what = "this is nested too deeply, or too long a chain of operators".to_owned();
            return Err(Unfit { at, what, mend: Some("write several rules".to_owned()) });
        }
        let parser = Env::default().with_optional_support(false).parser().max_recursion_depth(MAX_DEPTH);
        let (expression, places) = parser.parse_with_source_info(text).map_err(|errors| {
            let first = errors.errors.into_iter().next();
            let (at, why) = first.map_or((0, String::new()), |error| (place(text, error.pos), error.msg));
            Unfit { at, what: format!("this is no CEL expression: {why}"), mend: None }
        })?;
        let (test, names_headers) = check::condition(&expression, classes).map_err(|misfit| {
            let character = places.offset_for(misfit.id).map_or(0, |(start, _)| start as usize);
            let at = text.char_indices().nth(character).map_or(0, |(at, _)| at);
            Unfit { at, what: misfit.what, mend: misfit.mend }
        })?;
        Ok(Self { text: text.to_owned(), test, names_headers })
    }

    /// Whether it names a header or a cookie.
    pub(in crate::rules) fn names_headers(&self) -> bool {
        self.names_headers
    }

    /// Whether it holds. Something that the request has not (a header, a cookie) makes what asks
    /// for it neither true nor false, as CEL has it; a condition that is neither does not hold.
    pub(in crate::rules) fn holds(&self, view: &View<'_>) -> bool {
        self.test.value(view).unwrap_or_default()
    }
}

/// Where an expression becomes deeper than the parser has stack for, looked at without recursion.
fn too_entangled(text: &str) -> Option<usize> {
    let (mut depth, mut chain, mut quote, mut escaped) = (0, 0, None, false);
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '(' | '[' | '{') => (depth, chain) = (depth + 1, chain + 1),
            (None, ')' | ']' | '}') => depth -= 1,
            (None, '&' | '|') if before == character => chain = 0,
            (None, '.' | '!' | '-' | '+' | '*' | '/' | '%' | '=' | '<' | '>' | '?') => chain += 1,
            _ => {}
        }
        before = character;
        if depth > i32::from(MAX_DEPTH) || chain > MAX_CHAIN {
            return Some(at);
        }
    }
    None
}

/// Line and column, both from 1 or unknown, as bytes from the beginning.
fn place(text: &str, (line, column): (isize, isize)) -> usize {
    let line = usize::try_from(line - 1).unwrap_or_default();
    let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    before + usize::try_from(column - 1).unwrap_or_default().min(text.len().saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::subject::{Facts, Subject};
    use http::Request;
    use units::Span;

    fn classes() -> Vec<String> {
        vec!["premium".to_owned(), "basic".to_owned()]
    }

    #[track_caller]
    fn holds(text: &str, session: bool) -> bool {
        let expression = Expression::new(text, &classes()).unwrap_or_else(|why| panic!("{text}: {why:?}"));
        let request = Request::post("/checkout/Pay?x=1&q=a%20b")
            .header("host", "Shop.example.com:8080")
            .header("x-tier", "gold")
            .header("cookie", "tier=premium; a=1")
            .body(())
            .unwrap();
        let facts = Facts { class: "basic", age: Span::from_secs(30), raised: false };
        let subject = Subject {
            method: request.method(),
            uri: request.uri(),
            headers: request.headers(),
            address: "::ffff:10.1.2.3".parse().unwrap(),
            server_name: None,
            session: session.then_some(facts),
        };
        expression.holds(&View::of(subject, 1))
    }

    #[test]
    fn every_attribute_and_operator() {
        for (text, expected) in [
            ("request.method == 'POST'", true),
            ("request.method != 'POST'", false),
            ("request.path.startsWith('/checkout/') && request.headers['x-tier'] == 'gold'", true),
            ("request.path.endsWith('pay')", false),
            ("request.path.lowerAscii().endsWith('pay')", true),
            ("request.path.contains('out/P')", true),
            ("request.path.matches('^/check(out|in)/[A-Z]')", true),
            ("request.path.matches('^/nothing')", false),
            ("request.query == 'x=1&q=a%20b'", true),
            ("request.params['q'] == 'a b'", true),
            ("request.params.x == '1'", true),
            ("request.host == 'shop.example.com'", true),
            ("request.host in ['a', 'shop.example.com']", true),
            ("request.headers['X-Tier'] == 'gold'", true),
            ("request.cookies.tier == 'premium'", true),
            ("request.cookies['a'] != '1'", false),
            ("'tier' in request.cookies", true),
            ("'b' in request.cookies || 'x-none' in request.headers", false),
            ("has(request.cookies.tier) && !has(request.params.none)", true),
            ("request.address == '10.1.2.3'", true),
            ("request.address.inNetwork('192.0.2.1', '10.0.0.0/8')", true),
            ("!request.address.inNetwork('10.0.0.0/8')", false),
            ("size(request.path) == 13 && request.path.size() > 12", true),
            ("size(request.path) in [1, 13]", true),
            ("session.new ? request.path < '/d' : false", true),
            ("(session.new ? request.method : request.path) == 'POST'", true),
            ("session.class == ''", true),
            ("session.raised == session.new", false),
            ("true || false", true),
            ("-1 < 0 && 3 >= 3 && 2 <= 3 && 'b' > 'a'", true),
        ] {
            assert_eq!(holds(text, false), expected, "{text}");
        }
        for (text, expected) in [
            ("session.class == 'basic' && session.age >= 30", true),
            ("session.age > 30", false),
            ("session.new", false),
        ] {
            assert_eq!(holds(text, true), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_there_makes_nothing_true() {
        for (text, expected) in [
            ("request.headers['none'] == 'x'", false),
            ("request.headers['none'] != 'x'", false),
            ("!(request.headers['none'] == 'x')", false),
            ("request.headers['none'] == 'x' || request.method == 'POST'", true),
            ("request.method == 'POST' || request.headers['none'] == 'x'", true),
            ("request.headers['none'] == 'x' && false || true", true),
            ("request.cookies.none in ['x']", false),
            ("size(request.params.none) == 0", false),
        ] {
            assert_eq!(holds(text, false), expected, "{text}");
        }
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let unfit = Expression::new(text, &classes()).unwrap_err();
        let mend = unfit.mend.map(|mend| format!("; {mend}")).unwrap_or_default();
        assert_eq!(format!("{}: {}{mend}", unfit.at, unfit.what), expected, "{text}");
    }

    #[test]
    fn mistakes_are_found_when_the_expression_is_read() {
        refused("request.pth == '/'", "7: request.pth is not known; did you mean \"request.path\"?");
        refused("session.klass == 'basic'", "7: session.klass is not known; did you mean \"session.class\"?");
        refused("reqest.path == '/'", "0: \"reqest\" is not known; did you mean \"request\"?");
        refused("request.path == 5", "13: text is compared with a number");
        refused("session.age > 'x'", "12: a number is compared with text");
        refused("true < false", "5: truth values have no order; use == or !=");
        refused(
            "request.path",
            "7: this is text, and a condition is true or false; compare it with something, for example == 'x'",
        );
        refused(
            "request",
            "0: this is the request, and a condition is true or false; name a part of it, for example request.path",
        );
        refused(
            "request.path.startWith('/')",
            "22: the function \"startWith\" is not known; did you mean \"startsWith\"?",
        );
        refused(
            "request.path.startsWith()",
            "23: startsWith takes one text and is called on text; for example request.path.startsWith('/a')",
        );
        refused("request.path.startsWith(5)", "24: text is needed here, and this is a number");
        refused("request.headers['a b'] == ''", "16: \"a b\" cannot name a header");
        refused("request.headers[request.path] == ''", "23: a name is needed here, in quotes");
        refused("request.path.matches('(')", "21: \"(\" is no regular expression; unclosed group");
        refused(
            "request.address.inNetwork('10.0.0/8')",
            "26: \"10.0.0/8\" is not an address; for example '192.0.2.7' or '10.0.0.0/8'",
        );
        refused(
            "request.path.inNetwork('10.0.0.0/8')",
            "22: inNetwork is called on request.address and takes addresses; for example request.address.inNetwork('10.0.0.0/8')",
        );
        refused(
            "session.class == 'premum'",
            "17: class \"premum\" is not defined; did you mean \"premium\"?",
        );
        refused(
            "request.method == 'post'",
            "18: no request has the method \"post\"; methods are written in capitals",
        );
        refused("size(request.path) + 1 == 2", "19: rules do not calculate");
        refused(
            "['a'].exists(x, x == request.path)",
            "12: exists goes through something as long as the client pleases; use the operator in, matches() or several rules",
        );
        refused("request.path in ['a', 1]", "22: text is needed here, and this is a number");
        refused("1.5 < 2.0", "0: only texts, whole numbers, true and false can stand here");
        refused(
            "request.path == ",
            "16: this is no CEL expression: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        );
    }

    #[test]
    fn neither_length_nor_depth_is_the_limit_of_the_stack() {
        for entangled in [
            format!("{}true{}", "(".repeat(1000), ")".repeat(1000)),
            format!("request{}", ".a".repeat(500)),
            format!("request{}", "['a']".repeat(500)),
            format!("request{}", ".size()".repeat(500)),
            format!("{}true", "!".repeat(1000)),
            format!("{}1 == 1", "-".repeat(1000)),
            format!("{}true", "true ? true : ".repeat(250)),
            vec!["true"; 500].join(" == "),
            vec!["1"; 1000].join(" + "),
        ] {
            let unfit = Expression::new(&entangled, &classes()).unwrap_err();
            assert!(unfit.what.contains("deep"), "{}: {unfit:?}", &entangled[..20]);
        }
        let long = vec!["request.path == '/'"; 1000].join(" || ");
        assert!(Expression::new(&long, &classes()).unwrap_err().what.contains("too long"));
        // Wide is not deep, and what is quoted is neither.
        let wide = vec!["request.path == '/(((((((((((((((((((((((((((((((((((('"; 60].join(" || ");
        assert!(!holds(&wide, false));
    }

    proptest::proptest! {
        #[test]
        fn whatever_stands_there_is_read_or_refused(text in "[ -~\\n]{0,60}") {
            let _ = Expression::new(&text, &classes());
        }

        #[test]
        fn so_are_words_of_the_language(words in proptest::collection::vec(proptest::sample::select(vec![
            "request", ".", "path", "headers", "['a']", "&&", "||", "!", "==", "in", "(", ")", "has", "size", ",",
            "'x'", "1", "-", "?", ":", "[", "]", "{", "}", "matches", "session", "new", "true", "\"", "+",
        ]), 0..14)) {
            let _ = Expression::new(&words.join(" "), &classes());
        }
    }
}
