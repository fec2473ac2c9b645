//! [`Rank`]: where a request stands among those of its class.

/// Where a request stands among those of its class, from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Of a session under way, which is lost if it is not finished.
    Existing,
    /// Of a session that begins, or comes back after a long time.
    New,
    /// More than a session or a client gets ahead of others.
    Excess,
    /// Of a client that was refused, and is back before the time that it was told.
    Again,
}

impl Rank {
    /// How many there are.
    pub(crate) const COUNT: usize = 4;
    /// From the first to the last.
    pub(crate) const ALL: [Self; Self::COUNT] = [Self::Existing, Self::New, Self::Excess, Self::Again];

    /// Whether it goes ahead of others, as its session and its client may.
    pub(crate) fn goes_ahead(self) -> bool {
        self < Self::Excess
    }

    /// Position in [`Rank::ALL`].
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}
