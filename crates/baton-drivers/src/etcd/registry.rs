//! The rules of the node registry.

use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::protocol::{BeatRequest, Member, NodeRecord, Outcome, Registration};
use baton_store::StoreError;

use super::engine::EtcdEngine;
use super::keys::Keys;
use super::record::{self, Seen};
use super::sight::unchanged;
use super::step::{Committed, Step, TRIES, crowded};
use super::wire::{Op, Range, RangeAnswer};

/// May this beat write its node's record?
pub(super) fn admitted(known: Option<&Seen<NodeRecord>>, beat: &BeatRequest) -> Registration {
    match known.map(|seen| &seen.record) {
        Some(known) if known.boot != beat.node.boot && Some(known.boot) != beat.replaces => {
            Registration::TakenBy { boot: known.boot, beat: known.beat }
        }
        _ => Registration::Registered,
    }
}

/// Takes a node's record out, if it is this boot's.
pub(super) async fn leave(
    engine: &EtcdEngine,
    namespace: &Namespace,
    node: &NodeId,
    boot: BootId,
) -> Result<Outcome, StoreError> {
    let step = Step::new(engine, namespace, Some(node), None);
    let (mut sight, mut fresh) = match step.remembered() {
        Some(sight) => (sight, false),
        None => (step.look().await?, true),
    };
    for _ in 0..TRIES {
        let key = step.keys().node(node);
        let own = sight.node.as_ref().is_some_and(|seen| seen.record.boot == boot);
        if !own && fresh {
            return Ok(Outcome::Conflict);
        }
        if !own {
            (sight, fresh) = (step.look().await?, true);
            continue;
        }
        match step.commit(unchanged(&key, &sight.node), vec![Op::delete(&key)]).await? {
            Committed::Done(_) => {
                engine.memories.forget_node(namespace, node);
                return Ok(Outcome::Applied);
            }
            Committed::Stale(now) => (sight, fresh) = (*now, true),
        }
    }
    Err(crowded())
}

/// Every node record. etcd tells no time, so no ages.
pub(super) async fn members(
    engine: &EtcdEngine,
    namespace: &Namespace,
) -> Result<Vec<Member>, StoreError> {
    let keys = Keys::new(&engine.link.config.prefix, namespace);
    let query = Range::under(&keys.nodes());
    let answer: Result<RangeAnswer, _> =
        engine.link.ask("kv/range", &query, engine.link.deadline()).await;
    let found = answer.map_err(super::error::Trouble::of_read)?.kvs;
    let member = |found| {
        let what = || format!("a node of namespace {namespace}");
        Ok(Member { record: record::read(found, what)?.record, silent_for: None })
    };
    found.iter().map(member).collect()
}
