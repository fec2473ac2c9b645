//! [`Format`]: the format that a user says that a log has.

use std::str::FromStr;
use std::sync::Arc;

use super::template::Template;
use super::template_error::TemplateError;
use crate::trace::line_format::LineFormat;

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
pub struct Format(pub(super) Kind);

#[derive(Debug, Clone)]
pub(super) enum Kind {
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
