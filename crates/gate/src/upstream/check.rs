//! Checks: the gate asks each server at intervals how it is.

use std::rc::Rc;

use http::header::{CONNECTION, HOST, USER_AGENT};
use http::{HeaderValue, Request, StatusCode};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::runtime::log::say;
use crate::upstream::body::Body;
use crate::upstream::connect;
use crate::upstream::failure::Failure;
use crate::upstream::http1::exclusive::Exclusive;
use crate::upstream::http2::{Shared, Stream, Use};
use crate::upstream::pool::Pool;
use crate::upstream::server::Server;
use crate::upstream::target;
use gate_config::settings::upstream::{Check, Http};

const AGENT: HeaderValue = HeaderValue::from_static("headworks-check");

/// Checks the servers for as long as the gate runs.
pub(crate) async fn check(pool: Rc<Pool>) {
    loop {
        // Dropped, it ends its tasks.
        let mut checks = JoinSet::new();
        let rules = pool.settings().check.clone();
        if let Some(rules) = rules {
            let servers = pool.servers().to_vec();
            let apart = rules.interval / u32::try_from(servers.len().max(1)).unwrap_or(u32::MAX);
            for (index, server) in (0..).zip(servers) {
                let (pool, rules) = (Rc::clone(&pool), rules.clone());
                checks.spawn_local(async move {
                    sleep(apart * index).await;
                    loop {
                        ask(&pool, &server, &rules).await;
                        sleep(rules.interval).await;
                    }
                });
            }
        }
        pool.changed.notified().await;
    }
}

async fn ask(pool: &Pool, server: &Server, rules: &Check) {
    let result = match timeout(rules.timeout, status(pool, server, rules)).await {
        Ok(Ok(status)) if (rules.status.0..=rules.status.1).contains(&status.as_u16()) => Ok(()),
        Ok(Ok(status)) => Err(format!("status {}", status.as_u16())),
        Ok(Err(failure)) => Err(failure.to_string()),
        Err(_) => Err(format!("no answer in {:?}", rules.timeout)),
    };
    if server.health.checked(result.is_ok(), rules) {
        pool.reckon();
        let address = server.address();
        match result {
            Ok(()) => say!("upstream {address}: well again, says {}", rules.path),
            Err(why) => say!("upstream {address}: ill, {} gives {why}", rules.path),
        }
    }
}

/// Over a connection of its own: whether the server still takes any is part of the question.
async fn status(pool: &Pool, server: &Server, rules: &Check) -> Result<StatusCode, Failure> {
    let mut request = Request::new(Body::EMPTY);
    *request.uri_mut() = rules.path.clone().into();
    let host = rules.host.clone().or_else(|| HeaderValue::from_str(&server.endpoint.name).ok());
    let headers = request.headers_mut();
    headers.insert(HOST, host.unwrap_or_else(|| HeaderValue::from_static("localhost")));
    headers.insert(USER_AGENT, AGENT);
    match server.endpoint.http {
        Http::One => {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
            let connection = connect::open(pool, server).await?;
            // The time for all of the check began before, and ends first.
            let asked = Exclusive::ask(connection, &request, rules.timeout, pool.limits(), None).await;
            Ok(asked.map_err(Failure::from)?.0.status())
        }
        Http::Two => {
            target::for_http2(&mut request, server.endpoint.tls.is_some()).map_err(Failure::Host)?;
            let transport = connect::connect(pool, server).await?;
            let now = pool.clock().last();
            let shared = Shared::open(transport, pool.limits().head, now, pool.opened()).await?;
            let asked = Stream::on(&shared, Use::Alone, now).ask(request, None).await;
            Ok(asked.map_err(|(why, _)| why)?.0.status())
        }
    }
}
