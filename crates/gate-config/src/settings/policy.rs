//! What the policy is told: mode, knobs, window, queues, deadlines.

use std::ops::Range;

use config::{Error, Source, Spanned};
use policy::{ConfigError, LookAhead, Window};
use units::Span;

use crate::settings::file;
use crate::settings::file::File;
use crate::settings::number::{Time, above_zero};
use crate::settings::text::TextOr;

pub(super) fn resolve(source: &Source, file: &File, policy: &mut policy::Config) -> Result<(), Error> {
    policy.mode = match file.mode {
        file::Mode::Enforce => policy::Mode::Enforce,
        file::Mode::Shadow => policy::Mode::Shadow,
    };
    policy.admission = match file.admission {
        file::Admission::Requests => policy::Admission::Requests,
        file::Admission::Sessions => policy::Admission::Sessions,
    };
    policy.knobs.differentiation = file.differentiation.unwrap_or(policy.knobs.differentiation);
    policy.knobs.favour = file.favour.unwrap_or(policy.knobs.favour);
    if let Some(period) = &file.period {
        policy.period = self::period(source, period)?;
    }
    if let Some(look_ahead) = &file.look_ahead {
        policy.look_ahead = match look_ahead.get_ref() {
            TextOr::Other(k) => LookAhead::Fixed(*k),
            TextOr::Text(text) if text.get_ref() == "auto" => LookAhead::Auto,
            TextOr::Text(text) => {
                let what = format!("look-ahead \"{}\" is not known", text.get_ref());
                return Err(source.error(text.span(), what).mend("give \"auto\" or a number"));
            }
        };
    }
    if let Some(gains) = &file.gains {
        policy.gains = policy::Gains { q0: gains.get_ref().q0, q1: gains.get_ref().q1 };
    }
    if let Some(window) = &file.window {
        policy.window = self::window(*window.get_ref());
    }
    limits(source, file, &mut policy.limits)?;
    // The policy refuses what contradicts itself; here it is told which line to blame.
    policy::Policy::new(policy.clone()).map(drop).map_err(|error| {
        let what = error.to_string();
        let (what, mend) = match what.split_once("; ") {
            Some((what, mend)) => (what.to_owned(), Some(mend.to_owned())),
            None => (what, None),
        };
        let error = match blamed(file, error) {
            Some(span) => source.error(span, what),
            None => source.missing(what),
        };
        match mend {
            Some(mend) => error.mend(mend),
            None => error,
        }
    })
}

fn period(source: &Source, period: &Time) -> Result<Span, Error> {
    /// What comes in less time says nothing about how much comes.
    const MIN_PERIOD: Span = Span::from_millis(10);
    match period.get_ref().0 {
        short if short < MIN_PERIOD => Err(source
            .error(period.span(), format!("a period of {short} is too short"))
            .mend("give at least \"10ms\"; \"250ms\" is good for most")),
        period => Ok(period),
    }
}

fn window(window: file::Window) -> Window {
    let Window::Adaptive { initial, min, max } = Window::default() else { return Window::default() };
    match window {
        file::Window::Fixed(size) => Window::Fixed(size),
        file::Window::Adaptive => Window::default(),
        file::Window::Bounds(bounds) => {
            let (min, max) = (bounds.min.unwrap_or(min), bounds.max.unwrap_or(max));
            let within = if min <= max { initial.clamp(min, max) } else { initial };
            Window::Adaptive { initial: bounds.initial.unwrap_or(within), min, max }
        }
    }
}

fn limits(source: &Source, file: &File, limits: &mut policy::Limits) -> Result<(), Error> {
    let set = |place: &mut u32, given: &Option<Spanned<u32>>| {
        if let Some(given) = given {
            *place = *given.get_ref();
        }
    };
    set(&mut limits.burst, &file.limits.burst);
    set(&mut limits.acceptor_queue, &file.limits.acceptor_queue);
    set(&mut limits.pending_queue, &file.limits.pending_queue);
    set(&mut limits.class_queues, &file.limits.class_queues);
    set(&mut limits.discard_queues, &file.limits.discard_queues);
    set(&mut limits.streaming, &file.limits.streaming);
    limits.discard_periods = file.limits.discard_periods.unwrap_or(limits.discard_periods);
    limits.client_share = file.client_share.unwrap_or(limits.client_share);
    limits.new_session_share = file.new_session_share.unwrap_or(limits.new_session_share);
    let deadlines = &mut limits.deadlines;
    for (place, given, name) in [
        (&mut deadlines.acceptor, &file.deadlines.acceptor, "acceptor"),
        (&mut deadlines.pending, &file.deadlines.pending, "pending"),
        (&mut deadlines.discard, &file.deadlines.discard, "discard"),
        (&mut deadlines.class, &file.deadlines.class, "class"),
    ] {
        *place = above_zero(source, given, name)?.unwrap_or(*place);
    }
    Ok(())
}

/// Where the setting stands that the policy refuses.
fn blamed(file: &File, error: ConfigError) -> Option<Range<usize>> {
    let limits = &file.limits;
    let bounds = [
        ("the burst", &limits.burst),
        ("the acceptor queue", &limits.acceptor_queue),
        ("the pending queue", &limits.pending_queue),
        ("the bound of the class queues", &limits.class_queues),
    ];
    match error {
        ConfigError::Zero("the window") | ConfigError::Window { .. } => {
            file.window.as_ref().map(Spanned::span)
        }
        ConfigError::Zero("the look-ahead") => file.look_ahead.as_ref().map(Spanned::span),
        ConfigError::Zero(name) => {
            let named = bounds.into_iter().find(|(bound, _)| *bound == name);
            named.and_then(|(_, number)| number.as_ref()).map(Spanned::span)
        }
        ConfigError::TooMany(_) => {
            let others = [&limits.discard_queues, &limits.streaming];
            let numbers = bounds.into_iter().map(|(_, number)| number).chain(others);
            let largest = numbers.flatten().max_by_key(|number| *number.get_ref());
            largest.map(Spanned::span).or(file.window.as_ref().map(Spanned::span))
        }
        ConfigError::Unstable { .. } => file.gains.as_ref().map(Spanned::span),
        ConfigError::Weight { class, .. } => {
            file.class.as_ref()?.get(class.index())?.weight.as_ref().map(Spanned::span)
        }
        ConfigError::Classes(_) | ConfigError::Reclassed { .. } => {
            file.class.as_ref()?.last().map(|class| class.name.span())
        }
    }
}
