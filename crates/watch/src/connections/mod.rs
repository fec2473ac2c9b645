//! Connections of certain ports by state, and the listen queues behind them: the paper's `my_get_connstats`
//! (section 4.1).

mod metrics;
mod proc;
mod sample;
mod traced;

pub use metrics::{ListenQueue, by_state, listen_queues};
pub use proc::Proc;
pub use sample::{MAX_PORTS, Port, STATES, Sample};
pub use traced::Traced;
