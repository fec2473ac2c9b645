//! From a knob that is tried out to what came of it.

use super::*;
use crate::api::foresight::Foresight;

const SECOND: Duration = Duration::from_secs(1);

fn told(knobs: &[Knobs], told: Result<Foresight, String>) -> News {
    News::Foreseen { knobs: knobs.to_vec(), told }
}

/// What the gate could simulate of what was asked.
fn partly(asked: &[Knobs], known: &[Knobs]) -> News {
    told(asked, Ok(samples::foresight(known)))
}

/// The last line: the keys that do something now.
fn hint(model: &Model, width: u16, now: Instant) -> String {
    picture(width, 40, model, now).lines().last().unwrap().to_owned()
}

/// A model whose user has moved a knob, as predicted, from [`HELD`] to [`WANTED`].
fn moved(now: Instant) -> Model {
    let mut model = asking(now);
    model.see(foreseen(HELD, WANTED), now);
    keys(&mut model, &[KeyCode::Enter], now);
    model.see(News::Moved { from: HELD, to: WANTED }, now);
    model
}

/// Asks what is due, and answers with so many sessions of each class, of which such shares were completed.
fn look_back(model: &mut Model, now: Instant, sessions: u32, premium: f64, basic: f64) -> f64 {
    let Some(Order::LookBack { since }) = model.tick(now).0 else { panic!("nothing is due") };
    model.see(News::Outcome { since, told: Ok(samples::outcome(sessions, premium, basic)) }, now);
    since
}

#[test]
fn what_was_not_simulated_in_time_is_asked_for_alone() {
    let now = Instant::now();
    let mut model = asking(now);
    model.see(partly(&[HELD, WANTED], &[HELD]), now + 25 * SECOND);
    assert_eq!(model.tick(now + 25 * SECOND).0, foresee(&[WANTED]));
    let shown = picture(120, 40, &model, now + 28 * SECOND);
    assert!(shown.contains("being computed, for 3 s now"), "{shown}");
    model.see(partly(&[WANTED], &[WANTED]), now + 30 * SECOND);
    assert!(picture(120, 40, &model, now).contains("premium 50 -> 60"));
    // Neither of them; and nothing of what was asked for.
    for (asked, known) in [(vec![HELD, WANTED], vec![]), (vec![HELD, WANTED], vec![WANTED])] {
        let mut model = asking(now);
        model.see(partly(&asked, &known), now);
        let shown = picture(120, 40, &model, now);
        assert!(shown.contains("not simulated in time: it takes users for patient"), "{shown}");
        assert_eq!(model.tick(now + 9 * SECOND).0, None);
        assert_eq!(model.tick(now + 10 * SECOND).0, foresee(&[HELD, WANTED]));
    }
}

#[test]
fn a_place_that_was_predicted_lately_is_not_asked_about_again() {
    let now = Instant::now();
    let mut model = asking(now);
    model.see(foreseen(HELD, WANTED), now);
    let third = Knobs { differentiation: 0.75, ..HELD };
    keys(&mut model, &[KeyCode::Left], now);
    assert_eq!(model.tick(now + SECOND).0, foresee(&[HELD, third]), "what is compared is of the same users");
    // Back to the first, while the gate is still at the other.
    keys(&mut model, &[KeyCode::Right], now + SECOND);
    assert!(picture(120, 40, &model, now + SECOND).contains("premium 50 -> 60"));
    keys(&mut model, &[KeyCode::Left, KeyCode::Left], now + SECOND);
    let shown = picture(120, 40, &model, now + 5 * SECOND);
    assert!(shown.contains("computed next; another question is computed for 4 s now"), "{shown}");
    model.see(partly(&[HELD, third], &[HELD, third]), now + 6 * SECOND);
    keys(&mut model, &[KeyCode::Right], now + 6 * SECOND);
    assert_eq!(model.tick(now + 8 * SECOND).0, None);
    assert!(picture(120, 40, &model, now).contains("premium 50 -> 60"));
}

#[test]
fn what_came_of_a_move_is_shown_beside_what_was_predicted() {
    let now = Instant::now();
    let mut model = moved(now);
    // Of the three minutes before; the gate's clock stands at 1000 s.
    assert_eq!(look_back(&mut model, now, 400, 0.5, 0.5), 820.0);
    let shown = picture(120, 40, &model, now + 4 * SECOND);
    assert!(shown.contains("applied differentiation 0.90 -> 0.80  measuring, 4 s"), "{shown}");
    assert!(!shown.contains("0/s ->"), "nothing is measured yet: {shown}");
    assert_eq!(model.tick(now + 9 * SECOND).0, None);
    assert_eq!(look_back(&mut model, now + 10 * SECOND, 5, 0.6, 0.2), 1010.0);
    let shown = picture(120, 40, &model, now + 10 * SECOND);
    assert!(shown.contains("10 sessions have ended, too few to judge"), "{shown}");
    assert!(!shown.contains("better") && !shown.contains("worse"), "{shown}");
    look_back(&mut model, now + 20 * SECOND, 400, 0.5, 0.65);
    let shown = picture(200, 40, &model, now + 20 * SECOND);
    for part in [
        "premium 50 -> 50 (no noticeable difference), basic 50 -> 35.",
        "Completed together: 4/s -> 4.60/s (no noticeable difference).",
        "Not as predicted: premium loses less than predicted.",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    insta::assert_snapshot!(picture(120, 40, &model, now + 20 * SECOND));
    insta::assert_snapshot!(picture(40, 30, &model, now + 20 * SECOND));
    // Servers that become slower are not the knobs' doing.
    let slower = |at: f64| {
        let mut sample = samples::sample(at, 60.0, 0.4);
        sample.capacity = Some(100.0);
        News::Sample(sample)
    };
    assert!(!picture(120, 40, &model, now).contains("capacity went"));
    (1..=5).for_each(|second| model.see(slower(1000.0 + f64::from(second)), now));
    let shown = picture(120, 40, &model, now);
    assert!(shown.contains("The servers' capacity went from 152/s to 100/s meanwhile"), "{shown}");
    // Until the user has seen enough.
    keys(&mut model, &[KeyCode::Esc, KeyCode::Esc], now);
    assert!(model.aftermath.is_none());
}

#[test]
fn what_came_of_a_move_ends_with_another() {
    let now = Instant::now();
    let mut model = moved(now);
    look_back(&mut model, now, 400, 0.5, 0.5);
    look_back(&mut model, now + 10 * SECOND, 400, 0.5, 0.65);
    other_moves(&mut model, now);
    assert_eq!(model.tick(now + 20 * SECOND).0, None);
    let shown = picture(120, 40, &model, now);
    assert!(shown.contains("nothing is added, as the knobs were moved again"), "{shown}");

    // Before an undo is what came of what is undone, and it is predicted what was seen before.
    let mut model = moved(now);
    model.see(News::Moved { from: WANTED, to: HELD }, now);
    assert_eq!(look_back(&mut model, now, 400, 0.5, 0.5), 1000.0);
    let shown = picture(120, 40, &model, now);
    assert!(shown.contains("applied differentiation 0.80 -> 0.90") && shown.contains("predicted"), "{shown}");

    // In shadow mode a move does nothing.
    let mut model = asking(now);
    model.state.mode = "shadow".to_owned();
    model.see(News::Moved { from: HELD, to: WANTED }, now);
    assert!(model.aftermath.is_none());
}

#[test]
fn what_was_before_is_not_measured_after() {
    let now = Instant::now();
    let mut model = moved(now);
    assert!(model.tick(now).0.is_some());
    model.see(News::Lost("gone".to_owned()), now);
    model.see(News::Met(Box::new(samples::greeting())), now + 30 * SECOND);
    // The greeting's knobs are those of before.
    assert!(picture(120, 40, &model, now).contains("the knobs were moved again"));
    let mut model = moved(now);
    assert!(model.tick(now).0.is_some());
    model.see(News::Lost("gone".to_owned()), now);
    let mut greeting = samples::greeting();
    greeting.state.knobs = WANTED;
    model.see(News::Met(Box::new(greeting)), now + 30 * SECOND);
    assert_eq!(model.tick(now + 30 * SECOND).0, Some(Order::LookBack { since: 1010.0 }));
    model.see(News::Outcome { since: 1010.0, told: Err("too little seen".to_owned()) }, now + 30 * SECOND);
    let shown = picture(120, 40, &model, now);
    assert!(shown.contains("what came of it is not known: too little seen"), "{shown}");
}

#[test]
fn a_confirmation_stays_until_the_next_order_or_for_a_minute() {
    let now = Instant::now();
    let mut model = moved(now);
    let confirmed = |model: &Model| model.note.as_ref().is_some_and(|note| note.text.contains("u undoes"));
    letters(&mut model, "wcc", now);
    model.tick(now + 59 * SECOND);
    assert!(confirmed(&model));
    model.tick(now + 60 * SECOND);
    assert!(!confirmed(&model));
    let mut model = moved(now);
    letters(&mut model, "x", now);
    assert!(confirmed(&model), "not yet");
    letters(&mut model, "y", now);
    assert!(!confirmed(&model));
}

#[test]
fn hints_are_of_what_is_possible() {
    let now = Instant::now();
    let everywhere = ["q end", "w who waits", "c changes", "? help"];
    let check = |model: &Model, yes: &[&str], no: &[&str]| {
        let hint = hint(model, 200, now);
        let yes = yes.iter().chain(&everywhere);
        assert!(yes.clone().all(|part| hint.contains(part)), "{yes:?}: {hint}");
        assert!(!no.iter().any(|part| hint.contains(part)), "{no:?}: {hint}");
    };
    check(&model(), &["d f knobs", "s shadow", "x drain"], &["Esc", "Enter", "undo"]);
    let mut model = asking(now);
    check(&model, &["arrows move", "Enter apply", "Esc discard"], &["undo"]);
    keys(&mut model, &[KeyCode::Enter], now);
    check(&model, &["arrows move", "Esc discard"], &["Enter"]);
    model.see(News::Moved { from: HELD, to: WANTED }, now);
    check(&model, &["arrows move", "Esc done", "u undo"], &["Enter", "discard"]);
    assert!(hint(&model, 80, now).contains("u undo"), "{}", hint(&model, 80, now));
    keys(&mut model, &[KeyCode::Esc], now);
    check(&model, &["Esc close", "u undo"], &["Enter", "arrows"]);
    letters(&mut model, "s", now);
    assert_eq!(hint(&model, 200, now), "y yes   any other key: no");
    letters(&mut model, "n", now);
    model.state.operator.as_mut().unwrap().may_change = false;
    keys(&mut model, &[KeyCode::Char('d'), KeyCode::Left], now);
    check(&model, &["arrows try out", "Esc discard"], &["Enter", "undo", "shadow", "drain"]);
}

#[test]
fn a_prediction_moves_nothing_else() {
    let now = Instant::now();
    for (height, chart) in [(40, " served  refused"), (24, "f favour")] {
        let place = |model: &Model| {
            let shown = picture(120, height, model, now);
            shown.lines().position(|line| line.starts_with(chart)).unwrap_or_else(|| panic!("{shown}"))
        };
        let mut model = asking(now);
        let before = place(&super::model());
        assert_eq!(place(&model), before, "while it is computed");
        model.see(foreseen(HELD, WANTED), now);
        assert_eq!(place(&model), before);
        assert_eq!(place(&moved(now)), before);
        assert!(picture(120, height, &model, now).contains("10.0.0.1"), "servers stay, too");
    }
}

#[test]
fn ends_of_knobs_stay_while_one_is_moved() {
    let now = Instant::now();
    for width in [60, 80, 120] {
        let shown = picture(width, 40, &asking(now), now);
        for end in ["all alike", "strict priority", "short waits", "many sessions", "0.90 -> 0.80?"] {
            assert!(shown.contains(end), "{end}: {shown}");
        }
    }
}

#[test]
fn shadow_mode_says_what_it_does_to_what_is_refused() {
    let now = Instant::now();
    let mut model = model();
    letters(&mut model, "s", now);
    let shown = picture(300, 40, &model, now);
    let question =
        "all requests go to the server at once. 58/s are refused now, and would then go to the server, too.";
    assert!(shown.contains(question), "{shown}");
    let narrow = picture(40, 24, &model, now);
    assert!(narrow.contains("58/s") && narrow.contains("y/n"), "{narrow}");
    letters(&mut model, "n", now);
    model.state.mode = "shadow".to_owned();
    letters(&mut model, "s", now);
    assert!(picture(300, 40, &model, now).contains("58/s would be refused now."));
    letters(&mut model, "n", now);
    model.samples.clear();
    letters(&mut model, "s", now);
    assert!(picture(300, 40, &model, now).contains("now nothing would be refused."));
}

#[test]
fn ids_are_whole_on_every_terminal() {
    let now = Instant::now();
    let mut model = model();
    letters(&mut model, "w", now);
    model.see(News::Queue(Wanted::default(), Ok(samples::queue())), now);
    for width in [40, 60, 80, 100, 200] {
        let shown = picture(width, 12, &model, now);
        assert!(shown.contains(" 30bd30000001f ") && shown.contains("GET /"), "{shown}");
    }
    assert!(picture(80, 12, &model, now).contains("192.0.2.7"));
}

#[test]
fn response_times_are_the_gates_own_where_it_says_them() {
    let now = Instant::now();
    let mut model = model();
    assert!(picture(80, 24, &model, now).contains("29.0 ms"));
    // It says that there are none; an older one says nothing, and its samples do.
    model.state.classes[0].p95 = Some(None);
    assert!(!picture(80, 24, &model, now).contains("34.0 ms"));
    model.state.classes[0].p95 = None;
    assert!(picture(80, 24, &model, now).contains("34.0 ms"));
}

#[test]
fn a_price_is_of_100_sessions_and_says_where_there_is_no_difference() {
    let now = Instant::now();
    let mut model = asking(now);
    // As if the knob did nothing.
    let as_is = samples::foresight(&[HELD, Knobs { differentiation: 0.95, ..HELD }]);
    let mut same = as_is.clone();
    same.points[1].knobs = WANTED;
    model.see(told(&[HELD, WANTED], Ok(same)), now);
    let shown = picture(200, 40, &model, now);
    let price = "Lost of 100 sessions: premium 50 -> 50 (no noticeable difference), basic 50 -> 50 (no noticeable difference). \
                 Completed together: 4/s -> 4/s (no noticeable difference).";
    assert!(shown.contains(price), "{shown}");
    assert!(shown.contains("(45 to 55)"), "intervals where there is room: {shown}");
}

#[test]
fn a_setting_that_the_gate_suggests_is_tried_out_and_not_applied() {
    let now = Instant::now();
    let suggested = |to: Option<Knobs>| {
        let mut foresight = samples::foresight(&[HELD, WANTED]);
        foresight.suggested = to;
        told(&[], Ok(foresight))
    };
    let mut model = model();
    let order = press(&mut model, KeyEvent::from(KeyCode::Char('g')), now);
    assert!(matches!(order, Act::Order(Order::Foresee(knobs)) if knobs.is_empty()));
    let again = press(&mut model, KeyEvent::from(KeyCode::Char('g')), now);
    assert!(matches!(again, Act::Draw), "one question at a time");
    model.see(suggested(Some(WANTED)), now);
    let shown = picture(120, 40, &model, now);
    assert!(
        shown.contains("the best of 2 settings tried, not applied yet") && shown.contains("0.90 -> 0.80?"),
        "{shown}"
    );
    assert!(shown.contains("premium 50 -> 60"), "what it would do is known: {shown}");
    assert_eq!(model.tick(now + SECOND).0, None, "and not asked for again");
    // Who has gone on is not moved back.
    for gone_on in [vec![KeyCode::Char('d'), KeyCode::Left], vec![KeyCode::Esc]] {
        let mut model = super::model();
        press(&mut model, KeyEvent::from(KeyCode::Char('g')), now);
        keys(&mut model, &gone_on, now);
        let before = model.desk.wanted(HELD);
        model.see(suggested(Some(WANTED)), now);
        assert_eq!(model.desk.wanted(HELD), before);
    }
    for (answer, words) in [
        (suggested(Some(HELD)), "as good as any of 2 settings tried"),
        (suggested(None), "no suggestion: the gate knows of none"),
        (told(&[], Err("too little was seen yet".to_owned())), "no suggestion: too little was seen yet"),
    ] {
        let mut model = super::model();
        press(&mut model, KeyEvent::from(KeyCode::Char('g')), now);
        model.see(answer, now);
        let shown = picture(120, 40, &model, now);
        assert!(shown.contains(words), "{words}: {shown}");
        assert!(model.desk.wanted(HELD).is_none());
    }
}
