//! Who starts what, and when: by a schedule, or when the one before has ended.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use record::{SessionOutcome, Step};
use traffic::model::{Model, Visit};
use traffic::{Arrival, Arrivals, Mix, Process, Profile};
use units::{ClassId, Rate, Span, Time};

use crate::client::context::{Engine, Followed};
use crate::client::fetch::{Attempt, Client, fetch};
use crate::client::pipeline::Line;
use crate::client::session::{Pauses, embedded, session};
use crate::engine::share::Share;
use crate::settings::options::Think;

/// Arrivals that are started in one go when several are due; then the others get their turn.
const BATCH: u32 = 32;

/// How long the generator waits when too much is under way.
const WHEN_FULL: Span = Span::from_millis(1);

/// A client of a closed loop that cannot connect tries again after this, so that a server that
/// is down does not cost a processor.
const AFTER_FAILURE: Span = Span::from_millis(10);

/// What requests that stand alone, and users of a closed loop, ask for.
#[derive(Debug)]
pub(crate) enum Source {
    /// The plan's only object.
    Url,
    /// The plan's sessions.
    Sessions,
    /// Whatever the model draws next.
    Model(Box<RefCell<Model>>),
    /// The plan's sequence, over and over.
    Trace(Cell<usize>),
}

impl Source {
    fn draw(&self, engine: &Engine) -> u32 {
        match self {
            Self::Model(model) => model.borrow_mut().request(),
            Self::Trace(next) => {
                let sequence = &engine.plan.sequence;
                let position = next.replace(next.get() + 1) % sequence.len().max(1);
                sequence.get(position).copied().unwrap_or(0)
            }
            Self::Url | Self::Sessions => 0,
        }
    }
}

/// Something that the schedule wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) time: Time,
    pub(crate) class: ClassId,
    /// What, where the schedule says that too.
    pub(crate) object: Option<u32>,
}

impl From<Arrival> for Wish {
    fn from(Arrival { time, class }: Arrival) -> Self {
        Self { time, class, object: None }
    }
}

/// Starts what is this thread's `share` of the schedule, with at most so many requests under way that
/// stand alone, for ever: load is kept up while what began in
/// the window is followed to its end, or its last sessions would meet an emptier server than
/// its first.
pub(crate) async fn open_loop(
    engine: Rc<Engine>,
    source: Rc<Source>,
    schedule: impl Iterator<Item = Wish>,
    (share, most): (Share, Option<u32>),
) {
    let crew = Crew::new(&engine, most);
    let mut batch = 0;
    for wish in schedule.skip(share.number as usize).step_by(share.of as usize) {
        if wish.time.as_nanos() >= engine.window.to_ns && !engine.is_issued() {
            engine.set_issued();
        }
        if engine.now() < wish.time && engine.reactor.refresh() < wish.time {
            engine.until(wish.time).await;
            batch = 0;
        }
        batch += 1;
        if batch % BATCH == 0 {
            engine.until(engine.now()).await;
        }
        while engine.is_full() {
            engine.until(engine.now() + WHEN_FULL).await;
        }
        if engine.plan.has_sessions {
            // Followed from here on: the run may be about to end, and the task has not had its turn.
            let followed = engine.follow(wish.time);
            engine.spawner.spawn(arrive(Rc::clone(&engine), wish, followed));
        } else {
            crew.give(wish.object.unwrap_or_else(|| source.draw(&engine)), wish.time);
        }
    }
    engine.set_issued();
}

async fn arrive(engine: Rc<Engine>, wish: Wish, _followed: Followed) {
    arrived(&engine, wish.time);
    session(Rc::clone(&engine), wish.class, wish.time, Pauses::Made).await;
}

/// What the schedule wanted at `intended` begins now.
fn arrived(engine: &Engine, intended: Time) {
    engine.record_lag(intended);
    engine.recorder.borrow_mut().arrived(intended, engine.now());
}

/// Tasks that do requests which stand alone, and wait for the next when they have done one.
struct Crew {
    engine: Rc<Engine>,
    client: Rc<Client>,
    idle: Rc<RefCell<Vec<Rc<Desk>>>>,
    /// How many more tasks there may be.
    vacancies: Cell<u32>,
    waiting: Rc<Waiting>,
}

/// Requests that are due while all of a limited crew are at work.
struct Waiting {
    engine: Rc<Engine>,
    client: Rc<Client>,
    jobs: RefCell<VecDeque<Job>>,
}

/// Where a member of the crew finds its next job.
#[derive(Default)]
struct Desk {
    job: RefCell<Option<Job>>,
    waker: Cell<Option<Waker>>,
}

struct Job {
    object: u32,
    intended: Time,
    _followed: Followed,
}

impl Crew {
    fn new(engine: &Rc<Engine>, most: Option<u32>) -> Self {
        let client = Rc::new(Client::new(engine, 0, None));
        let (jobs, vacancies) = (RefCell::default(), Cell::new(most.unwrap_or(u32::MAX)));
        let waiting = Waiting { engine: Rc::clone(engine), client: Rc::clone(&client), jobs };
        Self { engine: Rc::clone(engine), client, idle: Rc::default(), vacancies, waiting: Rc::new(waiting) }
    }

    fn give(&self, object: u32, intended: Time) {
        let job = Job { object, intended, _followed: self.engine.follow(intended) };
        let idle = self.idle.borrow_mut().pop();
        if let Some(desk) = idle {
            *desk.job.borrow_mut() = Some(job);
            if let Some(waker) = desk.waker.take() {
                waker.wake();
            }
            return;
        }
        let Some(left) = self.vacancies.get().checked_sub(1) else {
            // The generator is in time; it is the server that keeps the connections.
            arrived(&self.engine, intended);
            self.waiting.jobs.borrow_mut().push_back(job);
            return;
        };
        self.vacancies.set(left);
        self.hire(job);
    }

    fn hire(&self, job: Job) {
        let desk = Rc::new(Desk { job: RefCell::new(Some(job)), waker: Cell::default() });
        let (engine, client, idle, waiting) = (
            Rc::clone(&self.engine),
            Rc::clone(&self.client),
            Rc::clone(&self.idle),
            Rc::clone(&self.waiting),
        );
        self.engine.spawner.spawn(async move {
            loop {
                let job = desk.next().await;
                arrived(&engine, job.intended);
                // What became of it is in the record.
                let _ = fetch(&engine, &client, job.object, job.intended).await;
                drop(job);
                while let Some(job) = waiting.next() {
                    let _ = fetch(&engine, &client, job.object, job.intended).await;
                }
                idle.borrow_mut().push(Rc::clone(&desk));
            }
        });
    }
}

impl Waiting {
    fn next(&self) -> Option<Job> {
        self.jobs.borrow_mut().pop_front()
    }
}

impl Drop for Waiting {
    /// Those whose turn never came are in the record, as cut off.
    fn drop(&mut self) {
        for job in self.jobs.take() {
            if let Some(wanted) = self.engine.plan.objects.get(job.object as usize) {
                drop(Attempt::new(&self.engine, &self.client, wanted, job.object, job.intended));
            }
        }
    }
}

impl Desk {
    async fn next(&self) -> Job {
        poll_fn(|context| {
            if let Some(job) = self.job.borrow_mut().take() {
                return Poll::Ready(job);
            }
            self.waker.set(Some(context.waker().clone()));
            Poll::Pending
        })
        .await
    }
}

/// The clients of a closed loop.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    /// How many, at most.
    pub(crate) most: u32,
    /// How many at a time; always all when there are no steps.
    pub(crate) steps: Vec<Step>,
    /// Instead of the pauses of a model.
    pub(crate) think: Option<Think>,
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
pub(crate) fn closed_loop(engine: &Rc<Engine>, source: &Rc<Source>, clients: Clients) {
    let shares = engine.plan.classes.iter().map(|class| class.share).collect();
    let mix = Rc::new(RefCell::new(Mix::new(shares)));
    let share = engine.share;
    let clients = Rc::new(clients);
    for number in (share.number..clients.most).step_by(share.of as usize) {
        let one = OneOfMany {
            engine: Rc::clone(engine),
            source: Rc::clone(source),
            mix: Rc::clone(&mix),
            clients: Rc::clone(&clients),
            number,
        };
        if clients.depth > 1 && !engine.plan.is_http2 {
            engine.spawner.spawn(one.pipeline());
            continue;
        }
        // With HTTP/2, requests under way at once are streams of the client's connection.
        let client = Rc::new(Client::new(engine, 0, None));
        for _ in 0..clients.depth {
            engine.spawner.spawn(one.clone().again_and_again(Rc::clone(&client)));
        }
    }
    engine.set_issued();
}

#[derive(Clone)]
struct OneOfMany {
    engine: Rc<Engine>,
    source: Rc<Source>,
    mix: Rc<RefCell<Mix>>,
    clients: Rc<Clients>,
    number: u32,
}

impl OneOfMany {
    async fn again_and_again(self, client: Rc<Client>) {
        let engine = &self.engine;
        let mut visit = Visit::default();
        let mut thinking = Thinking::new(&self.clients, self.number);
        loop {
            self.wait_for_turn().await;
            let now = engine.now();
            let outcome = self.once(&client, &mut visit, now).await;
            if outcome == SessionOutcome::Error {
                engine.until(engine.now() + AFTER_FAILURE).await;
            }
            if let Some(pause) = thinking.next() {
                engine.until(engine.now() + pause).await;
            }
        }
    }

    async fn pipeline(self) {
        let engine = &self.engine;
        let client = Client::new(engine, 0, None);
        let mut line = Line::new(engine, &client, self.clients.depth);
        loop {
            if line.is_empty() {
                self.wait_for_turn().await;
            }
            let result = line.connection(|| self.is_its_turn().then(|| self.source.draw(engine))).await;
            if result.is_err() {
                engine.until(engine.now() + AFTER_FAILURE).await;
            }
        }
    }

    fn is_its_turn(&self) -> bool {
        let now = self.engine.now();
        self.clients.active_from(self.number, now) <= now
    }

    async fn wait_for_turn(&self) {
        if self.clients.steps.is_empty() {
            return;
        }
        let now = self.engine.now();
        let from = self.clients.active_from(self.number, now);
        if from > now {
            self.engine.until(from).await;
        }
    }

    async fn once(&self, client: &Client, visit: &mut Visit, now: Time) -> SessionOutcome {
        let engine = &self.engine;
        match &*self.source {
            Source::Sessions => {
                let _followed = engine.follow(now);
                let class = self.mix.borrow_mut().deal();
                session(Rc::clone(engine), class, now, Pauses::Skipped).await
            }
            Source::Url | Source::Trace(_) => {
                let _followed = engine.follow(now);
                completed(fetch(engine, client, self.source.draw(engine), now).await)
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
    async fn visit(&self, client: &Client, visit: &Visit, now: Time) -> SessionOutcome {
        let engine = &self.engine;
        let followed = engine.follow(now);
        let mut outcome = completed(fetch(engine, client, visit.page, now).await);
        drop(followed);
        for object in &visit.embedded {
            if !object.pause.is_zero() {
                engine.until(engine.now() + object.pause).await;
            }
            let _followed = engine.follow(engine.now());
            let fetched = embedded(engine, client, &[object.object]).await;
            outcome = if fetched.is_err() { completed(fetched) } else { outcome };
        }
        if !visit.think.is_zero() {
            engine.until(engine.now() + visit.think).await;
        }
        outcome
    }
}

fn completed(result: Result<(), SessionOutcome>) -> SessionOutcome {
    result.err().unwrap_or(SessionOutcome::Completed)
}

/// The pauses of one client.
struct Thinking {
    ends: Option<Arrivals>,
    before: Time,
}

impl Thinking {
    fn new(clients: &Clients, number: u32) -> Self {
        let Think { mean, exponential } = clients.think.unwrap_or_default();
        let rate = (!mean.is_zero()).then(|| Rate::of(1, mean));
        let process = if exponential { Process::Poisson } else { Process::Constant };
        let ends = rate.map(|rate| {
            Arrivals::new(process, &Profile::constant(rate), 1.0, clients.seed, u64::from(number))
        });
        Self { ends, before: Time::ZERO }
    }
}

impl Iterator for Thinking {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let end = self.ends.as_mut()?.next()?;
        let pause = end.since(self.before);
        self.before = end;
        Some(pause)
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
