//! The screen from when it is taken over until it is given back: news and keys, turn by turn.
//!
//! [`tui::run`] has keys of its own that a search would have to do without.

use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{Event, KeyEventKind};
use tokio::sync::mpsc::Sender;
use tui::{Screen, Theme, wait_for_event, wants_colour};

use super::draw::draw;
use super::keys::{Act, press};
use super::model::Model;
use crate::link::news::{Greeting, News, Order};

/// Below this nothing is shown.
pub(crate) const MIN_WIDTH: u16 = 40;
pub(crate) const MIN_HEIGHT: u16 = 10;
/// Times that are shown go on without news.
const SECOND: Duration = Duration::from_secs(1);

/// Why the screen ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By a key.
    User,
    /// By Ctrl-C.
    Interrupted,
    /// There will be no more news.
    Closed,
    /// The terminal cannot be written to.
    TerminalLost,
}

/// Shows what is new until the user has seen enough.
pub(crate) fn run(
    mut screen: Screen,
    place: String,
    greeting: Greeting,
    news: &Receiver<News>,
    orders: &Sender<Order>,
) -> End {
    let mut model = Model::new(place, Theme::new(wants_colour()), greeting);
    let (mut changed, mut drawn) = (true, Instant::now());
    loop {
        let now = Instant::now();
        if changed || now.saturating_duration_since(drawn) >= SECOND {
            if screen.draw(|frame| draw(frame, &model, now)).is_err() {
                return End::TerminalLost;
            }
            drawn = now;
        }
        changed = match wait_for_event() {
            Some(Event::Key(key)) if key.kind == KeyEventKind::Press => {
                match press(&mut model, key, Instant::now()) {
                    Act::Draw => {}
                    Act::Order(order) => send(&mut model, orders, order),
                    Act::Redraw => screen.forget(),
                    Act::End => return End::User,
                    Act::Interrupt => return End::Interrupted,
                }
                true
            }
            Some(Event::Resize(..)) => true,
            Some(_) | None => false,
        };
        loop {
            match news.try_recv() {
                Ok(news) => model.see(news, Instant::now()),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return End::Closed,
            }
            changed = true;
        }
        let (order, gone) = model.tick(Instant::now());
        changed |= gone || order.is_some();
        if let Some(order) = order {
            send(&mut model, orders, order);
        }
    }
}

fn send(model: &mut Model, orders: &Sender<Order>, order: Order) {
    let is_move = matches!(order, Order::Move { .. });
    if orders.try_send(order).is_err() {
        model.desk.is_moving &= !is_move;
        model.say("the gate is still busy with what it was told before", true, Instant::now());
    }
}
