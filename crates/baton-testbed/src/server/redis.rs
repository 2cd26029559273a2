//! Redis, with its log of writes.

use super::recipe::{Recipe, ServerLocation};
use crate::error::TestbedError;
use crate::install::REDIS;

pub fn recipe(location: &ServerLocation<'_>) -> Result<Recipe, TestbedError> {
    let (port, folder) = (location.ports[0].number.to_string(), location.path(""));
    let flags = ["--port", &port, "--bind", "127.0.0.1", "--dir", &folder, "--save", ""];
    let flags = flags.into_iter().chain(["--appendonly", "yes"]);
    Ok(Recipe {
        program: REDIS.find()?,
        arguments: flags.map(str::to_owned).collect(),
        environment: Vec::new(),
        unprivileged: false,
    })
}
