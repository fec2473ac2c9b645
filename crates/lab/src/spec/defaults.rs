//! What holds where nothing is said of it, and the least that can be asked for.

use units::Span;

/// How near the ends of the interval are to be, as a share that can be read as [`units::Ratio`].
pub const PRECISION: &str = "2%";

/// The nearest that they can be asked to be.
pub const MIN_PRECISION: f64 = 0.001;

/// For how long a crowd is measured.
pub const HOLD: Span = Span::from_secs(5);

/// The shortest time that it can be.
pub const MIN_HOLD: Span = Span::from_millis(100);

/// How arrivals are spread over time: evenly, which says most about a rate; with objectives by chance, as many users
/// are.
pub fn arrivals(objectives: &[String]) -> &'static str {
    if objectives.is_empty() { "constant" } else { "poisson" }
}
