//! etcd, as a cluster of one.

use super::recipe::{Recipe, ServerLocation};
use crate::error::TestbedError;
use crate::install::ETCD;

pub fn recipe(location: &ServerLocation<'_>) -> Result<Recipe, TestbedError> {
    let clients = format!("http://{}", location.ports[0].address());
    let peers = format!("http://{}", location.ports[1].address());
    let arguments = [
        "--name=t".to_owned(),
        format!("--data-dir={}", location.path("data")),
        format!("--listen-client-urls={clients}"),
        format!("--advertise-client-urls={clients}"),
        format!("--listen-peer-urls={peers}"),
        format!("--initial-advertise-peer-urls={peers}"),
        format!("--initial-cluster=t={peers}"),
    ];
    Ok(Recipe {
        program: ETCD.find()?,
        arguments: arguments.into(),
        environment: Vec::new(),
        unprivileged: false,
    })
}
