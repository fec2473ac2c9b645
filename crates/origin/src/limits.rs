//! How much of everything there may be.

use units::Span;

/// The longest request head, and so all that a connection ever buffers. Apache and nginx
/// let a single line be as long.
pub(crate) const MAX_HEAD: usize = 8 * 1024;

/// The longest body of a request that is taken, chunk sizes and trailers included: 64 MiB.
pub const MAX_UPLOAD: u64 = 64 << 20;

/// The most that static mode keeps in memory: 2 GiB.
pub const MAX_CONTENT: u64 = 2 << 30;

/// The longest body that `/bytes/N` gives: 1 GiB.
pub const MAX_BODY: u64 = 1 << 30;

/// The most CPU time that `/burn` can be asked for: one mistyped unit must not take a worker away
/// for the rest of a run.
pub const MAX_BURN: Span = Span::from_secs(10);

/// The longest that `/delay` may take in all: a mistyped unit must not take a worker away for the
/// rest of a run.
pub const MAX_DELAY: Span = Span::from_secs(60);

/// The most parts that `/delay` sends a body in.
pub const MAX_PIECES: u64 = 10_000;
