//! [`Rules`]: all rules of a gate.

use units::ClassId;

use crate::rules::list::List;
use crate::rules::subject::Subject;

/// All rules.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// For requests that begin a session.
    pub(crate) choose: List,
    /// For requests of a session that is there.
    pub(crate) raise: List,
}

impl Rules {
    /// Whether there are rules that raise sessions.
    pub fn can_raise(&self) -> bool {
        !self.raise.is_empty()
    }

    /// The class of a new session, and the position of the rule that says so.
    pub fn find(&self, subject: Subject<'_>) -> Option<(usize, ClassId)> {
        self.choose.find(subject, None)
    }

    /// What the request raises its session to, which is of `class`.
    pub fn raise(&self, subject: Subject<'_>, class: ClassId) -> Option<(usize, ClassId)> {
        self.raise.find(subject, Some(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::condition::Condition;
    use crate::rules::condition::PathPattern;
    use crate::rules::glob::Glob;
    use crate::rules::rule::Rule;
    use http::header::{HOST, HeaderName};
    use http::{HeaderMap, HeaderValue, Method, Request, Uri};

    #[track_caller]
    fn check(condition: Condition, expected: bool) {
        let request = Request::get("/checkout/pay?x=1&q=a%20b+c&flag")
            .header(HOST, "Shop.Example.com:8080")
            .header("x-tier", "gold")
            .header("cookie", "a=1; tier=premium")
            .body(())
            .unwrap();
        let subject = Subject {
            method: request.method(),
            uri: request.uri(),
            headers: request.headers(),
            address: "::ffff:10.1.2.3".parse().unwrap(),
            server_name: Some("shop.example.com"),
            session: None,
        };
        let rules = List::new(vec![Rule { class: ClassId(0), conditions: vec![condition.clone()] }]);
        assert_eq!(rules.find(subject, None).is_some(), expected, "{condition:?}");
    }

    #[test]
    fn each_condition_sees_its_part_of_the_request() {
        let glob = |text: &str| Glob(text.to_owned());
        check(Condition::Host(vec![glob("shop.example.com")]), true);
        check(Condition::Host(vec![glob("*.example.com")]), true);
        check(Condition::Host(vec![glob("example.com")]), false);
        check(Condition::Path(vec![PathPattern::new("/checkout/")]), true);
        check(Condition::Path(vec![PathPattern::new("/check*/p?y")]), true);
        check(Condition::Path(vec![PathPattern::new("/pay")]), false);
        let query =
            |name: &str, value: Option<&str>| Condition::Query(vec![(name.to_owned(), value.map(glob))]);
        check(query("x", None), true);
        check(query("x", Some("1")), true);
        check(query("x", Some("2")), false);
        check(query("q", Some("a b c")), true);
        check(query("flag", Some("")), true);
        check(query("fla", None), false);
        let header = HeaderName::from_static("x-tier");
        check(Condition::Header(vec![(header.clone(), None)]), true);
        check(Condition::Header(vec![(header.clone(), Some(glob("g*")))]), true);
        check(Condition::Header(vec![(header, Some(glob("silver")))]), false);
        check(Condition::Cookie(vec![("tier".to_owned(), Some(glob("premium")))]), true);
        check(Condition::Cookie(vec![("tier".to_owned(), Some(glob("basic")))]), false);
        check(Condition::Cookie(vec![("b".to_owned(), None), ("a".to_owned(), None)]), true);
        check(Condition::ServerName(vec![glob("*.example.com")]), true);
        check(Condition::ServerName(vec![glob("*.example.org")]), false);
        check(Condition::Address(vec!["10.0.0.0/8".parse().unwrap()]), true);
        check(Condition::Address(vec!["11.0.0.0/8".parse().unwrap(), "::/0".parse().unwrap()]), false);
        check(Condition::Method(vec![Method::POST, Method::GET]), true);
        check(Condition::Method(vec![Method::POST]), false);
    }

    #[test]
    fn all_conditions_of_a_rule_must_hold_and_the_first_rule_wins() {
        let rule = |class, conditions| Rule { class: ClassId(class), conditions };
        let get = Condition::Method(vec![Method::GET]);
        let post = Condition::Method(vec![Method::POST]);
        let rules = vec![rule(0, vec![get.clone(), post]), rule(1, vec![get.clone()]), rule(2, vec![get])];
        let rules = Rules { choose: List::new(rules.clone()), raise: List::new(rules) };
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("h"));
        let uri = Uri::from_static("/");
        let subject = |method| Subject {
            method,
            uri: &uri,
            headers: &headers,
            address: [127, 0, 0, 1].into(),
            server_name: None,
            session: None,
        };
        assert_eq!(rules.find(subject(&Method::GET)), Some((1, ClassId(1))));
        assert_eq!(rules.find(subject(&Method::PUT)), None);
        assert_eq!(rules.raise(subject(&Method::GET), ClassId(2)), Some((1, ClassId(1))));
        assert_eq!(rules.raise(subject(&Method::GET), ClassId(1)), None, "nobody is lowered");
    }
}
