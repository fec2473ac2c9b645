//! What the settings came to, defaults included: `headworks gate check`.

use std::fmt;

use policy::{Admission, LookAhead, Mode, Window};
use units::{Counted, Span};

use crate::settings::client::{STREAMING, TUNNELS};
use crate::settings::field_names::FieldNames;
use crate::settings::listener::ShownCertificates;
use crate::settings::page::Form;
use crate::settings::reject::Close;
use crate::settings::root::Settings;
use crate::settings::{strictness, waiting_room};

impl fmt::Display for Settings {
    /// One line per setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.lines(&[]) {
            writeln!(f, "  {name:<16} {value}")?;
        }
        Ok(())
    }
}

pub(crate) type Lines = Vec<(&'static str, String)>;

impl Settings {
    /// What every setting came to, by name; several may have one name. `shown` is what is known of each
    /// listener's certificates.
    pub fn lines(&self, shown: &[Option<ShownCertificates>]) -> Lines {
        let groups = [
            self.places(shown),
            self.upstream.describe(),
            self.tunnels.describe(&self.capped(self.tunnels.most, TUNNELS, "a quarter")),
            self.choices(),
            self.control(),
            self.bounds(),
            self.manners(),
            self.operation.describe(),
            vec![self.telemetry.describe()],
        ];
        groups.into_iter().flatten().collect()
    }

    fn places(&self, shown: &[Option<ShownCertificates>]) -> Lines {
        let shown = shown.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let described = self.listeners.iter().zip(shown);
        let listeners = described.map(|(listener, shown)| ("listen", listener.describe(shown)));
        let mut lines: Lines = listeners.collect();
        // What is not known before is said when the first such connection comes.
        let attach = self.attach.iter().map(|socket| {
            let socket = socket.display();
            let note = "note: of what the server says over TLS, and over HTTP/2 without it, nothing is decided; put the gate in front there";
            ("attach", format!("under a server whose processes find it at {socket} ({note})"))
        });
        lines.extend(attach);
        lines.extend([
            ("backlog", self.backlog.to_string()),
            ("http2", self.http2.describe()),
            ("forwarded", self.forwarding.to_string()),
            ("admin", self.admission.describe(self.admin)),
            ("explain", self.explain.to_string()),
        ]);
        lines
    }

    /// Who is what, and how much it matters.
    fn choices(&self) -> Lines {
        let policy = &self.policy;
        let mode = match (policy.mode, policy.window) {
            (Mode::Enforce, _) => "enforce",
            (Mode::Shadow, Window::Adaptive { .. }) => "shadow",
            (Mode::Shadow, Window::Fixed(_)) => {
                "shadow (note: what a window would refuse that is smaller than what is inside now, it does not show)"
            }
        };
        let knobs = policy.knobs;
        let (differentiation, favour) = (knobs.differentiation.as_f64(), knobs.favour.as_f64());
        let mut lines = vec![
            ("mode", mode.to_owned()),
            ("knobs", format!("differentiation {differentiation}, favour {favour}")),
        ];
        for (name, class) in self.classes.iter().zip(&policy.classes) {
            let weight = class.weight.map_or("by differentiation".to_owned(), |weight| weight.to_string());
            let target = class.target_queue.map_or("by favour".to_owned(), |target| target.to_string());
            lines.push(("class", format!("{name}, weight {weight}, target queue {target}")));
        }
        let rules = match self.rules.choose.len() {
            0 => "none: every request is of the last class".to_owned(),
            rules => rules.to_string(),
        };
        lines.push(("rules", rules));
        if !self.rules.raise.is_empty() {
            lines.push(("raised by", Counted(self.rules.raise.len(), "rule").to_string()));
        }
        lines
    }

    fn control(&self) -> Lines {
        let policy = &self.policy;
        let window = match policy.window {
            Window::Fixed(size) => size.to_string(),
            Window::Adaptive { initial, min, max } => {
                format!("adaptive, {min} to {max}, at first {initial}")
            }
        };
        let look_ahead = match policy.look_ahead {
            LookAhead::Auto => "auto".to_owned(),
            LookAhead::Fixed(k) => k.to_string(),
        };
        let admitted = match policy.admission {
            Admission::Requests => "requests",
            Admission::Sessions => {
                "sessions, or requests where their lengths are not known or most can be finished"
            }
        };
        let admission =
            format!("{admitted}, every {}, gains {} {}", policy.period, policy.gains.q0, policy.gains.q1);
        vec![("window", window), ("look-ahead", look_ahead), ("admission", admission)]
    }

    fn bounds(&self) -> Lines {
        let limits = &self.policy.limits;
        let deadlines = limits.deadlines;
        let queues = format!(
            "acceptor {}, pending {}, class {}, discard {} for {} periods, burst {}, streaming {}",
            limits.acceptor_queue,
            limits.pending_queue,
            limits.class_queues,
            limits.discard_queues,
            limits.discard_periods,
            limits.burst,
            self.capped(limits.streaming, STREAMING, "three eighths")
        );
        let waits = format!(
            "acceptor {}, pending {}, class {}, discard {}",
            deadlines.acceptor, deadlines.pending, deadlines.class, deadlines.discard
        );
        vec![
            ("queues", queues),
            ("deadlines", waits),
            ("client share", limits.client_share.to_string()),
            ("new sessions", format!("{} of a class at least", limits.new_session_share)),
        ]
    }

    /// So many, if the connections suffice.
    fn capped(&self, most: u32, share: f64, words: &str) -> String {
        match self.client.connections {
            None => format!("{most} ({words} of the connections at most)"),
            Some(connections) => match (f64::from(connections) * share) as u32 {
                room if room < most => format!("{room} ({words} of the connections; {most} without that)"),
                _ => most.to_string(),
            },
        }
    }

    /// How clients are treated.
    fn manners(&self) -> Lines {
        let (session, client) = (&self.session, &self.client);
        let secrets = match session.secrets.len() {
            0 => "no secret: sessions end with the process",
            1 => "one secret",
            _ => "two secrets",
        };
        let secure = match session.secure {
            None => "",
            Some(true) => ", Secure",
            Some(false) => ", never Secure",
        };
        let except = match session.except.len() {
            0 => String::new(),
            paths => format!(", not for {}", Counted(paths, "path")),
        };
        let sessions = match self.has_sessions() {
            true => format!(
                "cookie {}{secure}, idle {}, absolute {}, {secrets}{except}",
                session.cookie, session.limits.idle, session.limits.absolute
            ),
            false => "none, and no cookie: one class without rules has nothing to tell apart".to_owned(),
        };
        let (from, to) = self.reject.retry_after;
        let close = match self.reject.close {
            Close::New => "new clients'",
            Close::Always => "every",
            Close::Never => "no",
        };
        let status = self.reject.status.as_u16();
        let names = match client.field_names {
            FieldNames::LowerCase => "",
            FieldNames::TitleCase => ", field names in title case",
        };
        let clients = format!(
            "header {}, idle {}, stall {}, drain {}{names}",
            Span::from(client.header_timeout),
            Span::from(client.idle_timeout),
            Span::from(client.stall_timeout),
            Span::from(client.drain_timeout)
        );
        let most = client.connections.map_or("as the descriptors allow".to_owned(), |most| most.to_string());
        let memory = client.memory.map_or("no bound".to_owned(), |bytes| format!("{bytes} bytes"));
        let connections = format!("at most {most}, {} streams; memory {memory}", client.streams);
        vec![
            ("sessions", sessions),
            ("pages", self.pages.describe()),
            ("refusals", format!("{status}, retry after {from} to {to} s, {close} connection closed")),
            waiting_room::describe(
                self.waiting_room.as_ref(),
                self.pages.own(self.reject.status, Form::Page).is_some(),
            ),
            ("clients", clients),
            ("connections", connections),
            strictness::describe(&self.strictness),
        ]
    }
}
