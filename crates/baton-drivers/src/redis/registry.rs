//! Node records: `boot beat microsecond record`, the record as JSON.

use std::time::Duration;

use baton_core::ids::Namespace;
use baton_core::protocol::{Member, NodeRecord};
use baton_store::StoreError;

/// Everybody, sorted by id.
pub(super) fn members(
    namespace: &Namespace,
    now_us: u64,
    hash: &[(String, String)],
) -> Result<Vec<Member>, StoreError> {
    let mut members = Vec::with_capacity(hash.len());
    for (node, entry) in hash {
        let member = member(now_us, entry).filter(|member| member.record.id.as_str() == node);
        members.push(member.ok_or_else(|| StoreError::Corrupt {
            record: format!("the record of node {node} in namespace {namespace}"),
            detail: "it is not boot, beat, time and record".to_owned(),
        })?);
    }
    members.sort_by(|one, other| one.record.id.cmp(&other.record.id));
    Ok(members)
}

fn member(now_us: u64, entry: &str) -> Option<Member> {
    let mut words = entry.splitn(4, ' ');
    let beat_us: u64 = words.nth(2)?.parse().ok()?;
    let record: NodeRecord = serde_json::from_str(words.next()?).ok()?;
    let silent_for = Some(Duration::from_micros(now_us.saturating_sub(beat_us)));
    Some(Member { record, silent_for })
}
