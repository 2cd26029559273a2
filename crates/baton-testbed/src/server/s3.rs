//! Servers that speak S3.

use std::io;
use std::net::SocketAddr;

use rustix::process::Signal;

use super::ready::http;
use super::recipe::{Recipe, Site};
use crate::error::{TestbedError, Tried};
use crate::install::from_pypi;

/// The version that the tests were written with.
const MINISTACK: &str = "1.5.33";

/// Keeps its objects in files, so that they are there after `kill -9`.
pub fn ministack(site: &Site<'_>) -> Result<Recipe, TestbedError> {
    let environment = vec![
        ("BIND_HOST", "127.0.0.1".to_owned()),
        ("GATEWAY_PORT", site.ports[0].number.to_string()),
        ("SERVICES", "s3".to_owned()),
        ("PERSIST_STATE", "1".to_owned()),
        ("STATE_DIR", site.path("state")),
        ("S3_PERSIST", "1".to_owned()),
        ("S3_DATA_DIR", site.path("s3")),
    ];
    Ok(Recipe {
        program: from_pypi("ministack", MINISTACK, "ministack")?,
        arguments: Vec::new(),
        environment,
        unprivileged: false,
        end: Signal::TERM,
    })
}

/// Makes the bucket that the URL names; it may be there already.
pub async fn make_bucket(address: SocketAddr) -> Result<(), TestbedError> {
    let what = || format!("making the bucket at {address}");
    let answer = http(address, "PUT", "/baton").await.tried(what)?;
    let status = answer.lines().next().unwrap_or_default();
    if status.contains(" 200 ") || status.contains(" 409 ") {
        return Ok(());
    }
    Err(io::Error::other(format!("it answered {status}"))).tried(what)
}
