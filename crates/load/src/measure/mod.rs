//! From a stopwatch on every request to figures, rows, and whether they are the server's.
//!
//! | file | idea |
//! | --- | --- |
//! | `stopwatch` | the phases of one request |
//! | `phase`, `percentile` | the parts of a request's time; shares of all requests |
//! | `finished` | all that is known of a request that is over |
//! | `aggregate` | the figures of a summary, added up |
//! | `steps` | the figures of each level of a ramp |
//! | `recorder` | what a thread's requests add up to |
//! | `progress` | what is under way |
//! | `shortage`, `validity` | what the generator ran out of; whether the figures are the server's |
//! | `objective` | what a run is to achieve |

pub(crate) mod aggregate;
pub(crate) mod finished;
pub(crate) mod objective;
pub(crate) mod percentile;
pub(crate) mod phase;
pub(crate) mod progress;
pub(crate) mod recorder;
pub(crate) mod shortage;
pub(crate) mod steps;
pub(crate) mod stopwatch;
pub(crate) mod validity;
