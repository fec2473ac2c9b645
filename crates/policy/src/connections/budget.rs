//! [`MemoryBudget`]: the memory that all connections together may fill with bytes under way.
//!
//! Bytes are kept for three reasons: bodies are read before their requests have a place in the server,
//! responses are taken from the server before their clients take them, and clients of HTTP/2 are allowed to
//! send before they are asked. Each has a fixed share of one budget.

/// What bytes are kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Requests' bodies, read before their requests are sent to the server. Beyond the share, bodies stay
    /// with their clients until their requests have a place.
    Ahead,
    /// Responses on streams of HTTP/2 that clients have not taken. Beyond the share, each connection keeps
    /// one piece ([`MemoryBudget::PIECE`]), so that clients that take their responses get them whatever
    /// others do.
    Unsent,
    /// What clients of HTTP/2 may send of requests' bodies without being asked for more.
    Windows,
}

/// Which connections may keep more, now that bytes have gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unblocked {
    /// None that could not before.
    None,
    /// The one whose bytes have gone.
    This,
    /// All that wait.
    All,
}

/// The memory that all connections together may fill.
#[derive(Debug)]
pub struct MemoryBudget {
    total: u64,
    ahead: u64,
    unsent: u64,
    /// Whether the share of unsent responses is taken; it counts as free again when a quarter of it is.
    is_full: bool,
}

impl MemoryBudget {
    /// All of it, where the process has no limit of memory or one of at least twice that.
    pub const MAX_BYTES: u64 = 384 << 20;

    /// What may be kept of a response in any case: as much as a frame of HTTP/2 has by default (RFC 9113
    /// section 4.2).
    pub const PIECE: u64 = 16 << 10;

    /// What HTTP/2 begins with in any case (RFC 9113 section 6.9.2).
    const MIN_WINDOW: u32 = 65_535;

    /// The budget of a process that may use so many bytes of memory. Half of them are for what is not
    /// counted here: the connections themselves, TLS, the policy, the program.
    pub fn new(limit: Option<u64>) -> Self {
        Self { total: total(limit), ahead: 0, unsent: 0, is_full: false }
    }

    /// Another limit. What is kept beyond it stays until it goes.
    pub fn set_limit(&mut self, limit: Option<u64>) {
        self.total = total(limit);
    }

    /// Bytes that may be kept for that reason.
    pub fn bound(&self, share: Share) -> u64 {
        match share {
            Share::Ahead | Share::Unsent => self.total / 6,
            Share::Windows => self.total / 6 * 4,
        }
    }

    /// Bytes that are kept; what clients may send is shared out and not counted.
    pub fn taken(&self, share: Share) -> u64 {
        match share {
            Share::Ahead => self.ahead,
            Share::Unsent => self.unsent,
            Share::Windows => 0,
        }
    }

    /// Whether more of requests' bodies may be read ahead.
    pub fn may_read_ahead(&self) -> bool {
        self.ahead < self.bound(Share::Ahead)
    }

    /// Bytes of a request's body were read ahead.
    pub fn read_ahead(&mut self, bytes: u64) {
        self.ahead += bytes;
    }

    /// Bytes that were read ahead are on their way to the server, or have been given up.
    pub fn sent_ahead(&mut self, bytes: u64) {
        self.ahead = self.ahead.saturating_sub(bytes);
    }

    /// Whether a connection that keeps so many bytes of its responses may keep another piece.
    pub fn may_keep(&mut self, own: u64) -> bool {
        if self.unsent >= self.bound(Share::Unsent) {
            self.is_full = true;
        }
        !self.is_full || own < Self::PIECE
    }

    /// Bytes of a response are kept for a client.
    pub fn keep(&mut self, bytes: u64) {
        self.unsent += bytes;
    }

    /// The client has taken bytes, and its connection keeps so many still.
    pub fn unkeep(&mut self, bytes: u64, own: u64) -> Unblocked {
        self.unsent = self.unsent.saturating_sub(bytes);
        if !self.is_full {
            Unblocked::None
        } else if self.unsent < self.bound(Share::Unsent) / 4 * 3 {
            self.is_full = false;
            Unblocked::All
        } else if own < Self::PIECE {
            Unblocked::This
        } else {
            Unblocked::None
        }
    }

    /// How much of requests' bodies a new connection of HTTP/2 may send before it is asked for more, when
    /// so many connections are open.
    pub fn window(&self, connections: usize) -> u32 {
        let each = self.bound(Share::Windows) / connections.max(1) as u64;
        u32::try_from(each).unwrap_or(u32::MAX).max(Self::MIN_WINDOW)
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::new(None)
    }
}

fn total(limit: Option<u64>) -> u64 {
    limit.map_or(MemoryBudget::MAX_BYTES, |limit| (limit / 2).min(MemoryBudget::MAX_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn shares_follow_the_memory_of_the_process() {
        let shares = |limit| {
            let budget = MemoryBudget::new(limit);
            [Share::Ahead, Share::Unsent, Share::Windows].map(|share| budget.bound(share) / MIB)
        };
        assert_eq!(shares(None), [64, 64, 256]);
        assert_eq!(shares(Some(4096 * MIB)), [64, 64, 256]);
        assert_eq!(shares(Some(120 * MIB)), [10, 10, 40]);
    }

    #[test]
    fn bodies_are_read_ahead_up_to_their_share() {
        let mut budget = MemoryBudget::new(Some(12 * MIB));
        budget.read_ahead(MIB - 1);
        assert!(budget.may_read_ahead());
        budget.read_ahead(1);
        assert!(!budget.may_read_ahead());
        budget.sent_ahead(1);
        assert!(budget.may_read_ahead());
    }

    #[test]
    fn beyond_their_share_responses_are_kept_piece_by_piece() {
        let mut budget = MemoryBudget::new(Some(12 * MIB));
        budget.keep(MIB);
        assert!(!budget.may_keep(MIB) && budget.may_keep(0));
        budget.keep(MemoryBudget::PIECE);
        assert!(!budget.may_keep(MemoryBudget::PIECE));
        assert_eq!(budget.unkeep(MemoryBudget::PIECE, 0), Unblocked::This);
        assert_eq!(budget.unkeep(MIB / 4, MIB / 4 * 3), Unblocked::None);
        assert_eq!(budget.unkeep(1, MIB / 4 * 3 - 1), Unblocked::All);
        assert!(budget.may_keep(MIB));
    }

    #[test]
    fn windows_shrink_with_the_number_of_connections() {
        let budget = MemoryBudget::default();
        assert_eq!(budget.window(0), 256 << 20);
        assert_eq!(budget.window(256), 1 << 20);
        assert_eq!(budget.window(100_000), 65_535);
    }
}
