//! [`Rules`]: all rules of a gate.

use http::StatusCode;
use units::ClassId;

use crate::rules::list::List;
use crate::rules::rule::Rule;
use crate::rules::subject::{Subject, View};

/// All rules.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// What class a request is of that begins a session.
    pub(crate) choose: List,
    /// Those of `choose` that a session may come to meet after it has begun.
    again: List,
    /// For requests of a session that is there.
    pub(crate) raise: List,
    /// Positions in `raise` of those that ask for the status of the response.
    by_status: Vec<usize>,
}

impl Rules {
    pub(crate) fn new(choose: Vec<Rule>, raise: Vec<Rule>) -> Self {
        let again = choose.iter().filter(|rule| rule.is_of_the_client()).cloned().collect();
        let asks = |(position, rule): (usize, &Rule)| rule.statuses().map(|_| position);
        Self {
            again: List::new(again),
            by_status: raise.iter().enumerate().filter_map(asks).collect(),
            choose: List::new(choose),
            raise: List::new(raise),
        }
    }

    /// Whether a session that is there can get into another class by its requests.
    pub fn can_change(&self) -> bool {
        !self.raise.is_empty() || !self.again.is_empty()
    }

    /// The class of a new session, and the position of the rule that says so.
    pub fn find(&self, subject: Subject<'_>) -> Option<(usize, ClassId)> {
        self.choose.find(subject, None)
    }

    /// The class that the rules give to a session of `class` by what its client sends by now, a cookie or a
    /// header, if that is a higher one, and the position of the rule.
    pub fn find_again(&self, subject: Subject<'_>, class: ClassId) -> Option<(usize, ClassId)> {
        self.again.find(subject, Some(class))?;
        // Another that stands before it may match as well.
        self.choose.find(subject, None).filter(|(_, found)| *found < class)
    }

    /// What the request raises its session to, which is of `class`.
    pub fn raise(&self, subject: Subject<'_>, class: ClassId) -> Option<(usize, ClassId)> {
        self.raise.find(subject, Some(class))
    }

    /// Positions of what may raise the session of a request, which is of `class`, by its response's status.
    pub fn raises_by_status(&self, subject: Subject<'_>, class: ClassId) -> Vec<usize> {
        if self.by_status.is_empty() {
            return Vec::new();
        }
        let view = View::of(subject, self.by_status.len());
        let may = |position: &usize| {
            self.raise
                .get(*position)
                .is_some_and(|rule| rule.class < class && rule.matches_but_for_status(&view))
        };
        self.by_status.iter().copied().filter(may).collect()
    }

    /// Which of these raises a session of `class` by a response of that status, and to what.
    pub fn raised_by(
        &self,
        positions: &[usize],
        status: StatusCode,
        class: ClassId,
    ) -> Option<(usize, ClassId)> {
        let raises = |position: &usize| {
            let rule = self.raise.get(*position)?;
            (rule.class < class && rule.asks_for(status)).then_some((*position, rule.class))
        };
        positions.iter().find_map(raises)
    }

    /// The statuses that a rule which raises asks for, and the class that it gives.
    pub(crate) fn asked_by(&self, position: usize) -> Option<(String, ClassId)> {
        let rule = self.raise.get(position)?;
        let statuses: Vec<String> = rule.statuses()?.iter().map(ToString::to_string).collect();
        Some((statuses.join(" or "), rule.class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::condition::Condition;
    use crate::rules::condition::{PathPattern, Statuses};
    use crate::rules::rule::Rule;
    use config::Glob;
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
        let rules = Rules::new(rules.clone(), rules);
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

    #[test]
    fn a_session_gets_into_a_higher_class_by_what_its_client_sends_not_by_what_it_asks_for() {
        let glob = |text: &str| Some(Glob(text.to_owned()));
        let cookie = |value| Condition::Cookie(vec![("tier".to_owned(), glob(value))]);
        let rule = |class, conditions| Rule { class: ClassId(class), conditions };
        let path = Condition::Path(vec![PathPattern::new("/vip/")]);
        let bot = Condition::Header(vec![(HeaderName::from_static("x-bot"), None)]);
        let rules = vec![rule(2, vec![bot]), rule(0, vec![path]), rule(1, vec![cookie("gold")])];
        let rules = Rules::new(rules, Vec::new());
        let found = |path: &str, name: &str, value: &str, class| {
            let request =
                Request::get(path).header(name, value).header("cookie", "tier=gold").body(()).unwrap();
            let (method, uri, headers) = (request.method(), request.uri(), request.headers());
            let address = [127, 0, 0, 1].into();
            let subject = Subject { method, uri, headers, address, server_name: None, session: None };
            rules.find_again(subject, ClassId(class))
        };
        assert_eq!(found("/", "x", "", 2), Some((2, ClassId(1))));
        assert_eq!(found("/", "x", "", 1), None, "it is of that class");
        assert_eq!(found("/", "x", "", 0), None, "nobody is lowered");
        assert_eq!(found("/", "x-bot", "1", 2), None, "the first that matches decides");
        assert!(
            Rules::new(vec![rule(0, vec![Condition::Method(vec![Method::GET])])], Vec::new())
                .again
                .is_empty()
        );
    }

    #[test]
    fn a_response_raises_by_its_status() {
        let statuses = |all: &[&str]| all.iter().map(|text| Statuses::new(text).unwrap()).collect();
        let path = |path| Condition::Path(vec![PathPattern::new(path)]);
        let rule = |class, conditions| Rule { class: ClassId(class), conditions };
        let raise = vec![
            rule(1, vec![path("/a"), Condition::Status(statuses(&["200", "3xx"]))]),
            rule(0, vec![path("/a/b"), Condition::Status(statuses(&["201"]))]),
            rule(0, vec![path("/now")]),
        ];
        let rules = Rules::new(Vec::new(), raise);
        let request = Request::get("/a/b").body(()).unwrap();
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let address = [127, 0, 0, 1].into();
        let subject = Subject { method, uri, headers, address, server_name: None, session: None };
        assert_eq!(rules.raise(subject, ClassId(2)), None, "there is no response yet");
        let by = |class, status: u16| {
            let positions = rules.raises_by_status(subject, ClassId(class));
            rules.raised_by(&positions, StatusCode::from_u16(status).unwrap(), ClassId(class))
        };
        assert_eq!(
            [by(2, 200), by(2, 302), by(2, 404)],
            [Some((0, ClassId(1))), Some((0, ClassId(1))), None]
        );
        assert_eq!([by(2, 201), by(1, 200), by(0, 201)], [Some((1, ClassId(0))), None, None]);
        for wrong in ["", "20", "2x", "xx", "100", "1xx", "600", "6xx", "abc", "2000"] {
            assert_eq!(Statuses::new(wrong), None, "{wrong}");
        }
    }
}
