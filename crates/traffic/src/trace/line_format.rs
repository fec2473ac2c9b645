//! [`LineFormat`]: what a line was read as.

use std::fmt;

/// What a line was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineFormat {
    /// The common or the combined log format, or what resembles them.
    Common,
    /// An object of JSON.
    Json,
    /// The extended log file format of the W3C, as IIS writes it.
    W3c,
    /// A standard log of CloudFront.
    CloudFront,
    /// AWS's load balancer for applications.
    Alb,
    /// AWS's classic load balancer.
    Elb,
    /// HAProxy's HTTP log.
    Haproxy,
    /// As the user says.
    Given,
}

impl fmt::Display for LineFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Common => "common log format",
            Self::Json => "JSON",
            Self::W3c => "W3C extended",
            Self::CloudFront => "CloudFront",
            Self::Alb => "ALB",
            Self::Elb => "classic ELB",
            Self::Haproxy => "HAProxy",
            Self::Given => "the format given",
        })
    }
}
