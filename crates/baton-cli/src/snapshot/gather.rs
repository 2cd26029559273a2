//! Asking the store.

use std::time::Duration;

use baton::lifeline::{late_notice, noticed_without, watchers};
use baton_core::ids::Namespace;
use baton_core::protocol::{LeaseSnapshot, Member, TermRecord};
use baton_core::settings::Settings;
use baton_core::time::whole_ms;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Capability, Store, StoreError};

use super::{Coordinator, LeaderChange, MemberState, Snapshot, State};

/// Looks at a namespace. The settings are those of its nodes, as far as they are known here.
pub async fn gather(
    store: &dyn Store,
    name: &str,
    namespace: &Namespace,
    settings: &Settings,
) -> Result<Snapshot, StoreError> {
    let seen = store.inspect(namespace).await?;
    let members = store.members(namespace).await?;
    let terms = store.history(namespace, 2).await?;
    let lease = seen.lease.as_ref();
    let coordinator = lease.and_then(|lease| coordinator(lease, &terms));
    let holder = lease.and_then(|lease| lease.holder.as_ref());
    let epoch = lease.map_or(0, |lease| lease.version.epoch.0);
    let view = seen.view.filter(|view| view.version.epoch.0 == epoch);
    let holds = holder.map(|holder| holder.boot);
    let state = |member: &Member| {
        if holds != Some(member.record.boot) {
            return state(member, settings.worker_timeout);
        }
        // A node whose lease has expired is silent, even if its last beat was recent.
        if coordinator.is_some() { State::Leader } else { State::Silent }
    };
    let crash = lease.filter(|_| coordinator.is_some()).and_then(|lease| {
        let settings = &settings.clone().tune(|it| it.lease_timeout = lease.ttl);
        let watchers = watchers(holds, &members, view.as_deref(), settings);
        let lifeline = holder.and_then(|holder| holder.lifeline.as_deref());
        let is_watched = !watchers.is_empty();
        let after = noticed_without(settings, store.declaration().has(Capability::DeathProof));
        is_watched.then(|| late_notice(lifeline, &watchers, false, after)).flatten()
    });
    let mut members: Vec<MemberState> = members.iter().map(|m| of_member(m, state(m))).collect();
    members.sort_by(|a, b| a.node.cmp(&b.node));
    Ok(Snapshot {
        at_ms: SystemClock.wall_ms(),
        store: name.to_owned(),
        namespace: namespace.clone(),
        epoch,
        lapsed: holder.filter(|_| coordinator.is_none()).map(|holder| holder.node.clone()),
        asked: lease.and_then(|lease| lease.asked.as_ref()).map(|ask| ask.wish.clone()),
        successors: view.map_or_else(Vec::new, |view| view.successors.clone()),
        last_change: last_change(&terms),
        coordinator,
        crash,
        members,
    })
}

/// The holder, if its lease lasts.
fn coordinator(lease: &LeaseSnapshot, terms: &[TermRecord]) -> Option<Coordinator> {
    let holder = lease.leader()?;
    let term = terms.first().filter(|term| term.epoch == lease.version.epoch);
    Some(Coordinator {
        node: holder.node.clone(),
        boot: holder.boot,
        since_ms: term.map(|term| term.began_ms),
        lease_timeout_ms: whole_ms(lease.ttl),
        lease_left_ms: lease.expiry.left().map(whole_ms),
        lifeline: holder.lifeline.as_deref().map(shown),
        nudged_at: holder.lifeline.clone(),
    })
}

/// A lifeline's address for people: its key is for the nodes alone.
fn shown(lifeline: &str) -> String {
    baton::lifeline::without_key(lifeline).to_owned()
}

fn state(member: &Member, silent_after: Duration) -> State {
    let record = &member.record;
    match member.silent_for {
        Some(silent) if silent > silent_after => State::Silent,
        _ if record.draining => State::Draining,
        _ if record.eligible => State::Candidate,
        _ => State::Observer,
    }
}

fn of_member(member: &Member, state: State) -> MemberState {
    let record = &member.record;
    MemberState {
        node: record.id.clone(),
        boot: record.boot,
        state,
        load: record.load,
        silent_ms: member.silent_for.map(whole_ms),
        beats: record.beat,
        priority: record.profile.priority,
        version: record.profile.version.clone(),
        lifeline: record.profile.lifeline.as_deref().map(shown),
        labels: record.profile.labels.clone(),
    }
}

fn last_change(terms: &[TermRecord]) -> Option<LeaderChange> {
    let newest = terms.first()?;
    if let Some((at_ms, end)) = newest.ended {
        let (from, why) = (Some(newest.node.clone()), Some(end));
        return Some(LeaderChange { at_ms, from, why, ..LeaderChange::default() });
    }
    let before = terms.get(1);
    Some(LeaderChange {
        at_ms: newest.began_ms,
        from: before.map(|term| term.node.clone()),
        to: Some(newest.node.clone()),
        why: before.and_then(|term| term.ended).map(|(_, end)| end),
        gap_ms: newest.gap_ms,
        gap_at_most_ms: newest.gap_at_most_ms,
    })
}
