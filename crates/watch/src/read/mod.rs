//! Reads what a watch has left, as `sar -f` reads its files: any time of it.
//!
//! | file | idea |
//! | --- | --- |
//! | `moment` | a time as people write it |
//! | `rows` | figures by time, as fine as is wanted |
//! | `pauses` | stretches without responses |
//! | `table` | all of it as text |

mod moment;
mod pauses;
mod rows;
mod table;

pub use moment::{BadMoment, Moment};
pub use pauses::Pause;
pub use rows::{Reading, Row, SlowRequest, Wanted, read};
