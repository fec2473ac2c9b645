//! [`Waits`]: how long a request has waited, stage by stage.

use units::Span;

/// How long a request has waited in each stage that has a queue. A request that was held back
/// several times has all of these waits in `discard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waits {
    /// In the acceptor queue.
    pub acceptor: Span,
    /// In a pending queue.
    pub pending: Span,
    /// In a discard queue.
    pub discard: Span,
    /// In a class queue.
    pub class: Span,
}

/// A stage that has queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The acceptor queue: not yet looked at.
    Acceptor,
    /// A pending queue: not known to be important.
    Pending,
    /// A discard queue: held back for a second chance.
    Discard,
    /// A class queue: admitted, and waiting for the server.
    Class,
}

impl Stage {
    pub(crate) const COUNT: usize = 4;

    /// The name used in metrics and lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acceptor => "acceptor",
            Self::Pending => "pending",
            Self::Discard => "discard",
            Self::Class => "class",
        }
    }
}

impl Waits {
    /// No wait at all.
    pub const ZERO: Self =
        Self { acceptor: Span::ZERO, pending: Span::ZERO, discard: Span::ZERO, class: Span::ZERO };

    /// All stages together.
    pub fn total(&self) -> Span {
        self.acceptor + self.pending + self.discard + self.class
    }

    pub(crate) fn add(&mut self, stage: Stage, span: Span) {
        match stage {
            Stage::Acceptor => self.acceptor += span,
            Stage::Pending => self.pending += span,
            Stage::Discard => self.discard += span,
            Stage::Class => self.class += span,
        }
    }
}
