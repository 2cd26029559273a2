//! What `[[ttl]]` tables of the file name: is it there, and can it be swept?

use super::Finding;
use crate::config::{Config, TtlTable};
use crate::housekeeping;

/// Looks at each in turn, and changes nothing.
pub async fn examine(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::with_capacity(config.ttl.len());
    for table in &config.ttl {
        findings.push(match look(table, config).await {
            Ok(name) => Finding::ok("ttl", format!("{name} can be swept")),
            Err(problem) => {
                let remedy = "nothing of it is removed until this is mended";
                Finding::fail("ttl", problem, remedy)
            }
        });
    }
    findings
}

async fn look(table: &TtlTable, config: &Config) -> Result<String, String> {
    let sweep = housekeeping::swept(table, config).map_err(|problem| problem.to_string())?;
    let looked = sweep.examine().await;
    looked.map_err(|problem| format!("{}: {problem}", table.place))?;
    Ok(sweep.name().to_owned())
}
