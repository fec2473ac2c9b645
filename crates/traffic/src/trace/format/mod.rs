//! Formats of access logs: [`Format`] is what a user says of one, [`Parser`] reads lines of any.
//!
//! Each module reads one of them into an [`Entry`](super::entry::Entry), whose request is as the log has it. Fields that
//! are known by their names go through [`gathered::Gathered`].

mod common;
mod docker;
mod fields;
mod gathered;
mod json;
mod json_fields;
mod load_balancer;
mod parser;
mod template;
mod variables;
mod w3c;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub(super) use self::parser::Parser;
use self::template::Template;
pub use self::template::TemplateError;

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

/// The format of a log, where it is not to be recognised from its lines.
///
/// As text it is a name (`common`, `combined`, `json`, `w3c`, `cloudfront`, `alb`, `elb`, `haproxy`), or a format as in
/// the configuration of nginx or Apache:
///
/// ```
/// use traffic::trace::{AccessLog, Format};
///
/// let format: Format = r#"$remote_addr [$time_local] $request_time "$request" $status"#.parse()?;
/// let log = "192.0.2.1 [10/Oct/2000:13:55:36 +0000] 2.000 \"GET /a HTTP/1.1\" 200\n";
/// let trace = AccessLog::default().with_format(format).parse("log".as_ref(), log.as_bytes())?;
/// assert_eq!(&*trace.objects[0].url, "/a");
/// assert!("$remote_addr $status".parse::<Format>().unwrap_err().to_string().contains("has no time"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Format(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Named(LineFormat),
    Template(Arc<Template>),
}

impl FromStr for Format {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let named = match text {
            "common" | "combined" => Some(LineFormat::Common),
            "json" => Some(LineFormat::Json),
            "w3c" => Some(LineFormat::W3c),
            "cloudfront" => Some(LineFormat::CloudFront),
            "alb" => Some(LineFormat::Alb),
            "elb" => Some(LineFormat::Elb),
            "haproxy" => Some(LineFormat::Haproxy),
            _ => None,
        };
        Ok(Self(match named {
            Some(name) => Kind::Named(name),
            None => Kind::Template(Arc::new(Template::new(text)?)),
        }))
    }
}
