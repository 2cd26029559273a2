//! ZooKeeper, alone.

use std::fs;

use super::recipe::{Recipe, ServerLocation};
use crate::error::{ErrorContext, TestbedError};
use crate::install::{JAVA, ZOOKEEPER};

pub fn recipe(location: &ServerLocation<'_>) -> Result<Recipe, TestbedError> {
    let library = ZOOKEEPER.find()?;
    let settings = [
        "tickTime=500".to_owned(),
        format!("dataDir={}", location.path("data")),
        format!("clientPort={}", location.ports[0].number),
        "clientPortAddress=127.0.0.1".to_owned(),
        "admin.enableServer=false".to_owned(),
        "4lw.commands.whitelist=srvr".to_owned(),
        "maxSessionTimeout=40000".to_owned(),
    ];
    let file = location.folder.join("zoo.cfg");
    let written = fs::write(&file, settings.join("\n"));
    written.context(|| format!("writing {}", file.display()))?;
    let arguments = [
        "-Xmx256m".to_owned(),
        "-cp".to_owned(),
        library.display().to_string(),
        "org.apache.zookeeper.server.quorum.QuorumPeerMain".to_owned(),
        file.display().to_string(),
    ];
    Ok(Recipe {
        program: JAVA.find()?,
        arguments: arguments.into(),
        environment: Vec::new(),
        unprivileged: false,
    })
}
