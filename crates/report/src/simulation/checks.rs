//! What the paper says in words, held against what came out. In our words; each with the bound
//! that makes it a check.

use record::sweep::PointRow;

use super::model::Check;
use super::sweep::SweepData;
use crate::text::{number, percent, seconds};

/// All that can be checked with the sweeps that are known in full.
pub(super) fn all(known: &[SweepData]) -> Vec<Check> {
    let find =
        |name: &str| known.iter().find(|one| one.name == name && one.rows.len() == one.sweep.points.len());
    let (short, long) = (find("short-queues"), find("long-queues"));
    let (bursts, loads) = (find("trade-off"), find("trade-off-load"));
    let (cost, table) = (find("cost"), find("table-1"));
    [
        find("networks").and_then(networks),
        table.and_then(around_five),
        short.and_then(dynamic_pages),
        short.and_then(around_five_everywhere),
        short.and_then(bursts_cost),
        long.and_then(|long| below_one(long, find("from-empty"))),
        short.zip(long).and_then(|(short, long)| bursts_matter_less(short, long)),
        short.zip(long).and_then(|(short, long)| long_queues_are_slow(short, long)),
        bursts.and_then(|sweep| trade_off(sweep, "Figures 10 and 11")),
        bursts.and_then(rejecting_pays),
        loads.and_then(light_load),
        loads.and_then(ninety_five),
        cost.and_then(dear_pages),
        find("threads").and_then(threads),
        find("discipline").and_then(discipline),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn check(place: &str, statement: &str, holds: bool, evidence: String) -> Option<Check> {
    Some(Check { place: place.to_owned(), statement: statement.to_owned(), holds, evidence })
}

/// The point of a curve at a value of the swept parameter.
fn at(sweep: &SweepData, curve: usize, x: f64) -> Option<&PointRow> {
    let name = sweep.sweep.curves.get(curve)?;
    sweep.rows.iter().find(|row| *row.curve == **name && (row.x - x).abs() < 1e-9)
}

/// Values of the swept parameter, in rising order.
fn places(sweep: &SweepData) -> Vec<f64> {
    sweep.curves().next().map_or_else(Vec::new, |(_, rows)| rows.iter().map(|row| row.x).collect())
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// Rises from one to the next, but for what the intervals leave open.
fn rises(values: impl Iterator<Item = (f64, f64, f64)>) -> bool {
    let values: Vec<_> = values.collect();
    values.windows(2).all(|pair| pair[1].2 >= pair[0].1)
        && values.first().zip(values.last()).is_some_and(|(first, last)| last.0 > first.0)
}

fn mean(row: &PointRow) -> (f64, f64, f64) {
    (row.latency, row.latency_low, row.latency_high)
}

fn p90(row: &PointRow) -> (f64, f64, f64) {
    (row.p90, row.p90_low, row.p90_high)
}

fn networks(sweep: &SweepData) -> Option<Check> {
    let networks = sweep.sweep.networks.as_ref()?;
    let size = networks.sizes.iter().position(|size| (*size - 10_000.0).abs() < 1.0)?;
    let rate = |name: &str| networks.links.iter().find(|link| link.name.starts_with(name))?.rates.get(size);
    let (slow, fast) = (rate("T1")?, rate("T3")?);
    check(
        "Figure 1",
        "A network need only carry what the processor can serve: at 10 kB a T1 link limits a server of 200 static requests per second, a T3 link does not.",
        *slow < 200.0 && *fast > 200.0,
        format!("T1 carries {}/s, T3 {}/s", number(*slow), number(*fast)),
    )
}

fn around_five(sweep: &SweepData) -> Option<Check> {
    let rows: Vec<String> = sweep
        .rows
        .iter()
        .map(|row| {
            format!(
                "{}: {:.2} % ({:.2} to {:.2})",
                row.curve,
                row.rejected * 100.0,
                row.rejected_low * 100.0,
                row.rejected_high * 100.0
            )
        })
        .collect();
    let (low, high) = range(sweep.rows.iter().map(|row| row.rejected));
    check(
        "Table 1",
        "Queues of 0, 24, 66 and 120 reject around 5 % (3.5 to 6.5 %) at c_v 1 to 4.",
        low >= 0.035 && high <= 0.065,
        rows.join("; "),
    )
}

fn around_five_everywhere(sweep: &SweepData) -> Option<Check> {
    let (low, high) = range(sweep.rows.iter().map(|row| row.rejected));
    let least = sweep.rows.iter().min_by(|one, other| one.rejected.total_cmp(&other.rejected))?;
    let most = sweep.rows.iter().max_by(|one, other| one.rejected.total_cmp(&other.rejected))?;
    let words = |row: &PointRow| {
        format!("{:.2} % at {} dynamic ({})", row.rejected * 100.0, percent(row.x), row.curve)
    };
    check(
        "Figures 2, 3, 6 and 7",
        "With those queues the rejected share is around 5 % (3.5 to 6.5 %) whatever the share of dynamic pages.",
        low >= 0.035 && high <= 0.065,
        format!("from {} to {}", words(least), words(most)),
    )
}

fn dynamic_pages(sweep: &SweepData) -> Option<Check> {
    let holds = sweep
        .curves()
        .all(|(_, rows)| rises(rows.iter().map(|row| mean(row))) && rises(rows.iter().map(|row| p90(row))));
    let last = sweep.sweep.curves.len().checked_sub(1)?;
    let (few, many) = (at(sweep, last, 0.2)?, at(sweep, last, 0.4)?);
    check(
        "Figures 2 and 3",
        "The more dynamic pages, the longer everything takes, at the same load: mean and 90th percentile rise along every curve.",
        holds,
        format!(
            "at c_v 4 {} with 20 % dynamic pages, {} with 40 %",
            seconds(few.latency),
            seconds(many.latency)
        ),
    )
}

fn bursts_cost(sweep: &SweepData) -> Option<Check> {
    let curves = sweep.sweep.curves.len();
    let holds = places(sweep).into_iter().all(|x| {
        rises((0..curves).filter_map(|curve| at(sweep, curve, x)).map(mean))
            && rises((0..curves).filter_map(|curve| at(sweep, curve, x)).map(p90))
    });
    let (calm, wild) = (at(sweep, 0, 0.2)?, at(sweep, curves.checked_sub(1)?, 0.2)?);
    check(
        "Figures 6 and 7",
        "At the same rejected share, burstier arrivals mean longer latency, because they need longer queues.",
        holds,
        format!(
            "with 20 % dynamic pages {} at c_v 1, {} at c_v 4",
            seconds(calm.latency),
            seconds(wild.latency)
        ),
    )
}

fn most_rejected(sweep: &SweepData) -> Option<&PointRow> {
    sweep.rows.iter().max_by(|one, other| one.rejected.total_cmp(&other.rejected))
}

fn below_one(sweep: &SweepData, from_empty: Option<&SweepData>) -> Option<Check> {
    let most = most_rejected(sweep)?;
    let mut evidence =
        format!("at most {:.2} %, at {} dynamic and {}", most.rejected * 100.0, percent(most.x), most.curve);
    if let Some(known) = diffusion(most) {
        evidence += &format!(
            "; at full load it cannot be much less: (c_a² + c_s²) / 2K is {:.2} % there",
            known * 100.0
        );
    }
    if let Some(short) = from_empty.and_then(most_rejected) {
        evidence += &format!(
            "; runs of {} requests from an empty server on, whose queue is not full yet, reject {:.2} % at most",
            short.requests,
            short.rejected * 100.0
        );
    }
    check(
        "Figures 4, 5, 8 and 9",
        "A queue of 1000 rejects less than 1 % in all cases.",
        most.rejected < 0.01,
        evidence,
    )
}

/// What a server with room for K rejects at full load, as a diffusion between two barriers has it: `(c_a^2 + c_s^2) / 2K`
/// (Whitt, "Heavy-traffic limits for loss proportions in single-server queues", 2004).
fn diffusion(point: &PointRow) -> Option<f64> {
    let cv = |law: &str| law.split_once(':')?.1.parse::<f64>().ok();
    let (arrivals, service) = (cv(&point.arrivals)?, cv(&point.service)?);
    let (dynamic, cost) = (point.dynamic, point.dynamic_cost);
    let mean = 1.0 - dynamic + dynamic * cost;
    let square = (1.0 + service * service) * (1.0 - dynamic + dynamic * cost * cost);
    let room = f64::from(point.queue? + point.threads);
    Some((arrivals * arrivals + square / (mean * mean) - 1.0) / (2.0 * room))
}

fn bursts_matter_less(short: &SweepData, long: &SweepData) -> Option<Check> {
    let factor = |sweep: &SweepData, x: f64| {
        let last = sweep.sweep.curves.len().checked_sub(1)?;
        Some(at(sweep, last, x)?.latency / at(sweep, 0, x)?.latency)
    };
    let pairs: Vec<(f64, f64)> =
        places(long).into_iter().filter_map(|x| Some((factor(short, x)?, factor(long, x)?))).collect();
    let (s, l) = (factor(short, 0.2)?, factor(long, 0.2)?);
    check(
        "Figures 8 and 9",
        "With a queue of 1000, bursts affect mean latency much less (c_v 4 over c_v 1 at most half of what it is with short queues).",
        !pairs.is_empty() && pairs.iter().all(|(short, long)| *long <= short / 2.0),
        format!(
            "with 20 % dynamic pages {} times as long at c_v 4 as at c_v 1, {} times with short queues",
            number(l),
            number(s)
        ),
    )
}

fn long_queues_are_slow(short: &SweepData, long: &SweepData) -> Option<Check> {
    let factors: Vec<f64> = (0..long.sweep.curves.len())
        .filter_map(|curve| Some(at(long, curve, 0.2)?.latency / at(short, curve, 0.2)?.latency))
        .collect();
    let (low, _) = range(factors.iter().copied());
    let words: Vec<String> = factors.iter().map(|factor| number(*factor)).collect();
    check(
        "Figures 4, 5, 8 and 9",
        "To serve all but 1 % is very slow; to reject around 5 % makes latency several times shorter (at least 3).",
        low >= 3.0,
        format!("with 20 % dynamic pages {} times shorter at c_v 1 to 4", words.join(", ")),
    )
}

fn trade_off(sweep: &SweepData, place: &str) -> Option<Check> {
    let holds = sweep.curves().all(|(_, rows)| {
        rises(rows.iter().map(|row| mean(row)))
            && rises(rows.iter().rev().map(|row| (row.rejected, row.rejected_low, row.rejected_high)))
    });
    let last = sweep.curves().last()?.1;
    let (first, longest) = (last.first()?, last.last()?);
    check(
        place,
        "Longer queues reject less and cost latency, along every curve.",
        holds,
        format!(
            "at {} from {} rejected and {} to {} and {}",
            first.curve,
            percent(first.rejected),
            seconds(first.latency),
            percent(longest.rejected),
            seconds(longest.latency)
        ),
    )
}

/// Mean latency where so many are rejected, between the points of a curve.
fn latency_at(rows: &[&PointRow], rejected: f64) -> Option<f64> {
    rows.windows(2).find_map(|pair| {
        let (more, less) = (pair[0], pair[1]);
        let between = (less.rejected..=more.rejected).contains(&rejected);
        let along = (more.rejected - rejected) / (more.rejected - less.rejected);
        (between && along.is_finite()).then_some(more.latency + along * (less.latency - more.latency))
    })
}

fn rejecting_pays(sweep: &SweepData) -> Option<Check> {
    let pairs: Vec<(String, f64, f64)> = sweep
        .curves()
        .filter_map(|(name, rows)| {
            Some((name.to_owned(), latency_at(&rows, 0.01)?, latency_at(&rows, 0.05)?))
        })
        .collect();
    let words: Vec<String> = pairs
        .iter()
        .map(|(name, one, five)| format!("{name}: {} instead of {}", seconds(*five), seconds(*one)))
        .collect();
    check(
        "Figures 10 and 11",
        "On each curve, rejecting 5 % instead of 1 % at full load makes latency several times shorter (at least 3).",
        !pairs.is_empty() && pairs.iter().all(|(_, one, five)| one / five >= 3.0),
        words.join("; "),
    )
}

/// The points of the curve of a load.
fn of_load(sweep: &SweepData, load: f64) -> Option<Vec<&PointRow>> {
    sweep
        .curves()
        .map(|(_, rows)| rows)
        .find(|rows| rows.first().is_some_and(|row| (row.load - load).abs() < 1e-9))
}

fn light_load(sweep: &SweepData) -> Option<Check> {
    let light = of_load(sweep, 0.85)?;
    let (light, full) = (*light.last()?, *of_load(sweep, 1.0)?.last()?);
    check(
        "Figures 12 and 13",
        "Below r = 0.9 there is no problem: at 0.85 a queue of 1000 rejects less than 0.1 %, and latency is less than a fifth of that at full load.",
        light.rejected < 0.001 && light.latency < full.latency / 5.0,
        format!(
            "{:.3} % rejected; {} against {} at full load",
            light.rejected * 100.0,
            seconds(light.latency),
            seconds(full.latency)
        ),
    )
}

fn ninety_five(sweep: &SweepData) -> Option<Check> {
    let (rule, full) = (*of_load(sweep, 0.95)?.last()?, *of_load(sweep, 1.0)?.last()?);
    check(
        "Section 4",
        "Admitting 95 % of what the server can serve keeps latency low: with a queue of 1000, less than a third of that at full load.",
        rule.latency < full.latency / 3.0,
        format!("{} at r = 0.95, {} at r = 1", seconds(rule.latency), seconds(full.latency)),
    )
}

fn dear_pages(sweep: &SweepData) -> Option<Check> {
    let holds = sweep
        .curves()
        .all(|(_, rows)| rises(rows.iter().map(|row| mean(row))) && rises(rows.iter().map(|row| p90(row))));
    let last = sweep.sweep.curves.len().checked_sub(1)?;
    let (cheap, dear) = (at(sweep, last, 10.0)?, at(sweep, last, 100.0)?);
    check(
        "Figures 14 and 15",
        "The dearer a dynamic page, the longer everything takes, along every curve.",
        holds,
        format!("at c_v 4 {} at a cost of 10, {} at 100", seconds(cheap.latency), seconds(dear.latency)),
    )
}

fn threads(sweep: &SweepData) -> Option<Check> {
    let (_, rows) = sweep.curves().next()?;
    let near = |threads: f64| rows.iter().find(|row| (row.x - threads).abs() < 1e-9);
    let (few, many) = (near(5.0)?, near(50.0)?);
    let (low, high) = range(rows.iter().map(|row| row.rejected));
    check(
        "Section 2",
        "The number of threads makes no significant difference (rejected shares within a tenth of each other).",
        high / low <= 1.1,
        format!(
            "at c_v 4 and a queue of 120 {:.2} % rejected with 5 threads, {:.2} % with 50; mean latency {} and {}",
            few.rejected * 100.0,
            many.rejected * 100.0,
            seconds(few.latency),
            seconds(many.latency)
        ),
    )
}

fn discipline(sweep: &SweepData) -> Option<Check> {
    let (mut holds, mut words) = (true, Vec::new());
    for curve in 1..sweep.sweep.curves.len() {
        let (mut latency, mut rejected) = (0.0_f64, 0.0_f64);
        for x in places(sweep) {
            let (shared, turns) = (at(sweep, 0, x)?, at(sweep, curve, x)?);
            latency = latency.max((turns.latency / shared.latency - 1.0).abs());
            rejected = rejected.max((turns.rejected - shared.rejected).abs());
        }
        holds &= latency <= 0.1 && rejected <= 0.005;
        words.push(format!(
            "{}: latency off by {:.1} % at most, rejected share by {:.2} points",
            sweep.sweep.curves.get(curve)?,
            latency * 100.0,
            rejected * 100.0
        ));
    }
    check(
        "Section 2",
        "Round robin gives similar results with different time slices (mean latency within 10 %, rejected share within 0.5 points of processor sharing).",
        holds,
        words.join("; "),
    )
}
