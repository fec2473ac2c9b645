//! [`talk`]: with a gate until the user has seen enough, across restarts and lost connections.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::ask::{carry_out, changes, greet, last_samples, queue, sample, state};
use super::news::{Greeting, News, Order};
use crate::api::queue::Wanted;
use crate::fault::Fault;
use crate::http::client::Client;
use crate::http::listening::Listening;
use crate::http::sse::Event;

const EVENTS: &str = "/api/v1/events?samples=true";
/// How often the state, which samples do not have, is looked at.
const LOOK: Duration = Duration::from_secs(2);
/// How often what waits is looked at while it is shown.
const QUEUE_LOOK: Duration = Duration::from_secs(1);
/// Before a gate that was lost is looked for again.
const PAUSE: Duration = Duration::from_secs(2);
/// Before a gate to which too many listen is asked for its events again.
const LISTEN_AGAIN: Duration = Duration::from_secs(30);
/// Questions at once; a gate that does not keep up is not asked more.
const MAX_QUESTIONS: usize = 8;
const LOST: &str = "the gate is not there";

/// What a question came to: news, or the end of this conversation.
type Answer = Result<News, Fault>;

/// How a conversation ended that did not fail.
enum Next {
    /// The user has seen enough.
    End,
    /// All is to be asked for anew.
    Anew,
}

/// Talks to the gate, of which `first` is known; ends when the screen does, and what was ordered last is done.
pub(crate) async fn talk(
    client: Arc<Client>,
    first: Greeting,
    news: SyncSender<News>,
    mut orders: Receiver<Order>,
) {
    let mut talk = Talk::new(client, news);
    let mut greeting = Some(first);
    loop {
        match talk.once(greeting.take(), &mut orders).await {
            Ok(Next::End) => break,
            Ok(Next::Anew) => {}
            Err(fault) => {
                talk.questions = JoinSet::new();
                talk.is_lost = true;
                talk.tell(News::Lost(fault.to_string()));
                if talk.meanwhile(sleep(PAUSE), &mut orders).await.is_none() {
                    break;
                }
            }
        }
    }
    while talk.changes.join_next().await.is_some() {}
}

struct Talk {
    client: Arc<Client>,
    news: SyncSender<News>,
    /// What the screen had no room for.
    owed: VecDeque<News>,
    wanted: Option<Wanted>,
    /// With their numbers.
    questions: JoinSet<(u64, Answer)>,
    /// Orders that change something; they are not given up when the connection is lost, as they may have been carried
    /// out.
    changes: JoinSet<News>,
    /// The number of the last question.
    asked: u64,
    /// Answers to questions before this one do not know the last change.
    known: u64,
    /// When the gate began.
    started: Option<f64>,
    /// Whether the gate is not there.
    is_lost: bool,
}

impl Talk {
    fn new(client: Arc<Client>, news: SyncSender<News>) -> Self {
        Self {
            client,
            news,
            owed: VecDeque::new(),
            wanted: None,
            questions: JoinSet::new(),
            changes: JoinSet::new(),
            asked: 0,
            known: 0,
            started: None,
            is_lost: false,
        }
    }

    /// One connection to a gate.
    async fn once(
        &mut self,
        greeting: Option<Greeting>,
        orders: &mut Receiver<Order>,
    ) -> Result<Next, Fault> {
        let client = Arc::clone(&self.client);
        let greeting = match greeting {
            Some(greeting) => greeting,
            None => match self.meanwhile(greet(&client), orders).await {
                Some(greeting) => greeting?,
                None => return Ok(Next::End),
            },
        };
        (self.started, self.is_lost) = (greeting.state.started, false);
        self.tell(News::Met(Box::new(greeting)));
        let Some(events) = self.meanwhile(client.listen(EVENTS), orders).await else {
            return Ok(Next::End);
        };
        let mut events = self.listen(events)?;
        let (mut looks, mut queue_looks) = (interval(LOOK), interval(QUEUE_LOOK));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        queue_looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let again = sleep(LISTEN_AGAIN);
        tokio::pin!(again);
        loop {
            tokio::select! {
                event = next(&mut events) => self.hear(&event?),
                order = orders.recv() => match order {
                    Some(order) => self.obey(order),
                    None => return Ok(Next::End),
                },
                Some(answer) = self.questions.join_next() => {
                    if let Ok((number, answer)) = answer && self.take(number, answer?) {
                        return Ok(Next::Anew);
                    }
                }
                Some(done) = self.changes.join_next() => self.settle(done.ok()),
                _ = looks.tick() => {
                    self.look_at_state();
                    if events.is_none() {
                        self.look_at_samples();
                        self.look_at_changes();
                    }
                }
                _ = queue_looks.tick() => self.look_at_queue(),
                () = &mut again, if events.is_none() => return Ok(Next::Anew),
            }
            self.pay();
        }
    }

    /// The gate's events; nothing where it has none for us, as when too many listen.
    fn listen(&mut self, events: Result<Listening, Fault>) -> Result<Option<Listening>, Fault> {
        let (events, why) = match events {
            Ok(events) => (Some(events), None),
            Err(Fault::Refused { status: 404 | 405 | 503, why }) => (None, Some(why)),
            Err(fault) => return Err(fault),
        };
        self.tell(News::Polling(why));
        Ok(events)
    }

    fn hear(&mut self, event: &Event) {
        match event.name.as_str() {
            "sample" => {
                if let Some(sample) = sample(&event.data) {
                    self.tell(News::Sample(sample));
                }
            }
            // Somebody changed something, here or elsewhere.
            "knobs" | "mode" | "class" | "drain" | "reload" => {
                self.look_at_state();
                self.look_at_changes();
            }
            "upstream" | "pressure" => self.look_at_state(),
            _ => {}
        }
    }

    fn obey(&mut self, order: Order) {
        let client = Arc::clone(&self.client);
        match order {
            Order::Queue(wanted) => {
                self.wanted = wanted;
                self.look_at_queue();
            }
            // What the user orders is never left out.
            Order::Foresee(_) | Order::LookBack { .. } => {
                self.spawn(async move { Ok(carry_out(&client, order).await) });
            }
            Order::Move { .. } | Order::Shadow(_) | Order::Drain(_) => {
                self.changes.spawn(async move { carry_out(&client, order).await });
            }
        }
    }

    /// Takes what a question came to; whether the gate is another one than before.
    fn take(&mut self, number: u64, news: News) -> bool {
        if let News::State(state) = &news {
            if state.started != self.started {
                return true;
            }
            if number < self.known {
                return false;
            }
            self.known = number;
        }
        self.tell(news);
        false
    }

    /// Takes what a change came to.
    fn settle(&mut self, done: Option<News>) {
        self.asked += 1;
        self.known = self.asked;
        if let Some(news) = done {
            self.tell(news);
        }
    }

    fn look_at_state(&mut self) {
        let client = Arc::clone(&self.client);
        self.ask(async move { state(&client).await.map(|(_, state)| News::State(Box::new(state))) });
    }

    fn look_at_samples(&mut self) {
        let client = Arc::clone(&self.client);
        self.ask(async move { last_samples(&client).await.map(|(_, history)| News::Samples(history)) });
    }

    fn look_at_changes(&mut self) {
        let client = Arc::clone(&self.client);
        self.ask(async move { changes(&client).await.map(News::Changes) });
    }

    fn look_at_queue(&mut self) {
        let Some(wanted) = self.wanted.clone() else { return };
        let client = Arc::clone(&self.client);
        self.ask(async move {
            let told = queue(&client, &wanted).await;
            Ok(News::Queue(wanted, told))
        });
    }

    fn ask(&mut self, question: impl Future<Output = Answer> + Send + 'static) {
        if self.questions.len() < MAX_QUESTIONS {
            self.spawn(question);
        }
    }

    fn spawn(&mut self, question: impl Future<Output = Answer> + Send + 'static) {
        self.asked += 1;
        let number = self.asked;
        self.questions.spawn(async move { (number, question.await) });
    }

    /// Waits for something, and hears orders until then; nothing when the user has seen enough.
    async fn meanwhile<T>(
        &mut self,
        waited: impl Future<Output = T>,
        orders: &mut Receiver<Order>,
    ) -> Option<T> {
        tokio::pin!(waited);
        loop {
            tokio::select! {
                value = &mut waited => return Some(value),
                Some(done) = self.changes.join_next() => self.settle(done.ok()),
                order = orders.recv() => match order? {
                    order if self.is_lost => self.refuse(order),
                    order => self.obey(order),
                },
            }
        }
    }

    /// Says of an order that it cannot be carried out.
    fn refuse(&mut self, order: Order) {
        let why = || format!("not done: {LOST}");
        match order {
            Order::Queue(wanted) => self.wanted = wanted,
            Order::Foresee(knobs) => self.tell(News::Foreseen { knobs, told: Err(LOST.to_owned()) }),
            Order::LookBack { since } => self.tell(News::Outcome { since, told: Err(LOST.to_owned()) }),
            Order::Move { .. } => self.tell(News::NotMoved(why())),
            Order::Shadow(_) | Order::Drain(_) => self.tell(News::Done(Err(why()))),
        }
    }

    /// Never waits: a screen that hangs misses samples, and has the rest later.
    fn tell(&mut self, news: News) {
        self.pay();
        let left = if self.owed.is_empty() {
            match self.news.try_send(news) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(news)) => news,
            }
        } else {
            news
        };
        if !left.is_sample() {
            // Bounded by the orders of a screen that does not hang.
            self.owed.retain(|owed| !owed.is_outdone_by(&left));
            self.owed.push_back(left);
        }
    }

    /// Tells what the screen had no room for.
    fn pay(&mut self) {
        while let Some(news) = self.owed.pop_front() {
            if let Err(TrySendError::Full(news)) = self.news.try_send(news) {
                self.owed.push_front(news);
                return;
            }
        }
    }
}

/// The next event; where there are no events, one never comes.
async fn next(events: &mut Option<Listening>) -> Result<Event, Fault> {
    match events {
        Some(events) => events.next().await,
        None => pending().await,
    }
}
