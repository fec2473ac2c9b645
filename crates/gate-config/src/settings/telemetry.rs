//! `[telemetry]`: traces and metrics for OpenTelemetry.

use std::time::Duration;

use config::{Error, Place, Source, Spanned, quantity};
use schemars::JsonSchema;
use serde::Deserialize;
use telemetry::otlp;
use units::{Ratio, Span};

/// The table as people write it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TelemetryFile {
    /// Of an OpenTelemetry collector.
    endpoint: Option<Spanned<String>>,
    /// What this gate is called there.
    service: Option<String>,
    /// Of the requests, how many are recorded.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Ratio>>")]
    sample: Option<Ratio>,
    /// Whether a client decides that its request is recorded.
    follow: Option<bool>,
    /// Between two transmissions of the metrics.
    #[serde(default, with = "quantity::optional")]
    #[schemars(with = "Option<config::Quantity<Span>>")]
    interval: Option<Span>,
}

/// Traces and metrics for OpenTelemetry.
#[derive(Debug, Clone, PartialEq)]
pub struct Telemetry {
    /// Where they are sent, if anywhere.
    pub collector: Option<Collector>,
    /// Of the requests, how many are recorded.
    pub sample: Ratio,
    /// Whether a client that says that it records its request has it recorded here too.
    pub follow: bool,
    /// Between two transmissions of the metrics.
    pub interval: Duration,
}

/// Where they are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    /// The collector's address.
    pub at: otlp::Collector,
    /// Where that is said.
    pub written: Place,
    /// What the gate is called there.
    pub service: String,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self {
            collector: None,
            sample: Ratio::clamped(0.01),
            follow: false,
            interval: Duration::from_secs(10),
        }
    }
}

pub(super) fn resolve(source: &Source, file: &TelemetryFile) -> Result<Telemetry, Error> {
    let mut telemetry = Telemetry::default();
    telemetry.sample = file.sample.unwrap_or(telemetry.sample);
    telemetry.follow = file.follow.unwrap_or(telemetry.follow);
    telemetry.interval = file.interval.map_or(telemetry.interval, Duration::from);
    if telemetry.interval < Duration::from_secs(1) {
        let error = source.missing("telemetry's interval is shorter than a second");
        return Err(error.mend("give at least \"1s\""));
    }
    if let Some(endpoint) = &file.endpoint {
        let service = file.service.clone().unwrap_or_else(|| "headworks-gate".to_owned());
        let at = otlp::Collector::at(endpoint.get_ref()).ok_or_else(|| {
            source
                .error(endpoint.span(), format!("\"{}\" is no collector's address", endpoint.get_ref()))
                .mend("give http:// with host and port, for example \"http://127.0.0.1:4318\"")
        })?;
        telemetry.collector = Some(Collector { at, written: source.place(endpoint.span()), service });
    }
    Ok(telemetry)
}

impl Telemetry {
    /// What `gate check` says.
    pub(super) fn describe(&self) -> (&'static str, String) {
        let Some(Collector { at, service, .. }) = &self.collector else {
            return ("telemetry", "none".to_owned());
        };
        let follow = if self.follow { ", and what clients record" } else { "" };
        let what =
            format!("{} of the requests{follow}, metrics every {}", self.sample, Span::from(self.interval));
        ("telemetry", format!("{what}, to {at} as {service}"))
    }
}
