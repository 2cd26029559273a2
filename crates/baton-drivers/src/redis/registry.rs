//! Node records: `boot beat microsecond record`, the record as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{Member, NodeRecord, Outcome};
use baton_store::StoreError;

use super::context::CallContext;
use super::script::Arguments;

impl CallContext<'_> {
    /// Every node record, sorted by id.
    pub(super) async fn members(&self) -> Result<Vec<Member>, StoreError> {
        let script = &self.engine.scripts.members;
        let (now_us, hash): (u64, BTreeMap<String, String>) =
            self.run(script, Arguments::default()).await?;
        let member = |(node, entry): (&String, &String)| {
            let member = member(now_us, entry).filter(|it| it.record.id.as_str() == node);
            member.ok_or_else(|| StoreError::Corrupt {
                record: format!("the record of node {node} in namespace {}", self.namespace),
                detail: "it is not boot, beat, time and record".to_owned(),
            })
        };
        hash.iter().map(member).collect()
    }

    /// Takes a node's record out, if it is this boot's.
    pub(super) async fn leave(&self, node: &NodeId, boot: BootId) -> Result<Outcome, StoreError> {
        let arguments = Arguments::default().text(node).text(boot);
        self.outcome(&self.engine.scripts.leave, arguments).await
    }
}

fn member(now_us: u64, entry: &str) -> Option<Member> {
    let mut words = entry.splitn(4, ' ');
    let beat_us: u64 = words.nth(2)?.parse().ok()?;
    let record: NodeRecord = serde_json::from_str(words.next()?).ok()?;
    let silent_for = Some(Duration::from_micros(now_us.saturating_sub(beat_us)));
    Some(Member { record, silent_for })
}
