//! The gate under servers of other makers: what holds with each of them.
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod calm;
mod classes;
mod descriptors;
mod endings;
mod hostile;
mod kept;
mod limits;
mod properties;
mod servers;
mod slow;
mod started;

use servers::Server;

#[test]
fn nginx() {
    properties::hold(&Server::nginx(1, ""));
}

#[test]
fn nginx_with_four_workers() {
    properties::hold(&Server::nginx(4, ""));
}

#[test]
fn nginx_with_workers_that_accept_in_turn() {
    properties::hold(&Server::nginx(2, "accept_mutex on;"));
}

#[test]
fn nginx_with_a_listener_for_each_worker() {
    properties::hold(&Server::nginx_that_listens(4, "", "reuseport"));
}

#[test]
fn php_behind_nginx() {
    properties::hold(&Server::php_behind_nginx());
}

#[test]
fn php_behind_apache() {
    properties::hold(&Server::php_behind_apache());
}

#[test]
fn uwsgi() {
    properties::hold(&Server::uwsgi());
}

#[test]
fn uvicorn_with_uvloop() {
    properties::hold(&Server::uvicorn("uvloop"));
}

#[test]
fn newest_node() {
    properties::hold(&Server::newest_node());
}

#[test]
fn apache_of_processes() {
    properties::hold(&Server::apache("prefork"));
}

#[test]
fn apache_of_threads() {
    properties::hold(&Server::apache("worker"));
}

#[test]
fn apache_of_events() {
    properties::hold(&Server::apache("event"));
}

#[test]
fn node() {
    properties::hold(&Server::node("node"));
}

#[test]
fn python_with_a_thread_for_each_connection() {
    properties::hold(&Server::python());
}

#[test]
fn lighttpd() {
    properties::hold(&Server::lighttpd());
}

#[test]
fn gunicorn_of_processes() {
    properties::hold(&Server::gunicorn("sync"));
}

#[test]
fn gunicorn_of_threads() {
    properties::hold(&Server::gunicorn("gthread"));
}

#[test]
fn uvicorn() {
    properties::hold(&Server::uvicorn("asyncio"));
}

#[test]
fn a_program_with_musl() {
    properties::hold(&Server::of_musl());
}

#[test]
fn java() {
    properties::hold(&Server::java());
}
