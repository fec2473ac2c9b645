//! [`ConnectionId`]: a connection's or a stream's id.

/// A connection's or a stream's id; ids are not used again soon. By default that of none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(u64);

impl ConnectionId {
    pub(super) fn new(generation: u32, position: usize) -> Self {
        Self(u64::from(generation) << 32 | position as u64)
    }

    pub(super) fn position(self) -> usize {
        (self.0 & u64::from(u32::MAX)) as usize
    }

    pub(super) fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}
