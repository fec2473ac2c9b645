//! [`talk`]: with a gate until the user has seen enough, across restarts and lost connections.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::ask::{carry_out, changes, greet, queue, sample, state};
use super::news::{Greeting, News, Order};
use crate::api::queue::Wanted;
use crate::fault::Fault;
use crate::http::client::Client;
use crate::http::sse::Event;

const EVENTS: &str = "/api/v1/events?samples=true";
/// How often the state, which samples do not have, is looked at.
const LOOK: Duration = Duration::from_secs(2);
/// How often what waits is looked at while it is shown.
const QUEUE_LOOK: Duration = Duration::from_secs(1);
/// Before a gate that was lost is looked for again.
const PAUSE: Duration = Duration::from_secs(2);
/// Questions at once; a gate that does not keep up is not asked more.
const MAX_QUESTIONS: usize = 8;

/// What a question came to: news, or the end of this conversation.
type Answer = Result<News, Fault>;

/// Talks to the gate, of which `first` is known; ends when the screen does.
pub(crate) async fn talk(
    client: Arc<Client>,
    first: Greeting,
    news: SyncSender<News>,
    mut orders: Receiver<Order>,
) {
    let mut talk = Talk { client, news, wanted: None, questions: JoinSet::new() };
    let mut greeting = Some(first);
    loop {
        let ended = talk.once(greeting.take(), &mut orders).await;
        talk.questions.abort_all();
        let Err(fault) = ended else { return };
        talk.tell(News::Lost(fault.to_string()));
        if !talk.pause(&mut orders).await {
            return;
        }
    }
}

struct Talk {
    client: Arc<Client>,
    news: SyncSender<News>,
    wanted: Option<Wanted>,
    questions: JoinSet<Answer>,
}

impl Talk {
    /// One connection to a gate; succeeds when the user has seen enough.
    async fn once(&mut self, greeting: Option<Greeting>, orders: &mut Receiver<Order>) -> Result<(), Fault> {
        let greeting = match greeting {
            Some(greeting) => greeting,
            None => greet(&self.client).await?,
        };
        self.tell(News::Met(Box::new(greeting)));
        let mut events = self.client.listen(EVENTS).await?;
        let (mut looks, mut queue_looks) = (interval(LOOK), interval(QUEUE_LOOK));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        queue_looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = events.next() => self.hear(&event?),
                order = orders.recv() => match order {
                    Some(order) => self.obey(order),
                    None => return Ok(()),
                },
                Some(answer) = self.questions.join_next() => {
                    if let Ok(answer) = answer {
                        self.tell(answer?);
                    }
                }
                _ = looks.tick() => self.look_at_state(),
                _ = queue_looks.tick() => self.look_at_queue(),
            }
        }
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
                let client = Arc::clone(&self.client);
                self.ask(async move { changes(&client).await.map(News::Changes) });
            }
            "upstream" | "pressure" => self.look_at_state(),
            _ => {}
        }
    }

    fn obey(&mut self, order: Order) {
        if let Order::Queue(wanted) = order {
            self.wanted = wanted;
            return self.look_at_queue();
        }
        let client = Arc::clone(&self.client);
        // What the user orders is never left out.
        self.questions.spawn(async move { Ok(carry_out(&client, order).await) });
    }

    fn look_at_state(&mut self) {
        let client = Arc::clone(&self.client);
        self.ask(async move { state(&client).await.map(|(_, state)| News::State(Box::new(state))) });
    }

    fn look_at_queue(&mut self) {
        let Some(wanted) = self.wanted.clone() else { return };
        let client = Arc::clone(&self.client);
        self.ask(async move { Ok(News::Queue(queue(&client, &wanted).await)) });
    }

    fn ask(&mut self, question: impl Future<Output = Answer> + Send + 'static) {
        if self.questions.len() < MAX_QUESTIONS {
            self.questions.spawn(question);
        }
    }

    /// Waits before the next attempt, and says of orders that they cannot be carried out; false when the user has seen
    /// enough.
    async fn pause(&mut self, orders: &mut Receiver<Order>) -> bool {
        let pause = sleep(PAUSE);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = &mut pause => return true,
                order = orders.recv() => match order {
                    Some(Order::Queue(wanted)) => self.wanted = wanted,
                    Some(Order::Foresee { then, .. }) => self.tell(News::Foreseen(then, Err(lost()))),
                    Some(Order::Move { from, to }) => self.tell(News::Moved { from, to, refused: Some(lost()) }),
                    Some(Order::Shadow(_) | Order::Drain(_)) => self.tell(News::Done(Err(lost()))),
                    None => return false,
                },
            }
        }
    }

    /// Never waits: a screen that hangs misses news, as the next have more to say.
    fn tell(&self, news: News) {
        let _ = self.news.try_send(news);
    }
}

fn lost() -> String {
    "the gate is not there".to_owned()
}
