//! What `baton serve` removes: is what the `[[ttl]]` tables name there, can it be swept, and would
//! the plugins start with these settings?

use super::Finding;
use crate::config::{Config, TtlTable};
use crate::serve_plugins;

/// Looks at each in turn, and changes nothing.
pub async fn examine(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::with_capacity(config.ttl.len() + 1);
    if let Err(problem) = serve_plugins::own_records(config) {
        let remedy = "baton serve refuses to start with it: change or omit it";
        findings.push(Finding::fail("own-records", problem.to_string(), remedy));
    }
    for (at, table) in config.ttl.iter().enumerate() {
        findings.push(match look(at + 1, table, config).await {
            Ok(name) => Finding::ok("ttl", format!("{name} can be swept")),
            Err(problem) => {
                let remedy = "nothing of it is removed until this is mended";
                Finding::fail("ttl", problem, remedy)
            }
        });
    }
    findings
}

async fn look(number: usize, table: &TtlTable, config: &Config) -> Result<String, String> {
    let sweep = serve_plugins::swept(table, config).map_err(|problem| problem.to_string())?;
    let plugin = serve_plugins::ttl(number, table, sweep.clone());
    plugin.map_err(|problem| problem.to_string())?;
    let looked = sweep.examine().await;
    looked.map_err(|problem| format!("{}: {problem}", table.place))?;
    Ok(sweep.name().to_owned())
}
