//! What a client is told when something went wrong, in the form that it reads best.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};

use crate::dispatch::active_config::ActiveConfig;
use crate::dispatch::refusal_page;
use crate::dispatch::response_body::{Busy, Reply};
use gate_config::settings::page::Form;

/// Tells what went wrong, `why` being a line of text. `accept` is what the client says that it reads.
pub(crate) fn explain(
    config: &ActiveConfig,
    busy: Busy,
    accept: Option<&HeaderValue>,
    status: StatusCode,
    why: &'static str,
) -> Response<Reply> {
    let form = refusal_page::form(accept);
    let body = match config.settings.pages.own(status, form) {
        Some(own) => own.clone(),
        None => words(form, status, why),
    };
    let mut response = Response::new(Reply::whole(busy, body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(form.content_type()));
    // 414 and 501 would be kept by caches that are told nothing (RFC 9110 section 15.1).
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from(config.settings.reject.retry_after.0));
    }
    if status.is_client_error() || status == StatusCode::NOT_IMPLEMENTED {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn words(form: Form, status: StatusCode, why: &'static str) -> Bytes {
    let title = status.canonical_reason().unwrap_or("Error");
    let detail = why.trim_end();
    match form {
        Form::Text => Bytes::from_static(why.as_bytes()),
        // Nothing in titles and reasons has a meaning in HTML.
        Form::Page => Bytes::from(format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><h1>{title}</h1><p>{detail}\n"
        )),
        // Problem details (RFC 9457).
        Form::Problem => {
            let problem = serde_json::json!({
                "type": "about:blank",
                "title": title,
                "status": status.as_u16(),
                "detail": detail,
            });
            Bytes::from(problem.to_string() + "\n")
        }
    }
}
