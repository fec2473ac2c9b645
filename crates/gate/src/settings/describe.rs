//! What the settings came to, defaults included: `headworks gate check`.

use std::fmt;

use policy::{LookAhead, Mode, Window};

use super::{Close, Settings};

impl fmt::Display for Settings {
    /// One line per setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: fmt::Arguments<'_>| writeln!(f, "  {name:<16} {value}");
        let (policy, limits) = (&self.policy, &self.policy.limits);
        line("listen", format_args!("{}, backlog {}", self.listen, self.backlog))?;
        line("admin", format_args!("{}", self.admin))?;
        let up = &self.upstream;
        line(
            "upstream",
            format_args!(
                "{}, connect {:?}, response {:?}, idle {:?}",
                up.address, up.connect_timeout, up.timeout, up.idle_timeout
            ),
        )?;
        line("mode", format_args!("{}", if policy.mode == Mode::Shadow { "shadow" } else { "enforce" }))?;
        line(
            "knobs",
            format_args!(
                "differentiation {}, favour {}",
                policy.knobs.differentiation.as_f64(),
                policy.knobs.favour.as_f64()
            ),
        )?;
        for (name, class) in self.classes.iter().zip(&policy.classes) {
            let weight = class.weight.map_or("by differentiation".to_owned(), |weight| weight.to_string());
            let target = class.target_queue.map_or("by favour".to_owned(), |target| target.to_string());
            line("class", format_args!("{name}, weight {weight}, target queue {target}"))?;
        }
        match self.rules.0.len() {
            0 => line("rules", format_args!("none: every request is of the last class"))?,
            rules => line("rules", format_args!("{rules}"))?,
        }
        match policy.window {
            Window::Fixed(size) | Window::Pull { most: size } => line("window", format_args!("{size}"))?,
            Window::Adaptive { initial, min, max } => {
                line("window", format_args!("adaptive, {min} to {max}, at first {initial}"))?;
            }
        }
        match policy.look_ahead {
            LookAhead::Auto => line("look-ahead", format_args!("auto"))?,
            LookAhead::Fixed(k) => line("look-ahead", format_args!("{k}"))?,
        }
        line(
            "admission",
            format_args!("every {}, gains {} {}", policy.period, policy.gains.q0, policy.gains.q1),
        )?;
        line(
            "queues",
            format_args!(
                "acceptor {}, pending {}, class {}, discard {} for {} periods, burst {}",
                limits.acceptor_queue,
                limits.pending_queue,
                limits.class_queues,
                limits.discard_queues,
                limits.discard_periods,
                limits.burst
            ),
        )?;
        let deadlines = limits.deadlines;
        line(
            "deadlines",
            format_args!(
                "acceptor {}, pending {}, class {}, discard {}",
                deadlines.acceptor, deadlines.pending, deadlines.class, deadlines.discard
            ),
        )?;
        line("client share", format_args!("{}", limits.client_share))?;
        let keys = match self.session.keys.len() {
            0 => "no secret: sessions end with the process",
            1 => "one secret",
            _ => "two secrets",
        };
        line(
            "sessions",
            format_args!(
                "cookie {}, idle {}, absolute {}, {keys}",
                self.session.cookie, self.session.limits.idle, self.session.limits.absolute
            ),
        )?;
        let (from, to) = self.reject.retry_after;
        let close = match self.reject.close {
            Close::New => "new clients'",
            Close::Always => "every",
            Close::Never => "no",
        };
        line(
            "refusals",
            format_args!(
                "{}, retry after {from} to {to} s, {close} connection closed",
                self.reject.status.as_u16()
            ),
        )?;
        let client = &self.client;
        line(
            "clients",
            format_args!(
                "header {:?}, idle {:?}, stall {:?}, drain {:?}",
                client.header_timeout, client.idle_timeout, client.stall_timeout, client.drain_timeout
            ),
        )
    }
}
