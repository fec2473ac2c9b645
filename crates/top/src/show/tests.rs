//! What the screen looks like, and what keys do.

mod decisions;

use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui::Theme;

use super::draw::draw;
use super::keys::{Act, press};
use super::model::Model;
use crate::api::queue::Wanted;
use crate::api::state::{Knobs, Setting};
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
const SET: Setting = Setting { differentiation: Some(0.8), favour: None };

/// What the gate predicts.
fn foreseen(now: Knobs, then: Knobs) -> News {
    News::Foreseen { knobs: vec![now, then], told: Ok(samples::foresight(&[now, then])) }
}

fn foresee(knobs: &[Knobs]) -> Option<Order> {
    Some(Order::Foresee(knobs.to_vec()))
}

/// A model in which the first knob is tried out, and that has just asked for a prediction.
fn asking(now: Instant) -> Model {
    let mut model = model();
    keys(&mut model, &[KeyCode::Char('d'), KeyCode::Left, KeyCode::Left], now - Duration::from_secs(1));
    assert_eq!(model.tick(now).0, foresee(&[HELD, WANTED]));
    model
}

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
    assert_eq!(model.tick(later).0, foresee(&[HELD, WANTED]));
    assert_eq!(model.tick(later).0, None, "once");
    let shown = picture(100, 24, &model, later + Duration::from_secs(7));
    assert!(shown.contains("being computed, for 7 s now"), "{shown}");
    model.see(foreseen(HELD, WANTED), later);
    insta::assert_snapshot!(picture(120, 40, &model, later));

    assert_eq!(
        keys(&mut model, &[KeyCode::Enter], later),
        Act::Order(Order::Move { expected: HELD, set: SET })
    );
    assert_eq!(keys(&mut model, &[KeyCode::Enter], later), Act::Draw, "once");
    model.see(News::Moved { from: HELD, to: WANTED }, later);
    assert!(model.desk.wanted(WANTED).is_none());
    let undo = Order::Move { expected: WANTED, set: Setting { differentiation: Some(0.9), favour: None } };
    assert_eq!(letters(&mut model, "u", later), Act::Order(undo));
    model.see(News::Moved { from: WANTED, to: HELD }, later);
    assert_eq!(letters(&mut model, "u", later), Act::Draw);
    assert!(picture(100, 24, &model, later).contains("no knob was moved here"));
}

#[test]
fn what_is_discarded_is_not_moved_and_an_undo_is_not_of_others() {
    let (mut model, now) = (model(), Instant::now());
    keys(&mut model, &[KeyCode::Char('f'), KeyCode::Up, KeyCode::Esc, KeyCode::Enter], now);
    assert!(model.desk.wanted(HELD).is_none() && model.tick(now + Duration::from_secs(1)).0.is_none());
    // A prediction that comes too late is not shown.
    model.see(foreseen(HELD, WANTED), now);
    assert!(model.desk.forecast.of(HELD, WANTED).is_none());
    model.see(News::Moved { from: HELD, to: WANTED }, now);
    model.state.knobs = Knobs { differentiation: 0.1, favour: 0.1 };
    assert_eq!(letters(&mut model, "u", now), Act::Draw);
    assert!(picture(100, 24, &model, now).contains("by somebody else"));
    // To the ends and not further.
    keys(&mut model, &[KeyCode::Char('d'), KeyCode::PageDown, KeyCode::PageDown], now);
    let wanted = model.desk.wanted(model.state.knobs);
    assert_eq!(wanted.map(|wanted| wanted.differentiation), Some(0.0));
}

/// Another operator moves the other knob, and this one, too.
fn other_moves(model: &mut Model, now: Instant) -> Knobs {
    let mut state = samples::state();
    state.knobs = Knobs { differentiation: 0.3, favour: 0.6 };
    let mut changes = samples::greeting().changes;
    changes.changes[0].who = "192.0.2.1:5 (other)".to_owned();
    changes.changes[0].new = serde_json::json!(state.knobs);
    let knobs = state.knobs;
    model.see(News::Changes(changes), now);
    model.see(News::State(Box::new(state)), now);
    knobs
}

#[test]
fn knobs_that_were_moved_meanwhile_are_not_moved_unasked() {
    let now = Instant::now();
    let mut model = asking(now);
    model.see(foreseen(HELD, WANTED), now);
    let holds = other_moves(&mut model, now);
    let shown = picture(120, 24, &model, now);
    assert!(shown.contains("0.30 -> 0.80?") && shown.contains("being computed"), "{shown}");
    assert_eq!(keys(&mut model, &[KeyCode::Enter], now), Act::Draw);
    let shown = picture(200, 24, &model, now);
    let question = "moved by 192.0.2.1:5 (other) meanwhile: differentiation 0.3, favour 0.6. Set differentiation to 0.8 all the same? y/n";
    assert!(shown.contains(question), "{shown}");
    assert!(picture(40, 24, &model, now).contains("y/n"));
    assert_eq!(letters(&mut model, "n", now), Act::Draw);
    assert_eq!(keys(&mut model, &[KeyCode::Enter], now), Act::Draw, "and asks again");
    // Only what was tried out; the other's favour stays.
    assert_eq!(letters(&mut model, "y", now), Act::Order(Order::Move { expected: holds, set: SET }));
}

#[test]
fn a_move_that_came_too_late_asks() {
    let now = Instant::now();
    let mut model = asking(now);
    assert_eq!(
        keys(&mut model, &[KeyCode::Enter], now),
        Act::Order(Order::Move { expected: HELD, set: SET })
    );
    let mut state = samples::state();
    state.knobs.favour = 0.1;
    let holds = state.knobs;
    let changes = samples::greeting().changes;
    let overtaken = News::Overtaken { set: SET, state: Box::new(state), changes };
    model.see(overtaken.clone(), now);
    let shown = picture(200, 24, &model, now);
    assert!(shown.contains("by somebody else meanwhile: differentiation 0.9, favour 0.1."), "{shown}");
    assert_eq!(letters(&mut model, "y", now), Act::Order(Order::Move { expected: holds, set: SET }));
    // A question is not replaced by another one under the user's fingers.
    letters(&mut model, "x", now);
    model.see(overtaken, now);
    assert_eq!(letters(&mut model, "y", now), Act::Order(Order::Drain(true)));
}

#[test]
fn a_prediction_has_an_age_and_is_renewed() {
    let (now, second) = (Instant::now(), Duration::from_secs(1));
    let mut model = asking(now);
    let again = foresee(&[HELD, WANTED]);
    model.see(foreseen(HELD, WANTED), now + second);
    assert!(picture(120, 24, &model, now).contains("as of 00:16:40 UTC"));
    assert_eq!(model.tick(now + second * 59).0, None);
    letters(&mut model, "c", now);
    assert_eq!(model.tick(now + second * 60).0, None, "while it is not shown");
    letters(&mut model, "c", now);
    assert_eq!(model.tick(now + second * 60).0, again);
    assert!(picture(120, 24, &model, now).contains("as of 00:16:40 UTC"), "until there is another");
    model.see(
        News::Foreseen { knobs: vec![HELD, WANTED], told: Err("too little seen".to_owned()) },
        now + second * 62,
    );
    let shown = picture(120, 24, &model, now);
    assert!(
        shown.contains("not renewed: too little seen") && shown.contains("as of 00:16:40 UTC"),
        "{shown}"
    );
    assert_eq!(model.tick(now + second * 71).0, None);
    assert_eq!(model.tick(now + second * 72).0, again, "a failed one sooner");
}

#[test]
fn a_prediction_of_a_gate_that_has_changed_is_forgotten() {
    let changed = |change: fn(&mut crate::link::news::Greeting)| {
        let now = Instant::now();
        let mut model = asking(now);
        let mut greeting = samples::greeting();
        change(&mut greeting);
        // One that is being computed is forgotten, too.
        model.see(News::Met(Box::new(greeting)), now);
        model.see(foreseen(HELD, WANTED), now);
        let is_forgotten = model.desk.forecast.of(HELD, WANTED).is_none();
        assert_eq!(model.tick(now).0.is_some(), is_forgotten, "and asked for again");
        is_forgotten
    };
    assert!(!changed(|_| {}));
    assert!(changed(|greeting| greeting.state.started = Some(999.0)));
    assert!(changed(|greeting| greeting.state.mode = "shadow".to_owned()));
    assert!(changed(|greeting| {
        greeting.changes.changes[0].event = "reload".to_owned();
    }));
}

#[test]
fn in_shadow_mode_knobs_do_nothing_and_nothing_is_judged() {
    let now = Instant::now();
    let mut model = asking(now);
    model.see(foreseen(HELD, WANTED), now);
    model.state.mode = "shadow".to_owned();
    let shown = picture(120, 24, &model, now);
    assert!(
        shown.contains("knobs do nothing in shadow mode; predicted for a gate that enforces:"),
        "{shown}"
    );
    assert!(shown.contains("does nothing in shadow mode") && !shown.contains("worse"), "{shown}");
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
    assert_eq!(letters(&mut model, "d", now), Act::Draw);
    let shown = picture(100, 24, &model, now);
    assert!(shown.contains("knobs can be tried out, and not moved"), "{shown}");
    keys(&mut model, &[KeyCode::Left, KeyCode::Left], now);
    let order = model.tick(now + Duration::from_secs(1)).0;
    assert_eq!(order, foresee(&[HELD, WANTED]));
    for key in ["\n", "s", "x", "u"] {
        let code = if key == "\n" { KeyCode::Enter } else { KeyCode::Char(key.chars().next().unwrap()) };
        assert_eq!(keys(&mut model, &[code], now), Act::Draw);
        assert!(model.question.is_none());
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
    // An answer to what was searched for before comes late.
    model.see(News::Queue(Wanted::default(), Err("late".to_owned())), now);
    assert!(model.queue.is_none());
    model.see(News::Queue(wanted, Ok(samples::queue())), now);
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
    letters(&mut model, "x", now);
    model.see(News::Lost("http://127.0.0.1:9090: the connection broke: it did".to_owned()), now);
    assert_eq!(letters(&mut model, "y", now), Act::Draw, "the question was of before");
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
    model.see(News::Queue(Wanted::default(), Ok(samples::queue())), now);
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

#[test]
fn a_gate_that_tells_no_events_is_asked() {
    let (mut model, now) = (model(), Instant::now());
    model.see(News::Polling(Some("too many listen already".to_owned())), now);
    let shown = picture(100, 24, &model, now);
    assert!(shown.contains("asked every 2 s, as it tells no events: too many listen already"), "{shown}");
    let newest = samples::greeting().history.samples.len();
    let history = |ends: &[f64]| {
        let samples = ends.iter().map(|at| samples::sample(*at, 0.0, 0.0)).collect();
        News::Samples(crate::api::history::History { classes: samples::names(), samples })
    };
    model.see(history(&[999.0, 1000.0, 1001.0, 1002.0]), now);
    model.see(history(&[1001.0, 1002.0, 1003.0]), now);
    let ends: Vec<f64> = model.samples.iter().skip(newest).map(|sample| sample.at).collect();
    assert_eq!(ends, [1001.0, 1002.0, 1003.0], "each once");
    model.see(News::Polling(None), now);
    assert!(!picture(100, 24, &model, now).contains("no events"));
}
