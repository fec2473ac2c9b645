//! What the screen looks like, and what keys do.

use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui::Theme;

use super::draw::draw;
use super::keys::{Act, press};
use super::model::Model;
use crate::api::state::Knobs;
use crate::link::news::{News, Order};
use crate::samples;

fn picture(width: u16, height: u16, model: &Model, now: Instant) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, model, now)).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content.chunks(usize::from(buffer.area.width).max(1));
    let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned());
    rows.collect::<Vec<_>>().join("\n")
}

fn model() -> Model {
    Model::new("http://127.0.0.1:9090".to_owned(), Theme::new(true), samples::greeting())
}

/// Presses keys; what the last one asks for.
fn keys(model: &mut Model, codes: &[KeyCode], now: Instant) -> Act {
    codes.iter().map(|code| press(model, KeyEvent::new(*code, KeyModifiers::NONE), now)).last().unwrap()
}

fn letters(model: &mut Model, text: &str, now: Instant) -> Act {
    keys(model, &text.chars().map(KeyCode::Char).collect::<Vec<_>>(), now)
}

const HELD: Knobs = Knobs { differentiation: 0.9, favour: 0.5 };
const WANTED: Knobs = Knobs { differentiation: 0.8, favour: 0.5 };

#[test]
fn overview() {
    insta::assert_snapshot!(picture(100, 24, &model(), Instant::now()));
}

#[test]
fn overview_on_a_narrow_terminal() {
    insta::assert_snapshot!(picture(40, 20, &model(), Instant::now()));
}

#[test]
fn a_knob_is_tried_out_and_moved_and_moved_back() {
    let (mut model, now) = (model(), Instant::now());
    assert_eq!(keys(&mut model, &[KeyCode::Char('d'), KeyCode::Left, KeyCode::Left], now), Act::Draw);
    assert_eq!(model.tick(now).0, None, "the user may go on");
    let later = now + Duration::from_secs(1);
    let order = model.tick(later).0.unwrap();
    assert_eq!(order, Order::Foresee { now: HELD, then: WANTED });
    assert_eq!(model.tick(later).0, None, "once");
    assert!(picture(100, 24, &model, later).contains("being computed"));
    model.see(News::Foreseen(WANTED, Ok(samples::foresight(HELD, WANTED))), later);
    insta::assert_snapshot!(picture(120, 24, &model, later));

    assert_eq!(
        keys(&mut model, &[KeyCode::Enter], later),
        Act::Order(Order::Move { from: HELD, to: WANTED })
    );
    model.see(News::Moved { from: HELD, to: WANTED, refused: None }, later);
    assert!(model.desk.wanted.is_none());
    let undo = Order::Move { from: WANTED, to: HELD };
    assert_eq!(letters(&mut model, "u", later), Act::Order(undo));
    model.see(News::Moved { from: WANTED, to: HELD, refused: None }, later);
    assert_eq!(letters(&mut model, "u", later), Act::Draw);
    assert!(picture(100, 24, &model, later).contains("no knob was moved here"));
}

#[test]
fn what_is_discarded_is_not_moved_and_an_undo_is_not_of_others() {
    let (mut model, now) = (model(), Instant::now());
    keys(&mut model, &[KeyCode::Char('f'), KeyCode::Up, KeyCode::Esc, KeyCode::Enter], now);
    assert!(model.desk.wanted.is_none() && model.tick(now + Duration::from_secs(1)).0.is_none());
    // A prediction that comes too late is not shown.
    model.see(News::Foreseen(WANTED, Err("late".to_owned())), now);
    assert!(model.desk.prediction.is_none());
    model.see(News::Moved { from: HELD, to: WANTED, refused: None }, now);
    model.state.knobs = Knobs { differentiation: 0.1, favour: 0.1 };
    assert_eq!(letters(&mut model, "u", now), Act::Draw);
    assert!(picture(100, 24, &model, now).contains("by somebody else"));
    // To the ends and not further.
    keys(&mut model, &[KeyCode::Char('d'), KeyCode::PageDown, KeyCode::PageDown], now);
    assert_eq!(model.desk.wanted.map(|wanted| wanted.differentiation), Some(0.0));
}

#[test]
fn dangerous_keys_ask_first() {
    for (key, order) in [("s", Order::Shadow(true)), ("x", Order::Drain(true))] {
        let (mut model, now) = (model(), Instant::now());
        assert_eq!(letters(&mut model, key, now), Act::Draw);
        assert!(picture(100, 24, &model, now).contains("y/n"));
        assert_eq!(letters(&mut model, "n", now), Act::Draw);
        assert_eq!(letters(&mut model, "y", now), Act::Draw, "the question is gone");
        assert_eq!(letters(&mut model, &format!("{key}y"), now), Act::Order(order));
    }
    let (mut model, now) = (model(), Instant::now());
    model.state.mode = "shadow".to_owned();
    model.state.draining = true;
    assert_eq!(letters(&mut model, "sy", now), Act::Order(Order::Shadow(false)));
    assert_eq!(letters(&mut model, "xy", now), Act::Order(Order::Drain(false)));
    let title = picture(100, 24, &model, now);
    assert!(title.lines().next().unwrap().ends_with("SHADOW DRAINING"), "{title}");
}

#[test]
fn who_may_only_read_is_told_so() {
    let (mut model, now) = (model(), Instant::now());
    let operator = model.state.operator.as_mut().unwrap();
    operator.may_change = false;
    for key in ["d", "f", "s", "x", "u"] {
        assert_eq!(letters(&mut model, key, now), Act::Draw);
        assert!(model.question.is_none() && model.desk.chosen.is_none());
        let shown = picture(100, 24, &model, now);
        assert!(shown.contains("127.0.0.1:41730 (ops) may only read"), "{shown}");
        model.note = None;
    }
    assert_eq!(letters(&mut model, "q", now), Act::End);
}

#[test]
fn a_search_takes_all_letters() {
    let (mut model, now) = (model(), Instant::now());
    assert_eq!(letters(&mut model, "w", now), Act::Order(Order::Queue(Some(Default::default()))));
    let Act::Order(Order::Queue(Some(wanted))) = letters(&mut model, "/q ?xs", now) else { panic!() };
    assert_eq!(wanted.search, "q ?xs");
    model.see(News::Queue(Ok(samples::queue())), now);
    insta::assert_snapshot!(picture(100, 10, &model, now));
    assert_eq!(keys(&mut model, &[KeyCode::Enter, KeyCode::Char('q')], now), Act::End);
    assert_eq!(keys(&mut model, &[KeyCode::Esc], now), Act::Order(Order::Queue(None)));
}

#[test]
fn changes() {
    let (mut model, now) = (model(), Instant::now());
    letters(&mut model, "c", now);
    insta::assert_snapshot!(picture(100, 10, &model, now));
}

#[test]
fn a_gate_that_goes_and_comes_back_is_told() {
    let (mut model, now) = (model(), Instant::now());
    model.see(News::Lost("http://127.0.0.1:9090: the connection broke: it did".to_owned()), now);
    let later = now + Duration::from_secs(75);
    model.see(News::Lost("no gate answers there".to_owned()), later);
    let shown = picture(100, 24, &model, later);
    assert!(shown.contains("Lost for 1:15 min") && shown.contains("no gate answers there"), "{shown}");
    assert_eq!(letters(&mut model, "x", later), Act::Draw);
    assert!(model.question.is_none());
    let mut greeting = samples::greeting();
    greeting.state.started = Some(990.0);
    greeting.history.samples.truncate(1);
    model.see(News::Met(Box::new(greeting)), later);
    let shown = picture(100, 24, &model, later);
    assert!(shown.contains("the gate has restarted, after 1:15 min"), "{shown}");
    assert_eq!(model.samples.len(), 1);
}

#[test]
fn every_page_fits_on_every_terminal() {
    let (mut model, now) = (model(), Instant::now());
    model.see(News::Queue(Ok(samples::queue())), now);
    model.say("a note", true, now);
    for page in ["", "w", "c", "c?"] {
        letters(&mut model, &format!("{page} "), now);
        for width in [0, 1, 5, 20, 39, 40, 41, 59, 60, 79, 80, 120, 300] {
            for height in [0, 1, 2, 3, 5, 9, 10, 15, 16, 24, 100] {
                picture(width, height, &model, now);
            }
        }
    }
}

#[test]
fn a_gate_that_means_harm_draws_nothing_on_the_terminal() {
    use serde_json::{Value, json};
    fn spoil(value: &mut Value) {
        match value {
            Value::Number(_) => *value = json!(-1e308),
            Value::String(_) => *value = json!("\u{1b}]0;x\u{7}\u{9b}2J\r\n\u{202e}".repeat(50)),
            Value::Array(items) => items.iter_mut().for_each(spoil),
            Value::Object(fields) => fields.values_mut().for_each(spoil),
            Value::Null | Value::Bool(_) => {}
        }
    }
    let read = |value: Value| value.to_string().into_bytes();
    let mut state = samples::state_value();
    spoil(&mut state);
    let mut greeting = samples::greeting();
    greeting.state = crate::api::read(&read(state)).unwrap();
    let class = json!({ "name": "x\u{1b}[31m", "queued": 1e308 });
    greeting.state.classes = crate::api::read(&read(json!(vec![class; 5000]))).unwrap();
    greeting.history.classes = vec!["x\u{fffd}[31m".to_owned()];
    let mut sample = samples::sample_value(1e9, 1.0, 1.0);
    spoil(&mut sample);
    greeting.history.samples.push(crate::api::read(&read(sample)).unwrap());
    let (mut model, now) = (Model::new("x".to_owned(), Theme::new(true), greeting), Instant::now());
    for value in [1e15, -1e15, 0.0] {
        let mut sample = samples::sample(2e9, value, value);
        sample.window = value;
        model.see(News::Sample(sample), now);
        for page in ["w", "c", "c"] {
            letters(&mut model, page, now);
            let shown = picture(120, 30, &model, now);
            assert!(
                !shown.chars().any(|letter| letter != '\n' && crate::text::is_hostile(letter)),
                "{shown}"
            );
        }
    }
}
