//! [`press`]: what a key does.

use std::time::Instant;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui::figures::number;

use super::desk::{Apply, Knob};
use super::model::{Model, Page, Question};
use crate::link::news::Order;

/// Rows that a page key moves a list by.
const PAGE: usize = 20;
/// Steps that a page key moves a knob by.
const LEAP: f64 = 4.0;
/// A search that somebody types; longer ones are pasted by mistake.
const MAX_SEARCH: usize = 100;

/// What is to be done after a key.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    /// Nothing but to draw.
    Draw,
    Order(Order),
    /// The screen was spoilt.
    Redraw,
    /// The user has seen enough.
    End,
    /// Ctrl-C.
    Interrupt,
}

/// Does what a key asks for. What came of the last order is said until there is another one.
pub(super) fn press(model: &mut Model, key: KeyEvent, now: Instant) -> Act {
    let act = obey(model, key, now);
    if let Act::Order(Order::Move { .. } | Order::Shadow(_) | Order::Drain(_)) = act {
        model.note = None;
    }
    act
}

fn obey(model: &mut Model, key: KeyEvent, now: Instant) -> Act {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            // Raw mode swallows the signal that Ctrl-C usually is.
            KeyCode::Char('c') => Act::Interrupt,
            KeyCode::Char('l') => Act::Redraw,
            _ => Act::Draw,
        };
    }
    if model.searching {
        return search(model, key.code);
    }
    if let Some(question) = model.question.take() {
        return match key.code {
            KeyCode::Char('y' | 'Y') => {
                model.desk.is_moving |= matches!(question.order, Order::Move { .. });
                Act::Order(question.order)
            }
            _ => Act::Draw,
        };
    }
    match key.code {
        KeyCode::Char('q' | 'Q') => return Act::End,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => model.help = !model.help,
        KeyCode::Esc => return escape(model),
        KeyCode::Char('w') => return turn_to(model, Page::Queue),
        KeyCode::Char('c') => return turn_to(model, Page::Changes),
        KeyCode::Char('/') => {
            let act = if model.page == Page::Queue { Act::Draw } else { turn_to(model, Page::Queue) };
            model.searching = true;
            return act;
        }
        KeyCode::Char('d') => choose(model, Knob::Differentiation, now),
        KeyCode::Char('f') => choose(model, Knob::Favour, now),
        KeyCode::Char('g') => return suggest(model, now),
        KeyCode::Char('s' | 'x' | 'u') | KeyCode::Enter => return change(model, key.code, now),
        code => return arrow(model, code, now),
    }
    Act::Draw
}

/// Letters of the search.
fn search(model: &mut Model, key: KeyCode) -> Act {
    match key {
        KeyCode::Char(letter) if model.wanted.search.chars().count() < MAX_SEARCH => {
            model.wanted.search.push(letter);
        }
        KeyCode::Backspace => drop(model.wanted.search.pop()),
        KeyCode::Esc => {
            model.wanted.search.clear();
            model.searching = false;
        }
        KeyCode::Enter => {
            model.searching = false;
            return Act::Draw;
        }
        _ => return Act::Draw,
    }
    model.wanted.offset = 0;
    Act::Order(Order::Queue(Some(model.wanted.clone())))
}

/// Back, one thing at a time.
fn escape(model: &mut Model) -> Act {
    if model.help {
        model.help = false;
    } else if model.page != Page::Overview {
        return turn_to(model, model.page);
    } else if !model.desk.discard() && model.aftermath.take().is_none() {
        model.note = None;
    }
    Act::Draw
}

/// To a page, or from it back to the overview.
fn turn_to(model: &mut Model, page: Page) -> Act {
    let before = model.page;
    model.page = if before == page { Page::Overview } else { page };
    model.scroll = 0;
    model.wanted.offset = 0;
    match (before, model.page) {
        (_, Page::Queue) => {
            model.queue = None;
            Act::Order(Order::Queue(Some(model.wanted.clone())))
        }
        (Page::Queue, _) => Act::Order(Order::Queue(None)),
        _ => Act::Draw,
    }
}

/// A knob to try out, which changes nothing.
fn choose(model: &mut Model, knob: Knob, now: Instant) {
    model.page = Page::Overview;
    model.desk.choose(knob);
    if let Some(name) = model.reader() {
        model.say(format!("{name} may only read: knobs can be tried out, and not moved"), false, now);
    }
}

/// Asks the gate where to put both knobs, which changes nothing.
fn suggest(model: &mut Model, now: Instant) -> Act {
    model.page = Page::Overview;
    let (holds, clock) = (model.state.knobs, model.clock());
    let is_there = model.state.foresight && model.lost.is_none();
    let order = if is_there { model.desk.forecast.suggest(holds, now, clock) } else { None };
    match order {
        Some(order) => {
            model.say("trying settings over both knobs in the simulator", false, now);
            Act::Order(order)
        }
        None => {
            let why = if is_there { "something else is being predicted" } else { "the gate cannot predict" };
            model.say(format!("no suggestion: {why}"), true, now);
            Act::Draw
        }
    }
}

/// Moves knobs, one move at a time.
fn shift(model: &mut Model, order: Order, now: Instant) -> Act {
    if model.desk.is_moving {
        model.say("the gate has not answered to the last move yet", true, now);
        return Act::Draw;
    }
    model.desk.is_moving = true;
    model.desk.forecast.leave_suggestion();
    Act::Order(order)
}

/// Keys that change something, for those who may.
fn change(model: &mut Model, key: KeyCode, now: Instant) -> Act {
    if let Some(why) = model.is_barred() {
        model.say(why, true, now);
        return Act::Draw;
    }
    let holds = model.state.knobs;
    let ask = |text: &str, order| Some(Question { text: text.to_owned(), order });
    match key {
        KeyCode::Enter => match model.desk.apply(holds) {
            Apply::Order(order) => return shift(model, order, now),
            Apply::Overtaken(set) => model.ask_for_overtaken(set),
            Apply::Nothing => {}
        },
        KeyCode::Char('u') => match model.desk.undo(holds) {
            Ok(order) => return shift(model, order, now),
            Err(why) => model.say(why, true, now),
        },
        KeyCode::Char('s') => {
            let order = Order::Shadow(!model.state.is_shadow());
            model.question = Some(Question { text: shadow(model), order });
        }
        KeyCode::Char('x') if model.state.draining => {
            model.question = ask("End the drain, so that clients come here again?", Order::Drain(false));
        }
        KeyCode::Char('x') => model.question = ask("Drain: send all clients elsewhere?", Order::Drain(true)),
        _ => {}
    }
    Act::Draw
}

/// What shadow mode would do to what is refused now, or its end to what would be.
fn shadow(model: &Model) -> String {
    let refused = model.refused().max(0.0);
    let rate = number(refused);
    if model.state.is_shadow() {
        let now = match refused {
            0.0 => "now nothing would be refused".to_owned(),
            _ => format!("{rate}/s would be refused now"),
        };
        return format!("End shadow mode? Requests wait and are refused as the policy decides: {now}.");
    }
    let now = match refused {
        0.0 => "Nothing is refused now.".to_owned(),
        _ => format!("{rate}/s are refused now, and would then go to the server, too."),
    };
    format!(
        "Shadow mode? No client is refused and nothing is held back: all requests go to the server at once. {now} What would have been refused is only counted."
    )
}

/// Arrows: a knob that is chosen, or a list.
fn arrow(model: &mut Model, key: KeyCode, now: Instant) -> Act {
    let (steps, rows) = match key {
        KeyCode::Right => (1.0, 0),
        KeyCode::Left => (-1.0, 0),
        KeyCode::Up => (1.0, -1),
        KeyCode::Down => (-1.0, 1),
        KeyCode::PageUp => (LEAP, -(PAGE as isize)),
        KeyCode::PageDown => (-LEAP, PAGE as isize),
        KeyCode::Home => (0.0, isize::MIN),
        _ => return Act::Draw,
    };
    match model.page {
        Page::Overview if model.desk.chosen.is_none() => {
            model.say("d or f chooses a knob to move", false, now)
        }
        Page::Overview => model.desk.turn(steps, model.state.knobs, now),
        Page::Changes => {
            model.scroll =
                model.scroll.saturating_add_signed(rows).min(model.changes.len().saturating_sub(1));
        }
        Page::Queue => {
            let known = model.queue.as_ref().and_then(|queue| queue.as_ref().ok());
            let most = known.map_or(0, |queue| queue.waiting.max(0.0) as usize).saturating_sub(1);
            let offset = model.wanted.offset.saturating_add_signed(rows).min(most);
            if offset != model.wanted.offset {
                model.wanted.offset = offset;
                return Act::Order(Order::Queue(Some(model.wanted.clone())));
            }
        }
    }
    Act::Draw
}
