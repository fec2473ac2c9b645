//! What the live view looks like.

use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};
use tui::Theme;

use super::super::samples;
use super::super::snapshot::{Setting, Snapshot};
use super::draw::draw;
use super::state::State;

fn picture(width: u16, height: u16, state: &State) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let rows = buffer.content.chunks(usize::from(buffer.area.width).max(1));
    let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned());
    rows.collect::<Vec<_>>().join("\n")
}

fn state(setting: Setting, snapshots: impl IntoIterator<Item = Snapshot>) -> State {
    let mut state = State::new(setting, None, Theme::new(true));
    snapshots.into_iter().for_each(|snapshot| state.see(Arc::new(snapshot)));
    state
}

#[test]
fn a_run_in_a_usual_terminal() {
    let state = state(samples::setting(), (1..=20).map(samples::snapshot));
    insta::assert_snapshot!(text(&picture(80, 30, &state)), @r#"
    http://127.0.0.1:8080/index.html   open loop, 2000 requests/s, poisson
    measuring 15 s of 30 s, 15 s left  ██████████████████████░░░░░░░░░░░░░░░░░░░░░░░
     responses 2000/s  errors 3/s  begun 2000 of 2000/s  1.95MB/s  37 under way ────
    2000   │⠤⠤⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
           │
           │
           │
    1000   │
           │
           │
           │
    0      │⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
           └────────────────────────────────────────────────────────────────────────
    19 s ago                                                                     now
    latency            mean      p50      p90      p99    p99.9      max    count
    total      now   965 us   965 us  1.50 ms  1.62 ms  1.63 ms  1.63 ms     1900
               run  7.23 ms  7.23 ms  12.8 ms  14.0 ms  14.1 ms  14.2 ms    19.8k
    connect    now  71.5 us  71.0 us  97.0 us   103 us   103 us   103 us       64
               run  71.5 us  71.0 us  97.0 us   103 us   103 us   103 us       64
    processing now   820 us   820 us  1.28 ms  1.38 ms  1.39 ms  1.39 ms     1900
               run  6.19 ms  6.19 ms  10.9 ms  12.0 ms  12.1 ms  12.1 ms    19.8k
    transfer   now  90.5 us  90.4 us   159 us   174 us   176 us   176 us     1900
               run   896 us   896 us  1.61 ms  1.77 ms  1.79 ms  1.79 ms    19.8k
    generator    valid so far   43 % of a processor   lag p99 21.0 us, max 310 us
    status       200: 19.5k   304: 240   503: 60
    errors       connect: 3   timeout: 40   reset: 7   (40 cut off)
    objective    p99<50ms         met so far   14.0 ms
    objective    errors<=0.1%     NOT MET   0.25 %
    connections  64 open   64 opened   19.7k reused   2 SYNs resent   1 timed out
    q end   p pause   h help
    "#);
}

#[test]
fn a_run_in_trouble_in_the_smallest_terminal() {
    let state = state(samples::setting(), [samples::snapshot(3), samples::trouble(4)]);
    insta::assert_snapshot!(text(&picture(60, 15, &state)), @r#"
    http://127.0.0.1:8080/index.html   open loop, 2000 requests/
    warm-up 1 s left  ████████████████████░░░░░░ 3000 requests/s
     responses 1920/s  errors 2/s  begun 2000 of 2000/s  1.95MB/
    latency        mean     p50     p90     p99   p99.9     max
    total       7.23 ms 7.23 ms 12.8 ms 14.0 ms 14.1 ms 14.2 ms
    connect     71.5 us 71.0 us 97.0 us  103 us  103 us  103 us
    processing  6.19 ms 6.19 ms 10.9 ms 12.0 ms 12.1 ms 12.1 ms
    transfer     896 us  896 us 1.61 ms 1.77 ms 1.79 ms 1.79 ms
    generator    NOT VALID   97 % of a processor   lag p99 21.0
    us, max 310 us
      - the generator used 97 % of its processor, more than 90
    %: it, not the server, may have set the rate
      - 3 connections failed because the generator had no port
    left
    q end   p pause   h help
    "#);
}

#[test]
fn a_terminal_that_became_too_small_still_says_the_most_important() {
    let state = state(samples::setting(), [samples::trouble(4)]);
    insta::assert_snapshot!(text(&picture(50, 8, &state)), @r#"
    4.0 s  warm-up    3000 requests/s  responses
    1920/s  p50  965 us  p99 1.62 ms  errors 2/s
    not valid: the generator used 97 % of its
    processor, more than 90 %: it, not the server, may
    have set the rate
    not valid: 3 connections failed because the
    generator had no port left
    q end
    "#);
}

#[test]
fn no_size_is_too_odd() {
    let mut state = state(samples::setting(), [samples::snapshot(1), samples::trouble(40)]);
    state.controls.help = true;
    for width in [1, 2, 9, 59, 60, 79, 300] {
        for height in [1, 2, 14, 15, 16, 23, 24, 90] {
            assert!(
                text(&picture(width, height, &state)).chars().any(|c| !c.is_whitespace()),
                "{width}x{height}"
            );
        }
    }
}

#[test]
fn before_the_first_look_there_is_what_is_known() {
    let shown = text(&picture(80, 24, &state(samples::setting(), [])));
    assert!(shown.contains("http://127.0.0.1:8080/index.html") && shown.contains("poisson"), "{shown}");
    // Nothing happened, and no time passed.
    let shown = text(&picture(80, 24, &state(samples::setting(), [Snapshot::default()])));
    assert!(shown.contains("responses 0/s") && shown.contains("none yet"), "{shown}");
}

#[test]
fn sessions_and_closed_loops_have_their_own_words() {
    let setting = Setting { sessions: true, ..samples::setting() };
    let shown = text(&picture(140, 40, &state(setting, [samples::snapshot(9)])));
    assert!(shown.contains("sessions offered 2000/s, completed 40/s, lost 1/s"), "{shown}");
    let closed = Snapshot { offered: None, ..samples::snapshot(9) };
    let shown = text(&picture(140, 40, &state(samples::setting(), [closed])));
    assert!(shown.contains("begun 2000/s") && !shown.contains("lag"), "{shown}");
}

#[test]
fn keys_change_what_is_said() {
    let mut state = state(samples::setting(), [samples::snapshot(9)]);
    state.toggle_pause();
    state.controls.ending = true;
    state.metrics = Some(([127, 0, 0, 1], 9464).into());
    let shown = text(&picture(80, 24, &state));
    for said in ["paused: the run goes on", "ending", "http://127.0.0.1:9464/metrics"] {
        assert!(shown.contains(said), "{shown}");
    }
    assert!(!shown.contains("Ctrl-C"), "{shown}");
    state.controls.help = true;
    let shown = text(&picture(80, 24, &state));
    assert!(shown.contains("Ctrl-C  end the run now"), "{shown}");
}

#[test]
fn trouble_is_red_or_without_colours_reversed() {
    let reasons = |theme| {
        let mut state = State::new(samples::setting(), None, theme);
        state.see(Arc::new(samples::trouble(9)));
        let buffer = picture(120, 40, &state);
        let row = text(&buffer).lines().position(|line| line.contains("- the generator used 97 %")).unwrap();
        let colourless = buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset);
        (buffer[(5, u16::try_from(row).unwrap())].clone(), colourless)
    };
    let (cell, colourless) = reasons(Theme::new(true));
    assert_eq!((cell.fg, colourless), (Color::Red, false));
    let (cell, colourless) = reasons(Theme::new(false));
    assert!(cell.modifier.contains(Modifier::REVERSED) && colourless);
}
