//! From facts to a verdict.

use std::cmp::Reverse;
use std::time::Duration;

use super::facts::{Facts, Limits};
use super::reason::Reason;
use super::{
    Counts, FORMAT, Health, LeaderHealth, Liveness, NodeHealth, Role, StoreHealth, Verdict,
};
use crate::ids::Epoch;
use crate::protocol::{Expiry, Holder, LeaseSnapshot, Member};
use crate::time::whole_ms;

/// Judges. The verdict is the worst of the reasons, and healthy without any.
pub fn judge(facts: &Facts, limits: &Limits) -> Health {
    let judgement = Judgement { facts, limits };
    let nodes = judgement.nodes();
    let counts = count(&nodes);
    let leader = judgement.leader();
    let mut reasons = judgement.leading(&leader, &counts);
    reasons.extend(judgement.store());
    reasons.extend(judgement.flapping(leader.changes));
    reasons.extend(judgement.view_behind(&leader));
    let failing = facts.plugins.iter().filter(|plugin| plugin.is_failing());
    reasons.extend(failing.map(|plugin| Reason::PluginFailing {
        plugin: plugin.name.clone(),
        failures: plugin.failures,
    }));
    reasons.extend(nodes.iter().filter_map(|node| judgement.unwell(node, leader.epoch)));
    // The sort keeps the order within a verdict.
    reasons.sort_by_key(|reason| Reverse(reason.verdict()));
    Health {
        format: FORMAT,
        at_ms: facts.at_ms,
        verdict: reasons.iter().map(Reason::verdict).max().unwrap_or(Verdict::Healthy),
        reasons,
        reasons_left_out: 0,
        leader,
        store: StoreHealth { took_ms: whole_ms(facts.store_took), lineage: facts.lineage },
        counts,
        nodes,
        nodes_left_out: 0,
    }
}

fn count(nodes: &[NodeHealth]) -> Counts {
    let live = nodes.iter().filter(|node| node.liveness.is_live());
    let may_lead = |node: &&NodeHealth| matches!(node.role, Role::Leader | Role::Candidate);
    Counts {
        registered: nodes.len(),
        live: live.clone().count(),
        candidates: live.filter(may_lead).count(),
    }
}

/// What is judged, and by which limits.
struct Judgement<'a> {
    facts: &'a Facts,
    limits: &'a Limits,
}

impl Judgement<'_> {
    /// The holder, and how much of its lease is left, if anything is.
    fn holder(&self) -> Option<(&Holder, &LeaseSnapshot, Option<Duration>)> {
        let lease = self.facts.lease.as_ref()?;
        let holder = lease.holder.as_ref()?;
        let left = match lease.expiry {
            Expiry::Left(left) => left,
            Expiry::Observer => lease.ttl.saturating_sub(self.facts.lease_unchanged_for),
        };
        let told = matches!(lease.expiry, Expiry::Left(_));
        let watched = !self.facts.lease_unchanged_for.is_zero();
        (!left.is_zero()).then_some((holder, lease, (told || watched).then_some(left)))
    }

    fn leader(&self) -> LeaderHealth {
        let holder = self.holder();
        let epoch = self.facts.lease.as_ref().map_or(Epoch::NONE, |lease| lease.version.epoch);
        let term = self.facts.terms.first().filter(|term| term.epoch == epoch);
        let since = |ms: u64| self.facts.at_ms.saturating_sub(ms);
        let window_ms = whole_ms(self.limits.flap_window);
        let recent = self.facts.terms.iter().filter(|term| since(term.began_ms) <= window_ms);
        // The first term of all changed nothing.
        let changes = recent.filter(|term| term.gap_ms.is_some()).count();
        LeaderHealth {
            node: holder.map(|(holder, ..)| holder.node.clone()),
            epoch: epoch.0,
            term_ms: term.filter(|_| holder.is_some()).map(|term| since(term.began_ms)),
            lease_timeout_ms: holder.map(|(_, lease, _)| whole_ms(lease.ttl)),
            lease_left_ms: holder.and_then(|(.., left)| left).map(whole_ms),
            view: self.facts.view.as_ref().map(|view| view.version),
            changes: u32::try_from(changes).unwrap_or(u32::MAX),
        }
    }

    fn leading(&self, leader: &LeaderHealth, counts: &Counts) -> Vec<Reason> {
        let min = self.limits.candidates_min;
        if leader.node.is_some() {
            let few = counts.candidates < min;
            let few = few.then_some(Reason::FewCandidates { live: counts.candidates, min });
            return self.not_renewed().into_iter().chain(few).collect();
        }
        let limit_ms = whole_ms(self.limits.election_max());
        let mut reasons = vec![Reason::NoCoordinator { for_ms: self.leaderless_ms(), limit_ms }];
        if counts.registered == 0 {
            reasons.push(Reason::NoNode);
        } else if counts.candidates == 0 {
            reasons.push(Reason::NoCandidate { registered: counts.registered });
        }
        reasons
    }

    /// For how long no node has led.
    fn leaderless_ms(&self) -> Option<u64> {
        let lease = self.facts.lease.as_ref()?;
        let term = self.facts.terms.first().filter(|term| term.epoch == lease.version.epoch);
        if let Some((ended_ms, _)) = term.and_then(|term| term.ended) {
            return Some(self.facts.at_ms.saturating_sub(ended_ms));
        }
        let holder = lease.holder.as_ref()?;
        let member = self.facts.members.iter().find(|m| m.record.boot == holder.boot)?;
        // The last beat was the last renewal. A lease that is over sooner is a dead process's: it
        // cannot have been dead for longer than it has been silent.
        let silent = member.silent_for?;
        Some(whole_ms(silent.checked_sub(lease.ttl).unwrap_or(silent)))
    }

    fn not_renewed(&self) -> Option<Reason> {
        let (holder, lease, left) = self.holder()?;
        let left = left?;
        let missed = left < lease.ttl.saturating_sub(self.limits.two_beats());
        missed.then(|| Reason::LeaseNotRenewed {
            node: holder.node.clone(),
            left_ms: whole_ms(left),
            lease_ms: whole_ms(lease.ttl),
        })
    }

    fn store(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let lineage = self.facts.lineage;
        if let Some(lease) = self.facts.lease.as_ref().filter(|lease| lease.lineage != lineage) {
            reasons.push(Reason::StoreWentBack { lease: lease.lineage.0, store: lineage.0 });
        }
        let limit = self.limits.request_timeout / 2;
        if self.facts.store_took > limit {
            let (took_ms, limit_ms) = (whole_ms(self.facts.store_took), whole_ms(limit));
            reasons.push(Reason::StoreSlow { took_ms, limit_ms });
        }
        reasons
    }

    fn flapping(&self, changes: u32) -> Option<Reason> {
        let (limit, window) = (self.limits.flap_threshold, self.limits.flap_window);
        let window_ms = whole_ms(window);
        (changes >= limit).then_some(Reason::Flapping { changes, window_ms, limit })
    }

    fn view_behind(&self, leader: &LeaderHealth) -> Option<Reason> {
        let (view, epoch) = (leader.view.map_or(0, |version| version.epoch.0), leader.epoch);
        let limit_ms = whole_ms(self.limits.two_beats());
        let term_ms = leader.term_ms.filter(|ms| view < epoch && *ms > limit_ms)?;
        Some(Reason::ViewBehind { view, epoch, term_ms, limit_ms })
    }

    fn nodes(&self) -> Vec<NodeHealth> {
        let leads = self.holder().map(|(holder, ..)| holder.boot);
        let mut nodes: Vec<NodeHealth> = self
            .facts
            .members
            .iter()
            .map(|member| NodeHealth {
                node: member.record.id.clone(),
                boot: member.record.boot,
                role: match &member.record {
                    record if leads == Some(record.boot) => Role::Leader,
                    record if record.draining => Role::Draining,
                    record if record.eligible => Role::Candidate,
                    _ => Role::Observer,
                },
                liveness: self.liveness(member),
                silent_ms: member.silent_for.map(whole_ms),
                load: member.record.load,
            })
            .collect();
        nodes.sort_by(|a, b| a.node.cmp(&b.node));
        nodes
    }

    fn liveness(&self, member: &Member) -> Liveness {
        let Some(silent) = member.silent_for else {
            let epoch = self.facts.lease.as_ref().map(|lease| lease.version.epoch);
            let view = self.facts.view.as_ref().filter(|view| Some(view.version.epoch) == epoch);
            let unseen = view.is_some_and(|view| view.member(&member.record.id).is_none());
            return if unseen { Liveness::Unseen } else { Liveness::Live };
        };
        match silent {
            silent if silent > self.limits.dead_node_timeout => Liveness::Dead,
            silent if silent > self.limits.worker_timeout => Liveness::Silent,
            silent if silent > self.limits.heartbeat_interval * Limits::BEATS_MISSED_MAX => {
                Liveness::Late
            }
            _ => Liveness::Live,
        }
    }

    fn unwell(&self, health: &NodeHealth, epoch: u64) -> Option<Reason> {
        let node = health.node.clone();
        let silent_ms = health.silent_ms.unwrap_or_default();
        let ms = whole_ms;
        Some(match health.liveness {
            Liveness::Live => return None,
            Liveness::Late => {
                let beat_ms = ms(self.limits.heartbeat_interval);
                Reason::NodeLate { node, silent_ms, beat_ms }
            }
            Liveness::Silent => {
                Reason::NodeSilent { node, silent_ms, limit_ms: ms(self.limits.worker_timeout) }
            }
            Liveness::Dead => {
                Reason::NodeDead { node, silent_ms, limit_ms: ms(self.limits.dead_node_timeout) }
            }
            Liveness::Unseen => Reason::NodeUnseen { node, epoch },
        })
    }
}
