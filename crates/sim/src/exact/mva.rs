//! Exact mean value analysis of closed networks (Reiser and Lavenberg, "Mean-value analysis of closed
//! multichain queuing networks", 1980).

/// Somewhere a request needs time.
#[derive(Debug, Clone, PartialEq)]
pub struct Center {
    /// What it is called.
    pub name: String,
    /// What a request of each class needs of it, all visits together, in seconds.
    pub demands: Vec<f64>,
    /// Whether requests do not hinder one another here.
    pub delay: bool,
}

/// Clients of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Population {
    /// How many.
    pub clients: u32,
    /// How long one thinks between two requests, in seconds.
    pub think: f64,
}

/// What a closed network does in the long run.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// Requests per second of each class.
    pub throughput: Vec<f64>,
    /// The time that a request of each class takes, without thinking, in seconds.
    pub latency: Vec<f64>,
    /// The share of time in which each centre works; requests present, at a delay.
    pub utilization: Vec<f64>,
    /// Requests present at each centre.
    pub present: Vec<f64>,
}

/// Populations times centres at most: a second's work.
const MOST_STEPS: u64 = 50_000_000;

/// Solves a closed network. `None` when populations are so many that it would take too long.
pub fn mva(centers: &[Center], classes: &[Population]) -> Option<Closed> {
    let sizes: Vec<usize> = classes.iter().map(|class| class.clients as usize + 1).collect();
    let count = sizes.iter().try_fold(1_u64, |product, size| product.checked_mul(*size as u64))?;
    if count.checked_mul(centers.len().max(1) as u64)? > MOST_STEPS {
        return None;
    }
    let count = usize::try_from(count).ok()?;
    // How far apart two populations are in the list that differ by one client of a class.
    let strides: Vec<usize> = (0..sizes.len()).map(|class| sizes[..class].iter().product()).collect();
    let mut present = vec![0.0; count * centers.len()];
    let mut result = Closed {
        throughput: vec![0.0; classes.len()],
        latency: vec![0.0; classes.len()],
        utilization: vec![0.0; centers.len()],
        present: vec![0.0; centers.len()],
    };
    for index in 1..count {
        let (mut throughput, mut latency) = (vec![0.0; classes.len()], vec![0.0; classes.len()]);
        for (class, population) in classes.iter().enumerate() {
            let clients = index / strides[class] % sizes[class];
            if clients == 0 {
                continue;
            }
            let without = (index - strides[class]) * centers.len();
            let stays =
                centers.iter().enumerate().map(|(at, center)| stay(center, class, present[without + at]));
            let stays: Vec<f64> = stays.collect();
            latency[class] = stays.iter().sum();
            throughput[class] = clients as f64 / (population.think + latency[class]);
            for (at, stay) in stays.iter().enumerate() {
                present[index * centers.len() + at] += throughput[class] * stay;
            }
        }
        if index == count - 1 {
            (result.throughput, result.latency) = (throughput, latency);
        }
    }
    let last = (count - 1) * centers.len();
    result.present.copy_from_slice(&present[last..]);
    for (center, utilization) in centers.iter().zip(&mut result.utilization) {
        *utilization =
            result.throughput.iter().zip(&center.demands).map(|(rate, demand)| rate * demand).sum();
    }
    Some(result)
}

/// How long a request is at a centre that has so many on average when it comes.
fn stay(center: &Center, class: usize, present: f64) -> f64 {
    let demand = center.demands.get(class).copied().unwrap_or(0.0);
    if center.delay { demand } else { demand * (1.0 + present) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn center(name: &str, demands: &[f64]) -> Center {
        Center { name: name.to_owned(), demands: demands.to_vec(), delay: false }
    }

    #[test]
    fn one_centre_and_thinking_is_a_machine_repair_model() {
        // M/M/1//N with 3 clients, think time 1, service 0.5: p0 = 1 / (1 + 1.5 + 1.5 + 0.75).
        let closed = mva(&[center("cpu", &[0.5])], &[Population { clients: 3, think: 1.0 }]).unwrap();
        let utilization = 1.0 - 1.0 / 4.75;
        assert!((closed.utilization[0] - utilization).abs() < 1e-12);
        assert!((closed.throughput[0] - utilization / 0.5).abs() < 1e-12);
    }

    #[test]
    fn classes_that_are_alike_are_one() {
        let one = mva(
            &[center("cpu", &[0.01]), center("disk", &[0.03])],
            &[Population { clients: 10, think: 0.2 }],
        )
        .unwrap();
        let both = mva(
            &[center("cpu", &[0.01, 0.01]), center("disk", &[0.03, 0.03])],
            &[Population { clients: 4, think: 0.2 }, Population { clients: 6, think: 0.2 }],
        )
        .unwrap();
        assert!((both.throughput.iter().sum::<f64>() / one.throughput[0] - 1.0).abs() < 1e-12);
        assert!((both.latency[1] / one.latency[0] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn too_many_populations_are_refused() {
        let crowds = [Population { clients: 10_000, think: 1.0 }; 3];
        assert_eq!(mva(&[center("cpu", &[1.0; 3])], &crowds), None);
    }
}
