//! [`patience`]: how long users wait for an answer before they leave.

use units::Span;

use super::request::{Fate, Request};

/// How long users wait before half of them have left, if as many would: those who were answered sooner would have waited for at least as long, so of them it is
/// known only that (Kaplan and Meier 1958). Where fewer leave, users are taken to wait as long as it takes: some always close a page.
pub(super) fn patience(requests: &[Request]) -> Option<Span> {
    let is_telling = |request: &&Request| request.fate != Fate::Refused;
    let mut waited: Vec<(Span, bool)> = requests
        .iter()
        .filter(is_telling)
        .map(|request| (request.response(), request.fate == Fate::GaveUp))
        .collect();
    waited.sort_unstable();
    let (mut waiting, mut stayed) = (waited.len() as f64, 1.0);
    for (span, gave_up) in waited {
        if gave_up {
            stayed *= 1.0 - 1.0 / waiting;
        }
        if stayed <= 0.5 {
            return Some(span);
        }
        waiting -= 1.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::Kind;
    use units::Time;

    fn request(millis: u64, fate: Fate) -> Request {
        Request {
            arrived: Time::ZERO,
            session: None,
            began: true,
            kind: Kind::default(),
            class: Some(0),
            waited: Span::from_millis(millis),
            served: Span::ZERO,
            share: Span::ZERO,
            fate,
            weight: 1.0,
        }
    }

    #[test]
    fn all_leave_after_as_long_however_many_are_answered_sooner() {
        let answered = (0..990).map(|millis| request(millis, Fate::Served));
        let left = (0..10).map(|_| request(2000, Fate::GaveUp));
        assert_eq!(patience(&answered.chain(left).collect::<Vec<_>>()), Some(Span::from_secs(2)));
    }

    #[test]
    fn a_few_who_close_a_page_at_once_say_nothing_about_the_others() {
        let answered = (0..990).map(|millis| request(millis, Fate::Served));
        let left = (0..10).map(|_| request(100, Fate::GaveUp));
        assert_eq!(patience(&answered.chain(left).collect::<Vec<_>>()), None);
        let refused = [request(1, Fate::Refused), request(5, Fate::Served)];
        assert_eq!(patience(&refused), None, "who is refused has not left");
    }
}
