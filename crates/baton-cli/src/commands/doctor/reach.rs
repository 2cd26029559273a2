//! Will the other nodes notice a crash of this one, and this one a crash of theirs?

use baton::LateNotice;
use baton::lifeline::{Watcher, late_notice, noticed_without, probe, without_key};
use baton_core::LifelineReport;
use baton_core::protocol::Member;
use baton_store::Capability;

use super::Finding;
use crate::config::Config;
use crate::crash_notice;

/// The most nodes that are dialled.
const DIALLED_MAX: usize = 5;

/// Looks at who is there, and dials their lifelines. A store that cannot be looked at is told of
/// elsewhere: here it has no nodes.
pub async fn examine(config: &Config) -> Vec<Finding> {
    let (mut members, proves) = match baton_drivers::open_to_read(config.store.with_secrets()).await
    {
        Ok(store) => {
            let members = store.members(&config.namespace).await.unwrap_or_default();
            (members, store.declaration().has(Capability::DeathProof))
        }
        Err(_) => (Vec::new(), false),
    };
    let mut findings =
        vec![match crash_notice::among(config, config.id.as_ref(), &members, proves) {
            None => Finding::ok("crash", "noticed at once, judging by the addresses"),
            Some(late) => warning("crash", &late, "this node"),
        }];
    let worker_timeout = config.settings.worker_timeout;
    members.retain(|member| {
        let silent = member.silent_for.unwrap_or_default();
        silent < worker_timeout && Some(&member.record.id) != config.id.as_ref()
    });
    for member in members.iter().take(DIALLED_MAX) {
        findings.extend(reach(config, member, proves).await);
    }
    findings
}

fn warning(check: &'static str, late: &LateNotice, node: &str) -> Finding {
    let sentence = late.of(node);
    let detail = sentence.strip_suffix(&format!("; {}", late.remedy)).unwrap_or(&sentence);
    Finding::warn(check, detail, late.remedy.clone())
}

/// Would this node notice a crash of that one? Its lifeline is dialled, if that makes sense.
async fn reach(config: &Config, member: &Member, store_proves_deaths: bool) -> Option<Finding> {
    let record = &member.record;
    let address = record.profile.lifeline.as_deref()?;
    let own = crash_notice::lifeline(config);
    let here = [Watcher { node: &record.id, lifeline: own.as_deref() }];
    let after = noticed_without(&config.settings, store_proves_deaths);
    let (node, bare) = (&record.id, without_key(address));
    let shown = bare.split_once('@').map_or(bare, |(shown, _)| shown);
    if late_notice(Some(address), &here, false, after).is_some() {
        return Some(Finding::warn(
            "reach",
            format!("the lifeline of {node} listens on {shown}, which is not reached from here"),
            "set lifeline.bind of that node to an address of its host that this one reaches",
        ));
    }
    Some(match probe(address).await {
        LifelineReport::OtherBoot(boot) if boot == record.boot => {
            Finding::ok("reach", format!("the lifeline of {node} at {shown} answers"))
        }
        other => Finding::warn(
            "reach",
            format!("the lifeline of {node} at {shown} does not answer: {other:?}"),
            "let this host reach that address and port, or see whether that node still runs",
        ),
    })
}
