//! [`TemplateError`]: why a text is not a format of a log.

/// Why a text is not a format of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Neither a name nor a format.
    #[error(
        "{0:?} is no format of a log; write common, combined, json, w3c, cloudfront, alb, elb, haproxy, or a format as in nginx's log_format or Apache's LogFormat"
    )]
    Unknown(String),
    /// It has no time.
    #[error("the format has no time; nginx has $time_local, $time_iso8601 and $msec for it, Apache %t")]
    NoTime,
    /// It has no request.
    #[error(
        "the format has no request; nginx has \"$request\", or $request_method and $request_uri, for it, Apache \"%r\", or %m and %U%q"
    )]
    NoRequest,
    /// Something in it is not as its server has it.
    #[error("the format has {0:?}, which is no field of Apache's")]
    Field(String),
    /// It is too long to be looked for.
    #[error("the format has too many fields")]
    TooLong,
}
