//! [`Room`]: how long a queue may be, as people write it.

use std::str::FromStr;

use units::Count;

/// Requests that may wait; `None` when there is no limit.
///
/// ```
/// use sim::Room;
/// assert_eq!("10k".parse(), Ok(Room(Some(10_000))));
/// assert_eq!("none".parse(), Ok(Room(None)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room(pub Option<u32>);

const MAX_ROOM: u64 = 1_000_000_000;

/// A text that is not a [`Room`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a whole number of requests that wait, from 0 to {MAX_ROOM}, or \"none\" for no limit")]
pub struct RoomError;

impl FromStr for Room {
    type Err = RoomError;

    fn from_str(text: &str) -> Result<Self, RoomError> {
        if text == "none" {
            return Ok(Self(None));
        }
        let Count(count) = text.parse().map_err(|_| RoomError)?;
        match u32::try_from(count) {
            Ok(room) if count <= MAX_ROOM => Ok(Self(Some(room))),
            _ => Err(RoomError),
        }
    }
}
