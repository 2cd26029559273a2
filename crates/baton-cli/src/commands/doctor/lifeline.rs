//! Whether a closed port distinguishes a dead process from a live one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use baton::lifeline::probe;
use baton::{Node, Store};
use baton_core::LifelineReport;
use baton_core::settings::Profile;

use super::Finding;
use crate::attempts::Attempts;
use crate::config::{Config, StoreUrl};
use crate::open_store;

/// How long a node in memory may take to register, to answer, or to close its port: far more than
/// it needs, so that a busy machine is not taken for a broken network.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Starts a node in memory, with a lifeline on the configured address and a free port, dials it,
/// ends it, and dials again.
pub async fn examine(config: &Config) -> Vec<Finding> {
    if !config.lifeline.enabled {
        return vec![Finding::ok("lifeline", "switched off")];
    }
    let address = SocketAddr::new(config.lifeline.bind.ip(), 0);
    let lifeline = config.lifeline.clone().tune(|it| it.bind = address);
    let remedy = "choose another --lifeline-bind, or --lifeline false";
    let store = match open_store::open(&StoreUrl::new("memory://")).await {
        Ok(store) => store,
        Err(problem) => return vec![Finding::fail("lifeline", problem.to_string(), remedy)],
    };
    let settings = Profile::Fast.settings();
    let built = Node::builder(store.clone()).settings(settings).lifeline(lifeline).build();
    match built {
        Err(problem) => vec![Finding::fail("lifeline", problem.to_string(), remedy)],
        Ok(node) => probe_findings(node, store, address).await,
    }
}

async fn probe_findings(node: Node, store: Arc<dyn Store>, address: SocketAddr) -> Vec<Finding> {
    let Some(lifeline) = registered(&node, &store).await else {
        let detail = "a node in memory did not register in time";
        return vec![Finding::warn(
            "lifeline",
            detail,
            "this machine is overloaded: run doctor again",
        )];
    };
    let alive = LifelineReport::OtherBoot(node.boot());
    let answers = probed(&lifeline, |report| *report == alive).await;
    let living = match answers {
        Ok(()) => Finding::ok("lifeline", format!("listens on {} and answers", address.ip())),
        Err(other) => Finding::fail(
            "lifeline",
            format!("a live process on {} answers {other:?}", address.ip()),
            "a firewall or proxy is in the way; if it is a proxy, use --lifeline false",
        ),
    };
    node.leave().await;
    drop(node);
    vec![living, dead(&lifeline, address).await]
}

async fn registered(node: &Node, store: &Arc<dyn Store>) -> Option<String> {
    let mut attempts = Attempts::new(LOOK_EVERY, TIME_LIMIT);
    while attempts.next().await {
        let members = store.members(node.namespace()).await.unwrap_or_default();
        let mine = members.into_iter().find(|member| member.record.boot == node.boot());
        if let Some(lifeline) = mine.and_then(|member| member.record.profile.lifeline.clone()) {
            return Some(lifeline.to_string());
        }
    }
    None
}

/// The port is closed: does the network say so, or is it silent?
async fn dead(lifeline: &str, address: SocketAddr) -> Finding {
    match probed(lifeline, |report| *report == LifelineReport::Refused).await {
        Ok(()) => {
            let local = address.ip().to_canonical().is_loopback();
            let to = if local { "to nodes of this host" } else { "to nodes that were connected" };
            Finding::ok("death", format!("a closed port is refused: a death is proved {to}"))
        }
        Err(other) => Finding::warn(
            "death",
            format!("a closed port is not refused ({other:?}): deaths cannot be proved"),
            "a firewall drops packets; failover then waits for the lease to run out",
        ),
    }
}

/// Dials until the answer is the one awaited; else what it was in the end.
async fn probed(
    lifeline: &str,
    awaited: impl Fn(&LifelineReport) -> bool,
) -> Result<(), LifelineReport> {
    let mut last = LifelineReport::TimedOut;
    let mut attempts = Attempts::new(LOOK_EVERY, TIME_LIMIT);
    while attempts.next().await {
        last = probe(lifeline).await;
        if awaited(&last) {
            return Ok(());
        }
    }
    Err(last)
}
