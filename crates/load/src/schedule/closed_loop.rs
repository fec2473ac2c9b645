//! Closed loop: each client starts anew when it has finished.

use std::cell::RefCell;
use std::rc::Rc;

use record::Step;
use traffic::model::Visit;
use traffic::{Mix, Think, Thinking};
use units::{Span, Time};

use crate::client::context::ThreadContext;
use crate::client::fetch::{Client, Failed, fetch};
use crate::client::http1::pipeline::{ConnectionOutcome, Pipeline};
use crate::client::session::{Pauses, embedded, session};
use crate::schedule::source::Source;

/// A client whose connection does not come about tries again after this, so that a server that is down does not cost a
/// processor. Nothing else is a reason to wait: what a server answers, or that it breaks off, is how fast it works.
const UNCONNECTED: Span = Span::from_millis(10);

/// The clients of a closed loop.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    /// How many, at most.
    pub(crate) most: u32,
    /// How many at a time; always all when there are no steps.
    pub(crate) steps: Vec<Step>,
    /// Instead of the pauses of a model.
    pub(crate) think: Option<Think>,
    /// Inside of sessions.
    pub(crate) pauses: Pauses,
    pub(crate) seed: u64,
    /// Requests under way at once on a connection.
    pub(crate) depth: u32,
}

impl Clients {
    /// From when on, not before `now`, client number `number` has something to do.
    fn active_from(&self, number: u32, now: Time) -> Time {
        let Some(last) = self.steps.last() else { return now };
        let active = |step: &&Step| f64::from(number) < step.level;
        if now.as_nanos() >= last.to_ns {
            return if active(&last) { now } else { Time::NEVER };
        }
        let first = self.steps.first().map_or(0, |step| step.from_ns);
        // Before the first step, in the warm-up, its level holds.
        let at = now.as_nanos().max(first);
        let next = self.steps.iter().filter(|step| step.to_ns > at).find(active);
        match next {
            Some(step) if step.from_ns <= at => now,
            Some(step) => Time::from_nanos(step.from_ns),
            None => Time::NEVER,
        }
    }
}

/// Starts this thread's share of `clients`, which go on as long as the run does.
pub(crate) fn closed_loop(thread: &Rc<ThreadContext>, source: &Rc<Source>, clients: Clients) {
    let shares = thread.plan.classes.iter().map(|class| class.share).collect();
    let mix = Rc::new(RefCell::new(Mix::new(shares)));
    let share = thread.share;
    let clients = Rc::new(clients);
    for number in (share.number..clients.most).step_by(share.of as usize) {
        let one = ClosedLoopClient {
            thread: Rc::clone(thread),
            source: Rc::clone(source),
            mix: Rc::clone(&mix),
            clients: Rc::clone(&clients),
            number,
        };
        if clients.depth > 1 && !thread.plan.is_http2 {
            thread.spawner.spawn(one.pipeline());
            continue;
        }
        // With HTTP/2, requests under way at once are streams of the client's connection.
        let client = Rc::new(Client::new(thread, 0, None, thread.now()));
        for _ in 0..clients.depth {
            thread.spawner.spawn(one.clone().again_and_again(Rc::clone(&client)));
        }
    }
    thread.progress.set_issued();
}

#[derive(Clone)]
struct ClosedLoopClient {
    thread: Rc<ThreadContext>,
    source: Rc<Source>,
    mix: Rc<RefCell<Mix>>,
    clients: Rc<Clients>,
    number: u32,
}

impl ClosedLoopClient {
    async fn again_and_again(self, client: Rc<Client>) {
        let thread = &self.thread;
        let mut visit = Visit::default();
        let mut thinking = Thinking::of_client(self.clients.seed, self.number);
        loop {
            self.wait_for_turn().await;
            if !thread.progress.take() {
                return;
            }
            let now = thread.now();
            let done = self.once(&client, &mut visit, now).await;
            if done.is_err_and(|failed| !failed.connected) {
                self.wait_unconnected().await;
            }
            if let Some(think) = self.clients.think.filter(|think| !think.is_zero()) {
                thread.until(thread.now() + thinking.next(&think)).await;
            }
        }
    }

    async fn pipeline(self) {
        let thread = &self.thread;
        let user = thread.plan.user(0, None);
        let mut pipeline = Pipeline::new(thread, &user, self.clients.depth);
        loop {
            if pipeline.is_empty() {
                self.wait_for_turn().await;
            }
            let draw = || (self.is_its_turn() && thread.progress.take()).then(|| self.source.draw(thread));
            let outcome = pipeline.connection(draw).await;
            if pipeline.is_empty() && !thread.progress.has_more() {
                return;
            }
            if outcome == ConnectionOutcome::NotOpened {
                self.wait_unconnected().await;
            }
        }
    }

    async fn wait_unconnected(&self) {
        let thread = &self.thread;
        thread.recorder.borrow_mut().waits_unconnected(thread.now());
        thread.until(thread.now() + UNCONNECTED).await;
    }

    fn is_its_turn(&self) -> bool {
        let now = self.thread.now();
        self.clients.active_from(self.number, now) <= now
    }

    async fn wait_for_turn(&self) {
        if self.clients.steps.is_empty() {
            return;
        }
        let now = self.thread.now();
        let from = self.clients.active_from(self.number, now);
        if from > now {
            self.thread.until(from).await;
        }
    }

    async fn once(&self, client: &Client, visit: &mut Visit, now: Time) -> Result<(), Failed> {
        let thread = &self.thread;
        match &*self.source {
            Source::Sessions => {
                let _followed = thread.progress.follow(now);
                let class = self.mix.borrow_mut().deal();
                session(Rc::clone(thread), class, now, self.clients.pauses).await
            }
            Source::Url | Source::Trace(_) => {
                let _followed = thread.progress.follow(now);
                fetch(thread, client, self.source.draw(thread), now).await
            }
            Source::Model(model) => {
                model.borrow_mut().visit(visit);
                if self.clients.think.is_some() {
                    visit.without_pauses();
                }
                self.visit(client, visit, now).await
            }
        }
    }

    /// One page of a model, what is embedded in it, and the pause of its reader. Each request is
    /// followed to its end, the visit is not: its pauses can last for minutes.
    async fn visit(&self, client: &Client, visit: &Visit, now: Time) -> Result<(), Failed> {
        let thread = &self.thread;
        let followed = thread.progress.follow(now);
        let mut done = fetch(thread, client, visit.page, now).await;
        drop(followed);
        for object in &visit.embedded {
            if !object.pause.is_zero() {
                thread.until(thread.now() + object.pause).await;
            }
            let _followed = thread.progress.follow(thread.now());
            done = done.and(embedded(thread, client, &[object.object]).await);
        }
        if !visit.think.is_zero() {
            thread.until(thread.now() + visit.think).await;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: u32, seconds: u64, expected: Option<u64>) {
        let second = 1_000_000_000;
        let step = |from, to, level| Step { from_ns: from * second, to_ns: to * second, level };
        let clients = Clients {
            most: 3,
            steps: vec![step(10, 20, 1.0), step(20, 30, 3.0), step(30, 40, 2.0)],
            think: None,
            pauses: Pauses::Skipped,
            seed: 1,
            depth: 1,
        };
        let from = clients.active_from(number, Time::from_nanos(seconds * second));
        let expected = expected.map_or(Time::NEVER, |seconds| Time::from_nanos(seconds * second));
        assert_eq!(from, expected, "client {number} at {seconds} s");
    }

    #[test]
    fn clients_come_and_go_with_the_steps() {
        check(0, 0, Some(0));
        check(1, 0, Some(20));
        check(2, 19, Some(20));
        check(2, 25, Some(25));
        check(2, 30, None);
        check(1, 35, Some(35));
        check(1, 45, Some(45));
        check(2, 45, None);
    }
}
