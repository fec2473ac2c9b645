//! What the live view looks like.

use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;
use tui::{Theme, View as _};

use super::super::samples;
use super::state::State;
use super::tab::Tab;
use crate::snapshot::Snapshot;

fn picture(width: u16, height: u16, state: &State) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| state.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content.chunks(usize::from(buffer.area.width).max(1));
    let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned());
    rows.collect::<Vec<_>>().join("\n")
}

fn state(looks: impl IntoIterator<Item = Snapshot>) -> State {
    let mut state = State::new(samples::setting(), Theme::new(true));
    looks.into_iter().for_each(|snapshot| state.see(Arc::new(snapshot)));
    state
}

fn tab(tab: Tab) -> String {
    let mut state = state((1..=10).map(samples::snapshot));
    state.tab = tab;
    picture(90, 24, &state)
}

#[test]
fn requests_by_class_and_phase() {
    insta::assert_snapshot!(tab(Tab::Requests), @r#"
    apache2 on port 80                                                         cpu 50 %   10 s
     1 requests   2 kernel   3 processes   4 connections   5 overhead
     requests 1000/s  171 Mbit/s   last look, estimated ──────────────────────────────────────
    1000  │                                                                     ⣀⣀⣀⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉⠉
          │                                                     ⣀⣀⣀⣀⡠⠤⠤⠤⠤⠒⠒⠒⠒⠉⠉⠉
          │                                      ⢀⣀⣀⡠⠤⠤⠔⠒⠒⠒⠊⠉⠉⠉⠉
    500   │                     ⣀⣀⣀⣀⡠⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉⠉⠉⠁
          │     ⣀⣀⣀⠤⠤⠤⠔⠒⠒⠒⠒⠊⠉⠉⠉⠉
    0     │⠒⠒⠉⠉⠉
          └───────────────────────────────────────────────────────────────────────────────────
    9 s ago                                                                                now
    class         req/s  Mbit/s     p50     p99    user  kernel    soft    disk   reads
    0-50k           950    91.2 2.10 ms 2.10 ms  130 us  260 us       0       0       2
    50k-500k         50      80 2.10 ms 2.10 ms  130 us  260 us       0       0       2
    by phase           elapsed     p50     p90     p99     max     cpu     p99     max
    0-50k      parse    100 us  100 us  100 us  100 us  100 us 60.0 us 60.0 us 60.0 us
    0-50k      process 2.00 ms 2.00 ms 2.00 ms 2.00 ms 2.00 ms  300 us  300 us  300 us
    0-50k      log     50.0 us 50.0 us 50.0 us 50.0 us 50.0 us 30.0 us 30.0 us 30.0 us
    50k-500k   parse    100 us  100 us  100 us  100 us  100 us 60.0 us 60.0 us 60.0 us
    50k-500k   process 2.00 ms 2.00 ms 2.00 ms 2.00 ms 2.00 ms  300 us  300 us  300 us
    50k-500k   log     50.0 us 50.0 us 50.0 us 50.0 us 50.0 us 30.0 us 30.0 us 30.0 us
    waits       to be accepted 400 us, p99 400 us (1000 connections/s)   to be read 30.0 us,
    p99 30.0 us
    q end   p pause   1-5 tab   w whole   h help
    "#);
}

#[test]
fn the_kernel() {
    insta::assert_snapshot!(tab(Tab::Kernel), @r#"
    apache2 on port 80                                                         cpu 50 %   10 s
     1 requests   2 kernel   3 processes   4 connections   5 overhead
     processors busy 50 %  3 tasks run or wait ───────────────────────────────────────────────
    100   │
          │
          │
    50    │⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
          │
    0     │
          └───────────────────────────────────────────────────────────────────────────────────
    9 s ago                                                                                now
    of all processors    now   mean    max        per second           now   mean    max
    user %                20     20     20        context switches   10.0k   5500  10.0k
    system %              30     30     30        interrupts             0      0      0
    interrupt %            0      0      0        of the network         0      0      0
    soft interrupt %       0      0      0        of disks               0      0      0
    stolen %               0      0      0        reads                  0      0      0
    i/o wait %            10     10     10        blocks read            0      0      0
    idle %                40     40     40        writes                 0      0      0
    run queue              3      3      3        blocks written         0      0      0
                                                  KiB paged in           0      0      0
                                                  KiB paged out          0      0      0
                                                  major faults           0      0      0
    q end   p pause   1-5 tab   w whole   h help
    "#);
}

#[test]
fn processes() {
    insta::assert_snapshot!(tab(Tab::Processes), @r#"
    apache2 on port 80                                                         cpu 50 %   10 s
     1 requests   2 kernel   3 processes   4 connections   5 overhead
     programs 90 %  of a processor, all together ─────────────────────────────────────────────
    100   │
          │⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤
          │
          │
          │
          │
          │
    50    │
          │
          │
          │
          │
          │
          │
    0     │
          └───────────────────────────────────────────────────────────────────────────────────
    9 s ago                                                                                now
    program              cpu %       MiB processes   threads   running  faults/s
    apache2                 90        50         9         9         0         0

    q end   p pause   1-5 tab   w whole   h help
    "#);
}

#[test]
fn connections_and_interfaces() {
    insta::assert_snapshot!(tab(Tab::Network), @r#"
    apache2 on port 80                                                         cpu 50 %   10 s
     1 requests   2 kernel   3 processes   4 connections   5 overhead
     established 40  wait to be accepted 24 ──────────────────────────────────────────────────
    40    │                                                         ⢀⣀⣀⣀⣀⠤⠤⠤⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠒⠒⠒⠊⠉⠉⠉⠉
          │                       ⢀⣀⣀⣀⣀⣀⣀⣀⣀⡠⠤⠤⠤⠤⠤⠤⠤⠤⠔⠒⠒⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠁
          │⣀⣀⡠⠤⠤⠤⠤⠒⠒⠒⠒⠒⠒⠒⠉⠉⠉⠉⠉⠉⠉⠉⠉⠁
          │
          │⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
          │
    20    │
          │
          │
          │
          │
    0     │
          └───────────────────────────────────────────────────────────────────────────────────
    9 s ago                                                                                now
    connections      now     max                  listen queue waiting      of drops/s
    ESTAB             40      40                  port 80           24     511       4
    TIME-WAIT        900     900

    interface     Mbit/s in    packets       lost Mbit/s out    packets       lost
    lo                    8        900          0          0          0          0
    q end   p pause   1-5 tab   w whole   h help
    "#);
}

#[test]
fn overhead() {
    insta::assert_snapshot!(tab(Tab::Overhead), @r#"
    apache2 on port 80                                                         cpu 50 %   10 s
     1 requests   2 kernel   3 processes   4 connections   5 overhead
    cpu           0.80 % of a processor, programs in the kernel included
    a look        250 us in the mean, p99 250 us, of 1
    budget        1% of the processor time that the server uses
    followed      1000 requests, in 2 % of the time

    kernel: eBPF
    connections: /proc, because of a reason














    q end   p pause   1-5 tab   w whole   h help
    "#);
}

#[test]
fn no_size_and_no_state_is_too_odd() {
    for looks in [vec![], vec![samples::nothing_yet()], (1..=3).map(samples::snapshot).collect()] {
        let mut state = state(looks);
        state.controls.help = true;
        for tab in Tab::ALL {
            state.tab = tab;
            for (width, height) in [(1, 1), (9, 2), (59, 14), (60, 15), (80, 24), (300, 90)] {
                let shown = picture(width, height, &state);
                assert!(shown.chars().any(|c| !c.is_whitespace()), "{tab:?} {width}x{height}");
            }
        }
    }
}

#[test]
fn before_the_first_window_it_says_so() {
    let shown = picture(80, 24, &state([samples::nothing_yet()]));
    assert!(shown.contains("no window was open yet"), "{shown}");
}

#[test]
fn keys_choose_what_is_shown() {
    let mut state = state([samples::snapshot(1)]);
    assert!(state.press(KeyCode::Char('4')) && state.tab == Tab::Network);
    assert!(state.press(KeyCode::Tab) && state.tab == Tab::Overhead);
    assert!(state.press(KeyCode::Right) && state.tab == Tab::Requests);
    assert!(state.press(KeyCode::Left) && state.tab == Tab::Overhead);
    assert!(!state.press(KeyCode::Char('9')) && !state.press(KeyCode::Char('0')));
    assert!(state.press(KeyCode::Char('1')) && state.press(KeyCode::Char('w')));
    assert!(picture(80, 24, &state).contains("in all"));
}

#[test]
fn a_held_picture_stands_still_and_catches_up() {
    let mut state = state([samples::snapshot(1)]);
    let rate = |state: &State| state.shown().map(|snapshot| snapshot.age.as_nanos() / 1_000_000_000);
    state.toggle_pause();
    state.see(Arc::new(samples::snapshot(2)));
    assert_eq!((rate(&state), state.looks(10).len()), (Some(1), 1));
    assert!(picture(80, 24, &state).contains("paused: the watch goes on"));
    state.toggle_pause();
    assert_eq!((rate(&state), state.looks(10).len()), (Some(2), 2));
}
