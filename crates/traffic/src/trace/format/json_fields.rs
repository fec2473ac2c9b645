//! What servers and people call the fields of an access log in JSON.

use super::gathered::{Moment, Role, Unit};

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Role(Role, u8),
    /// nginx's `$request_time`, or something of another server with that name.
    RequestTime,
    /// In seconds of Caddy, in nanoseconds of Traefik.
    Duration,
    Message,
    Logger,
    /// How long the gate had the request, from the time of the line.
    TotalOfGate,
}

/// The meaning of a name without its punctuation, in small letters, behind those of the objects that it is in:
/// `requesturi` is nginx's `request_uri` and Caddy's `uri` in `request`.
pub(super) fn known(name: &str) -> Option<Known> {
    let (role, rank) = match name {
        "msec" | "timelocal" | "timeiso8601" => (Role::Time(Moment::End), 0),
        "startutc" | "startlocal" | "start" | "starttime" | "requeststart" => (Role::Time(Moment::Begin), 0),
        "time" | "timestamp" | "ts" | "date" | "datetime" | "eventtime" => (Role::Time(Moment::Unknown), 0),
        "request" | "requestline" | "httprequest" | "req" => (Role::Line, 0),
        "requestmethod"
        | "method"
        | "httpmethod"
        | "httprequestmethod"
        | "httprequestrequestmethod"
        | "reqmethod"
        | "csmethod"
        | "verb" => (Role::Method, 0),
        "requesturi" => (Role::Target, 0),
        "requestpath" | "requesturl" | "requrl" | "urloriginal" | "httprequestrequesturl" => (Role::Path, 1),
        "url" | "uri" => (Role::Path, 2),
        "path" | "uripath" | "urlpath" | "csuristem" => (Role::Path, 3),
        "args" | "querystring" | "query" | "urlquery" | "csuriquery" => (Role::Query, 0),
        "httphost" | "requestaddr" | "requestheadershost" | "xhostheader" | "authority" => (Role::Host, 0),
        "requesthost" | "host" | "vhost" | "cshost" => (Role::Host, 1),
        "servername" | "virtualhost" | "domain" | "urldomain" => (Role::Host, 2),
        "requestbody" | "httprequestbody" | "httprequestbodycontent" | "reqbody" | "postdata" => {
            (Role::Body, 0)
        }
        "contenttype" | "httpcontenttype" | "requestcontenttype" | "requestheaderscontenttype" => {
            (Role::ContentType, 0)
        }
        "status"
        | "statuscode"
        | "httpstatus"
        | "httpstatuscode"
        | "httpresponsestatuscode"
        | "downstreamstatus"
        | "httprequeststatus"
        | "scstatus" => (Role::Status, 0),
        "responsestatus" | "responsestatuscode" | "responsecode" | "code" => (Role::Status, 1),
        "bodybytessent" | "bodybytes" | "downstreamcontentsize" | "httpresponsebodybytes" | "bytesout" => {
            (Role::Bytes, 0)
        }
        "size" | "responsesize" | "httprequestresponsesize" | "responsebytes" => (Role::Bytes, 1),
        "bytessent" | "sentbytes" | "bytes" | "scbytes" => (Role::Bytes, 2),
        "durationms" | "requesttimems" | "responsetimems" | "latencyms" | "elapsedms" => {
            (Role::Took(Unit::Millis), 0)
        }
        "durationus" | "requesttimeus" | "latencyus" | "elapsedus" => (Role::Took(Unit::Micros), 0),
        "durationns" | "latencyns" | "eventduration" => (Role::Took(Unit::Nanos), 0),
        "requesttime" => return Some(Known::RequestTime),
        "duration" => return Some(Known::Duration),
        "msg" => return Some(Known::Message),
        "logger" => return Some(Known::Logger),
        "timestotal" => return Some(Known::TotalOfGate),
        _ => return None,
    };
    Some(Known::Role(role, rank))
}
