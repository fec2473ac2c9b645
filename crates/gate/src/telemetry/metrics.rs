//! The gate's metrics as OTLP has them: the same that Prometheus reads.

use serde_json::{Value, json};

use super::value::{attribute, resource, scope, text, time};
use crate::admin::text::{Family, Kind, Sample, Text, Value as Measured};
use crate::stages::BOUNDS;

/// Totals since the start, by OTLP's number.
const CUMULATIVE: u8 = 2;

/// The body of a request to `/v1/metrics`; `began` and `now` are times since 1970 in nanoseconds.
pub(super) fn export(service: &str, metrics: &Text, began: i128, now: i128) -> Value {
    let metrics: Vec<Value> = metrics.families().iter().map(|family| of_family(family, began, now)).collect();
    json!({ "resourceMetrics": [{
        "resource": resource(service),
        "scopeMetrics": [{ "scope": scope(), "metrics": metrics }],
    }] })
}

fn of_family(family: &Family, began: i128, now: i128) -> Value {
    let points: Vec<Value> = family.samples.iter().map(|sample| of_sample(sample, began, now)).collect();
    let mut metric = json!({ "name": family.name, "description": family.help });
    if family.name.contains("_seconds") {
        metric["unit"] = json!("s");
    }
    match family.kind {
        Kind::Gauge => metric["gauge"] = json!({ "dataPoints": points }),
        Kind::Counter => {
            metric["sum"] =
                json!({ "dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true });
        }
        Kind::Histogram => {
            metric["histogram"] = json!({ "dataPoints": points, "aggregationTemporality": CUMULATIVE });
        }
    }
    metric
}

fn of_sample(sample: &Sample, began: i128, now: i128) -> Value {
    let attributes: Vec<Value> =
        sample.labels.iter().filter_map(|(name, value)| attribute(name, text(value.as_str()))).collect();
    let mut point =
        json!({ "attributes": attributes, "startTimeUnixNano": time(began), "timeUnixNano": time(now) });
    match &sample.value {
        Measured::Number(number) => point["asDouble"] = json!(number.parse::<f64>().unwrap_or_default()),
        Measured::Histogram(histogram) => {
            let buckets: Vec<String> = histogram.buckets.iter().map(u64::to_string).collect();
            point["count"] = json!(histogram.count().to_string());
            point["sum"] = json!(histogram.sum);
            point["bucketCounts"] = json!(buckets);
            point["explicitBounds"] = json!(BOUNDS);
        }
    }
    point
}
