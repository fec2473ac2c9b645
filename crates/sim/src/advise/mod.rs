//! [`advise`]: the load to admit, the length of the queue and the number of threads with which a server
//! meets its objectives.
//!
//! The paper's advice is to satisfy "95 % or less of the maximum number of requests" (section 4);
//! here that number comes from simulating the server in question. All settings meet
//! identical requests, so that they differ by what they are and not by chance. Where a gate stands before the server
//! and the load is what it is, [`advise_knobs`] finds where to put the gate's knobs.

mod error;
mod knobs;
mod objective;
mod options;
mod search;
mod settings;
mod text;
mod trial;

pub use self::error::AdviceError;
pub use self::knobs::{KnobAdvice, KnobOptions, KnobTrial, advise_knobs};
pub use self::objective::{Objective, ObjectiveError};
pub use self::options::AdviceOptions;
pub use self::settings::{Advice, advise};
pub(crate) use self::text::shown;
pub use self::trial::Trial;
