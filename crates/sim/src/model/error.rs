//! [`ModelError`]: why something cannot be simulated.

/// Why something cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A number outside its range.
    #[error("{what} must be from {from} to {to}, not {value}")]
    Range {
        /// What it is.
        what: &'static str,
        /// What was given.
        value: f64,
        /// The smallest allowed.
        from: f64,
        /// The largest allowed.
        to: f64,
    },
    /// There is nothing to ask for.
    #[error("the model has no classes of requests")]
    NoClasses,
    /// A queue that grows for ever.
    #[error(
        "with {} requests per second (a load of {:.3}) and no limit the queue grows for ever: {limit} {} at most; give a queue length, or a rate below that (a load below {load:.3})",
        digits(*.rate), .rate / .most * .load, digits(*.most)
    )]
    Unstable {
        /// Requests per second that come.
        rate: f64,
        /// What limits the server.
        limit: String,
        /// Requests per second that it can serve.
        most: f64,
        /// The load that these are.
        load: f64,
    },
    /// Arrivals, or retries, of clients that wait for their answers.
    #[error(
        "{0} have no meaning for clients that wait for their answers and think; leave them out, or give a rate instead of the clients"
    )]
    Closed(&'static str),
    /// Slow clients, and no gate whose connections they could keep.
    #[error(
        "the model has slow clients, which keep the connections of a gate in front of the server, and there is no gate; give its configuration, or leave them out"
    )]
    NoGate,
    /// Clients that are told nothing and wait for ever.
    #[error(
        "a full queue that drops requests leaves clients waiting that never give up; say how long they wait, as in --patience 1s"
    )]
    DropsForEver,
    /// Clients that are told at once that there is no room, and ask at once again.
    #[error(
        "clients that are told that they are rejected and ask again at once find the queue as full as before; say how long they pause, as in --retry-delay 1s, or that a full queue drops them without a word (--drops)"
    )]
    AgainAtOnce,
    /// Pauses that grow from nothing.
    #[error("a backoff of {0} makes nothing of no delay; give a delay, or leave it out")]
    NoBackoff(f64),
    /// Something that has no effect without a queue that can be full.
    #[error(
        "{0} have no effect where the queue has no limit, since it rejects none; give it one, or leave them out"
    )]
    NeverFull(&'static str),
    /// A quota that leaves all there is.
    #[error(
        "a quota of {quota} processors leaves the server all it has ({processors}); give less, or leave it out"
    )]
    IdleQuota {
        /// What it leaves.
        quota: f64,
        /// What there is.
        processors: u32,
    },
    /// A log of static and dynamic requests, and other classes.
    #[error(
        "the requests of a log are static and dynamic, and the model has {0}; give it these classes, or take the log's times alone, as in trace:FILE"
    )]
    KindsOfLog(String),
    /// Not as many dynamic ones as the log has.
    #[error(
        "the model's share of dynamic requests is {own:.4}, and that of the log {dynamic:.4}; write {dynamic:.6}"
    )]
    ShareOfLog {
        /// The model's.
        own: f64,
        /// The log's.
        dynamic: f64,
    },
    /// Priorities of one class.
    #[error(
        "the discipline priority is between classes, and the model has one; give it several, or take fcfs"
    )]
    OneClass,
    /// Several servers, and tiers.
    #[error(
        "tiers are simulated behind one server, and the model has {0}: whether they have them in common is not known; give it one server"
    )]
    TiersOfFleet(u32),
    /// A gate, and clients that give up.
    #[error(
        "clients that give up are not simulated with a gate in front of a model; leave them out, or simulate sessions (--workload), whose users give up"
    )]
    GateAndPatience,
    /// A gate, and more than one server.
    #[error(
        "a gate is simulated in front of one server, and the model has {0}; give it one, or leave out the gate"
    )]
    GateOfFleet(u32),
    /// Something that no class needs.
    #[error(
        "the model has {what}, and no class of requests has {needed}; give it to a class, or leave them out"
    )]
    Unused {
        /// What there is.
        what: &'static str,
        /// What a class would need for it to count.
        needed: &'static str,
    },
}

/// Why a model with a gate, or with sessions, cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SessionModelError {
    /// A number is out of range.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The policy's configuration contradicts itself.
    #[error("the policy cannot be simulated: {0}")]
    Policy(#[from] policy::ConfigError),
}

/// To four digits.
fn digits(value: f64) -> String {
    let decimals = (3.0 - value.abs().log10().floor()).clamp(0.0, 12.0);
    format!("{value:.*}", decimals as usize)
}

/// # Errors
/// Where `value`, of what `what` says, is not `from` .. `to`.
pub(crate) fn within(what: &'static str, value: f64, from: f64, to: f64) -> Result<(), ModelError> {
    if (from..=to).contains(&value) { Ok(()) } else { Err(ModelError::Range { what, value, from, to }) }
}
