//! etcd, as a cluster of one.

use super::recipe::{Recipe, Site};
use crate::error::TestbedError;
use crate::install::ETCD;

pub fn recipe(site: &Site<'_>) -> Result<Recipe, TestbedError> {
    let clients = format!("http://{}", site.ports[0].address());
    let peers = format!("http://{}", site.ports[1].address());
    let arguments = [
        "--name=t".to_owned(),
        format!("--data-dir={}", site.path("data")),
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
