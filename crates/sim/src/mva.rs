//! Exact mean value analysis of closed networks (Reiser and Lavenberg, "Mean-value analysis of closed
//! multichain queuing networks", 1980), of one class.

/// What a closed network does in the long run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Closed {
    /// Requests per second.
    pub(crate) throughput: f64,
    /// The time that a request takes, without thinking, in seconds.
    pub(crate) latency: f64,
}

/// Solves a network of centres of which a request needs so many seconds each, all visits together, and of
/// `clients` that think for `think` seconds between two requests.
pub(crate) fn mva(demands: &[f64], clients: u32, think: f64) -> Closed {
    let mut present = vec![0.0; demands.len()];
    let mut closed = Closed { throughput: 0.0, latency: 0.0 };
    for clients in 1..=clients {
        // A request meets what there is on average with one client less.
        let stays: Vec<f64> =
            demands.iter().zip(&present).map(|(demand, present)| demand * (1.0 + present)).collect();
        closed.latency = stays.iter().sum();
        closed.throughput = f64::from(clients) / (think + closed.latency);
        for (present, stay) in present.iter_mut().zip(stays) {
            *present = closed.throughput * stay;
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_centre_and_thinking_is_a_machine_repair_model() {
        // M/M/1//N with 3 clients, think time 1, service 0.5: p0 = 1 / (1 + 1.5 + 1.5 + 0.75).
        let closed = mva(&[0.5], 3, 1.0);
        let utilization = 1.0 - 1.0 / 4.75;
        assert!((closed.throughput - utilization / 0.5).abs() < 1e-12);
        assert!((closed.throughput * (1.0 + closed.latency) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_slowest_centre_is_the_limit() {
        let closed = mva(&[0.01, 0.03], 1000, 0.2);
        assert!((closed.throughput * 0.03 - 1.0).abs() < 1e-9);
    }
}
