//! Latencies as CSV, and as percentiles in the format of HdrHistogram.

use std::io::{self, Write};

use stats::Histogram;
use units::Span;

use crate::measure::phase::{Phase, Phases};

/// Lines between a percentile and that which half as many are above, as HdrHistogram's tools have it.
const LINES_PER_HALVING: u32 = 5;

/// One line for each interval of a phase that holds latencies: its upper end, how many there are in it, and the share
/// of all that is at or below it.
pub(super) fn csv(phases: &Phases, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "phase,latency_s,count,share")?;
    for phase in Phase::ALL {
        let histogram = phases.of(phase);
        let mut below = 0;
        for (latency, count) in histogram.counts_by_interval() {
            below += count;
            let share = below as f64 / histogram.count() as f64;
            let latency = latency.min(histogram.max()).as_secs_f64();
            writeln!(out, "{},{latency},{count},{share}", phase.name())?;
        }
    }
    Ok(())
}

/// As `outputPercentileDistribution` of HdrHistogram writes it, which wrk2 and its plotter use: latencies in milliseconds.
pub(super) fn hgrm(latencies: &Histogram, out: &mut impl Write) -> io::Result<()> {
    let millis = |span: Span| span.as_secs_f64() * 1e3;
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    for (latency, share, count) in latencies.percentiles(LINES_PER_HALVING) {
        write!(out, "{:12.3} {share:2.12} {count:10}", millis(latency))?;
        if share < 1.0 { writeln!(out, " {:14.2}", 1.0 / (1.0 - share)) } else { writeln!(out) }?;
    }
    writeln!(
        out,
        "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]",
        millis(latencies.mean()),
        millis(latencies.standard_deviation())
    )?;
    let (buckets, sub_buckets) = latencies.buckets();
    writeln!(
        out,
        "#[Max     = {:12.3}, Total count    = {:12}]",
        millis(latencies.max()),
        latencies.count()
    )?;
    writeln!(out, "#[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_csv_counts_every_latency() {
        let mut phases = Phases::default();
        (1..=1000).for_each(|millis| phases.of_mut(Phase::Total).record(Span::from_millis(millis)));
        phases.of_mut(Phase::Connect).record(Span::from_micros(50));
        let mut text = Vec::new();
        csv(&phases, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let mut total = lines.iter().filter(|line| line[0] == "total");
        assert_eq!(total.clone().map(|line| line[2].parse::<u64>().unwrap()).sum::<u64>(), 1000);
        assert_eq!(total.next_back().unwrap()[1..], ["1", "1", "1"]);
        assert_eq!(lines.last().unwrap()[..], ["connect", "0.00005", "1", "1"]);
    }

    #[test]
    fn percentiles_are_as_the_tools_of_hdr_histogram_read_them() {
        let mut histogram = Histogram::new();
        (1..=10_000).for_each(|micros| histogram.record(Span::from_micros(micros)));
        let mut text = Vec::new();
        hgrm(&histogram, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let rows = text.lines().skip(2).take_while(|line| !line.starts_with('#'));
        let rows: Vec<Vec<f64>> =
            rows.map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect()).collect();
        assert_eq!(rows[0][1], 0.0);
        for row in &rows {
            // The value, the share and the count agree.
            assert!(
                (row[0] / 10.0 - row[2] / 10_000.0).abs() < 1e-3 && row[2] / 10_000.0 >= row[1] - 1e-9,
                "{row:?}"
            );
        }
        assert_eq!(rows.last().unwrap()[..], [10.0, 1.0, 10_000.0]);
        assert!(text.contains("#[Max     =       10.000, Total count    =        10000]"), "{text}");
        assert!(text.contains("#[Mean    =        5.000, StdDeviation   =        2.88"), "{text}");
    }
}
