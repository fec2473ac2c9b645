//! Metrics as OTLP has them: those that Prometheus reads.

use serde_json::{Value, json};

use super::value::{attribute, integer, resource, scope, text, time};
use catalogue::Kind;

use crate::{Family, Metrics, Sample, Value as Measured};

/// OTLP's number for totals since the start.
const CUMULATIVE: u8 = 2;

/// The body of a request to `/v1/metrics` from `service`'s part `name`; `began` and `now` are times since
/// 1970 in nanoseconds.
pub fn metrics(service: &str, name: &str, metrics: &Metrics, began: i128, now: i128) -> Value {
    let metrics: Vec<Value> = metrics.families().iter().map(|family| of_family(family, began, now)).collect();
    json!({ "resourceMetrics": [{
        "resource": resource(service),
        "scopeMetrics": [{ "scope": scope(name), "metrics": metrics }],
    }] })
}

fn of_family(family: &Family, began: i128, now: i128) -> Value {
    let points: Vec<Value> =
        family.samples.iter().map(|sample| of_sample(family, sample, began, now)).collect();
    let name = family.metric.convention().unwrap_or(&family.name);
    let mut metric = json!({ "name": name, "description": family.help });
    // Of a unit that the name does not say, exporters for Prometheus would make another name.
    if let Some(code) = family.metric.unit_in_name().and_then(|unit| unit.code()) {
        metric["unit"] = json!(code);
    }
    match family.metric.exposed_kind() {
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

fn of_sample(family: &Family, sample: &Sample, began: i128, now: i128) -> Value {
    let labels = family.metric.labels().iter().zip(&sample.labels);
    let is_convention = family.metric.convention().is_some();
    let attributes: Vec<Value> = labels
        .filter_map(|(name, value)| match value.parse::<u16>() {
            // The convention's name, which is of one port.
            Ok(port) if is_convention && *name == "port" => attribute("server.port", integer(port.into())),
            _ => attribute(name, text(value.as_str())),
        })
        .collect();
    let mut point =
        json!({ "attributes": attributes, "startTimeUnixNano": time(began), "timeUnixNano": time(now) });
    match &sample.value {
        Measured::Number(number) => point["asDouble"] = json!(number.as_f64()),
        Measured::Histogram(histogram) => {
            let counts: Vec<String> = histogram.counts.iter().map(u64::to_string).collect();
            point["count"] = json!(histogram.count().to_string());
            point["sum"] = json!(histogram.sum);
            point["bucketCounts"] = json!(counts);
            point["explicitBounds"] = json!(histogram.bounds);
        }
    }
    point
}

#[cfg(test)]
mod tests {
    use catalogue::gate;
    use catalogue::watch::own;

    use super::*;
    use crate::Buckets;

    #[test]
    fn a_metric_goes_by_the_name_of_the_convention() {
        let mut gathered = Metrics::default();
        let buckets = Buckets { bounds: &[0.1], counts: vec![1, 2], sum: 3.5 };
        gathered.family(own::DURATION).buckets(&["nginx", "80", "a"], buckets);
        gathered.family(gate::PRESSURE).sample(&[], 0.25);
        let sent = metrics("shop", "headworks.test", &gathered, 1, 2);
        let of = |at: usize| &sent["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][at];
        assert_eq!(of(0)["name"], "http.server.request.duration");
        assert_eq!(of(0)["unit"], "s");
        let point = &of(0)["histogram"]["dataPoints"][0];
        assert_eq!((&point["count"], &point["sum"]), (&json!("3"), &json!(3.5)));
        assert_eq!(point["bucketCounts"], json!(["1", "2"]));
        assert_eq!(point["attributes"][1], json!({ "key": "server.port", "value": { "intValue": "80" } }));
        assert_eq!(point["attributes"][2], json!({ "key": "class", "value": { "stringValue": "a" } }));
        assert_eq!(of(1)["gauge"]["dataPoints"][0]["asDouble"], 0.25);
        assert_eq!(of(1)["gauge"]["dataPoints"][0]["timeUnixNano"], "2");
    }
}
