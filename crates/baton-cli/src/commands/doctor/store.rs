//! The store: its declared capabilities, and trials of them.

use std::sync::Arc;
use std::time::Duration;

use baton_store::{Capability, Class, Declaration, ExpiryClock, FindingLevel, Store};

use super::trial::Trial;
use super::{Finding, file};
use crate::config::Config;
use crate::error::CommandError;
use crate::open_store;

/// Checks the configured store.
pub async fn examine(config: &Config) -> Vec<Finding> {
    let store = match open_store::open_existing(&config.store).await {
        Ok(store) => store,
        Err(absent @ CommandError::NoDatabase { .. }) => {
            let remedy = "start a node, then run doctor again";
            return vec![Finding::warn("store", absent.to_string(), remedy)];
        }
        Err(problem) => {
            let remedy = "nothing works without a store: fix this first";
            return vec![Finding::fail("store", problem.to_string(), remedy)];
        }
    };
    let mut findings = declared(&store.declaration());
    findings.extend(config.store.file().into_iter().flat_map(file::examine));
    let server = store.examine().await;
    findings.extend(server.unwrap_or_else(|problem| vec![failed("server", &problem)]));
    findings.extend(tried(store, config.settings.request_timeout).await);
    findings
}

fn declared(declaration: &Declaration) -> Vec<Finding> {
    let Declaration { name, class, expiry, .. } = declaration;
    let judged = match expiry {
        ExpiryClock::Store => "leases end by its clock",
        ExpiryClock::StoreLease => "leases are those of the store",
        ExpiryClock::Observer => "leases end by the clocks of the nodes",
    };
    let class = match class {
        Class::Linearizable => Finding::ok("store", format!("{name}, linearizable; {judged}")),
        Class::SingleServer => Finding::ok("store", format!("{name}, one server; {judged}")),
        Class::AsyncReplicated if declaration.has(Capability::Lineage) => {
            let class = "replicas may lag, and a failover is detected";
            Finding::ok("store", format!("{name}, {class}; {judged}"))
        }
        Class::AsyncReplicated => Finding::warn(
            "store",
            format!("{name}, replicas may lag; {judged}"),
            "a failover may lose the last writes: see docs/stores.md",
        ),
    };
    let list: Vec<String> = declaration.capabilities.iter().map(ToString::to_string).collect();
    let supported =
        if list.is_empty() { "the required operations alone" } else { &list.join(", ") };
    vec![class, Finding::ok("can", format!("supports {supported}"))]
}

/// Something of the store could not be looked at or tried.
pub(super) fn failed(check: &'static str, problem: &impl ToString) -> Finding {
    Finding::fail(check, problem.to_string(), "fix the error of the store, then run doctor again")
}

async fn tried(store: Arc<dyn Store>, request_timeout: Duration) -> Vec<Finding> {
    let expiry = store.declaration().expiry;
    let trial = match Trial::new(store) {
        Ok(trial) => trial,
        Err(problem) => {
            let remedy = "this system has no source of random numbers";
            return vec![Finding::fail("trial", problem.to_string(), remedy)];
        }
    };
    let beats = trial.beats(request_timeout).await;
    let mut findings = vec![beats.unwrap_or_else(|problem| failed("beats", &problem))];
    if expiry == ExpiryClock::Store {
        findings.push(trial.pace().await.unwrap_or_else(|problem| failed("pace", &problem)));
    }
    findings.push(trial.lease().await.unwrap_or_else(|problem| failed("lease", &problem)));
    if let Err(problem) = trial.leave().await {
        findings.push(Finding { verdict: FindingLevel::Warn, ..failed("leave", &problem) });
    }
    findings
}
