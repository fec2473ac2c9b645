//! Several records of the generator as one: generators that ran side by side on several machines, or the same run again
//! and again.
//!
//! Only what was due in the measuring window of its own record is taken; counts and histograms add up. How rates are put
//! together depends on whether the windows overlap.
//!
//! | file | idea |
//! | --- | --- |
//! | `together` | from their directories to the new one |
//! | `source` | one of the records |
//! | `arrangement` | where on one axis of time each of them lies |
//! | `tally` | what their rows add up to, and the rows of the new record |
//! | `summary` | the summary of all of them |
//! | `error` | why they cannot be put together |

mod arrangement;
pub(crate) mod error;
mod source;
mod summary;
mod tally;
pub(crate) mod together;
