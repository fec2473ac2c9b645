//! [`User`]: somebody who follows the script, as a user of `headworks load` does.

use policy::{KnownSession, Session, SessionLimits, SessionStatus};
use traffic::Thinking;
use units::{ClassId, SessionId, Span, Time};

use super::model::Script;
use super::tally::Fate;

/// A session under way.
#[derive(Debug)]
pub(super) struct User {
    pub(super) number: u64,
    /// Of the script.
    pub(super) class: usize,
    pub(super) started: Time,
    /// Whether it counts.
    pub(super) is_counted: bool,
    /// Connections on which nothing is under way, the one used last on top.
    pub(super) idle: Vec<usize>,
    way: usize,
    page: usize,
    /// Embedded objects of the page that have been asked for.
    asked: usize,
    /// Requests under way.
    pending: usize,
    thinking: Thinking,
    /// Before retries.
    pub(super) retrying: Thinking,
    paused: Span,
    failed: Option<Fate>,
    token: Option<Session>,
}

/// What a user does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Waits for what is under way.
    Wait,
    /// Asks for these objects at once.
    Fetch(Vec<usize>),
    /// Reads for so long.
    Read(Span),
    /// Leaves.
    End(Fate),
}

impl User {
    /// `seed` is that of the arrivals.
    pub(super) fn new(
        number: u64,
        (class, way): (usize, usize),
        started: Time,
        seed: u64,
        is_counted: bool,
    ) -> Self {
        Self {
            number,
            class,
            way,
            started,
            is_counted,
            idle: Vec::new(),
            page: 0,
            asked: 0,
            pending: 0,
            thinking: Thinking::of_session(seed, started),
            retrying: Thinking::of_retries(seed, started),
            paused: Span::ZERO,
            failed: None,
            token: None,
        }
    }

    /// Begins the page whose turn it is; gives its object.
    pub(super) fn open_page(&mut self, script: &Script) -> Option<usize> {
        self.asked = 0;
        self.pending = 1;
        script.pages(self.way).get(self.page).map(|page| page.object)
    }

    /// What becomes of a request decides how the user goes on: embedded objects are fetched over several
    /// connections at once; after a failure no more is begun, but what is under way is waited for.
    pub(super) fn learn(&mut self, script: &Script, fate: Fate) -> Next {
        self.pending -= 1;
        if fate != Fate::Completed {
            self.failed.get_or_insert(fate);
        }
        let pages = script.pages(self.way);
        let Some(page) = pages.get(self.page) else { return Next::End(Fate::Completed) };
        let most = match self.asked {
            _ if self.failed.is_some() => 0,
            0 => script.connections,
            _ => 1,
        };
        let next: Vec<usize> = page.embedded.iter().skip(self.asked).take(most).copied().collect();
        self.asked += next.len();
        self.pending += next.len();
        match self.failed {
            _ if !next.is_empty() => Next::Fetch(next),
            _ if self.pending > 0 => Next::Wait,
            Some(fate) => Next::End(fate),
            None if self.page + 1 == pages.len() => Next::End(Fate::Completed),
            None => {
                self.page += 1;
                let pause = self.thinking.next(&page.think);
                self.paused += pause;
                Next::Read(pause)
            }
        }
    }

    /// How long the session has taken, without its pauses.
    pub(super) fn duration(&self, now: Time) -> Span {
        now.since(self.started).saturating_sub(self.paused)
    }

    /// What the user's token tells the gate.
    pub(super) fn known(&self, now: Time, limits: &SessionLimits) -> Option<KnownSession> {
        let holds = |token: &Session| token.status(now, limits) != SessionStatus::Expired;
        self.token.filter(holds).map(|token| token.known(now))
    }

    /// The answer to a request of that class brings a token where one is needed.
    pub(super) fn keep_token(&mut self, now: Time, class: ClassId, limits: &SessionLimits) {
        match &mut self.token {
            Some(token) => match token.status(now, limits) {
                SessionStatus::Valid => {}
                SessionStatus::Renew => token.last_seen = now,
                SessionStatus::Expired => *token = Session::begin(token.id, class, now),
            },
            none => *none = Some(Session::begin(SessionId(self.number), class, now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use traffic::Workload;

    use super::*;

    const THINK: Span = Span::from_secs(2);

    fn script() -> Script {
        let text = "kind = \"sessions\"\ntimeout = \"1s\"\nconnections = 2\n\
            [[page]]\nurl = \"/0\"\nthink = \"2s\"\nembedded = [\"/1\", \"/2\", \"/3\"]\n\
            [[page]]\nurl = \"/4\"\nthink = \"2s\"\n";
        let workload = Workload::parse(&config::Source::new("script.toml", text)).unwrap();
        Script::new(&workload, |_| Span::ZERO)
    }

    fn user(script: &Script) -> User {
        let mut user = User::new(1, (0, 0), Time::ZERO, 1, true);
        assert_eq!(user.open_page(script), Some(0));
        user
    }

    #[test]
    fn a_user_follows_the_script() {
        let script = script();
        let mut user = user(&script);
        let next = |user: &mut User| user.learn(&script, Fate::Completed);
        assert_eq!(next(&mut user), Next::Fetch(vec![1, 2]), "over two connections");
        assert_eq!(next(&mut user), Next::Fetch(vec![3]));
        assert_eq!(next(&mut user), Next::Wait);
        assert_eq!(next(&mut user), Next::Read(THINK));
        assert_eq!(user.open_page(&script), Some(4));
        assert_eq!(next(&mut user), Next::End(Fate::Completed), "no pause after the last page");
        assert_eq!(user.duration(Time::ZERO + THINK + THINK), THINK);
    }

    #[test]
    fn after_a_failure_nothing_more_is_begun() {
        let script = script();
        let mut user = user(&script);
        assert_eq!(user.learn(&script, Fate::Completed), Next::Fetch(vec![1, 2]));
        assert_eq!(user.learn(&script, Fate::TimedOut), Next::Wait);
        assert_eq!(user.learn(&script, Fate::Refused), Next::End(Fate::TimedOut), "what came first");
    }

    #[test]
    fn a_token_comes_with_an_answer_and_expires() {
        let limits = SessionLimits { idle: Span::from_secs(100), absolute: Span::from_secs(1000) };
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let mut user = user(&script());
        assert_eq!(user.known(at(0), &limits), None);
        user.keep_token(at(0), ClassId(1), &limits);
        let class = |user: &User, seconds| user.known(at(seconds), &limits).map(|session| session.class);
        assert_eq!(class(&user, 50), Some(ClassId(1)));
        user.keep_token(at(50), ClassId(1), &limits);
        assert_eq!(class(&user, 140), Some(ClassId(1)), "it was renewed");
        assert_eq!(class(&user, 150), None);
    }
}
