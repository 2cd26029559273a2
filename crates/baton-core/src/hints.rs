//! What reaches a node from outside of the store: hints and lifelines.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::action::Action;
use crate::beat::Bid;
use crate::core::Core;
use crate::election::candidacy::IdHolder;
use crate::event::Event;
use crate::ids::BootId;
use crate::input::LifelineReport;
use crate::planted::planted;
use crate::protocol::{Claim, Hint};
use crate::time::Moment;

/// The most nodes with partitions whose lifelines a leader watches. Of the others it learns by
/// their beats that they are gone.
const OWNERS_WATCHED: usize = 512;

impl Core {
    pub(crate) fn hinted(&mut self, now: Moment, hint: Hint) {
        match hint {
            Hint::Look => self.look_sooner(now, now),
            Hint::Asked if self.term().is_some() => self.look_soon(now, now),
            Hint::Asked => {}
            // A view is not urgent: the next beat brings it.
            Hint::ViewMoved => {}
            Hint::Released { version, successor } => {
                #[cfg(baton_bugs)]
                if planted!(HintTakenAsTruth) {
                    self.observed.believe_free(now);
                }
                let named = successor.as_ref() == Some(&self.me.id);
                let news = version.epoch >= self.observed.highest();
                let suspect_until =
                    self.observed.suspect_until().filter(|_| !planted!(HintSkipsWait));
                let settled = suspect_until.is_none_or(|until| now >= until);
                let free = self.may_campaign() && self.in_flight.beat.is_none();
                let may_bid = named && news && settled && free;
                if may_bid && self.in_flight.hints.take_bid(now, version) {
                    // The store checks that it is vacant and at this version: nothing is believed.
                    let bid = Bid { claim: Claim::Vacant, expect: Some(version), hinted: true };
                    self.send_beat(now, Some(bid));
                } else if named && news && self.in_flight.beat.is_some() {
                    self.look_at_once();
                } else if successor.is_some() && !named {
                    // It is another node's turn, which has no use for a crowd at the store.
                    self.look_sooner(now, now + self.gap());
                } else {
                    self.look_sooner(now, now);
                }
            }
            Hint::Joined { boot } => self.node_joined(now, boot),
            Hint::Left { boot } => self.node_left(now, boot),
            Hint::Reported { boot, beat } if self.registry.shows(boot, beat) => {}
            Hint::Reported { .. } => self.partitions_reported(now),
            Hint::InLine { view } | Hint::Assigned { view } => {
                let known = self.view.as_ref().is_some_and(|known| known.version >= view);
                if !known && self.term().is_none() {
                    self.look_soon(now, now);
                }
            }
            Hint::Prepare { epoch } => {
                let news = epoch >= self.observed.highest() && self.term().is_none();
                if news && self.in_flight.hints.prepares.take(now) {
                    self.out.push(Action::Prepare);
                }
            }
        }
    }

    /// Heeds a hint, if this node has a part in what comes next: a thousand followers that look at
    /// the same moment would be a stampede.
    fn look_sooner(&mut self, now: Moment, from: Moment) {
        let near = self.rank().is_none_or(|rank| rank < self.settings.lifeline_successors);
        if near || self.term().is_some() {
            self.probe_sooner(now);
            self.look_soon(now, from);
        }
    }

    /// A denial proves the death only from this very host, or from an address at which this process
    /// had a connection to that very boot that then ended in order: a firewall can deny a process
    /// that lives, and reset a connection, but it cannot end one in order.
    pub(crate) fn lifeline_seen(
        &mut self,
        now: Moment,
        (boot, report): (BootId, LifelineReport),
        own_host: bool,
    ) {
        let mut answered = false;
        if let Some(watched) = self.watching.get_mut(&boot) {
            match report {
                LifelineReport::Alive => watched.answered = true,
                LifelineReport::Broken if !planted!(ResetThenRefusalBelieved) => {
                    watched.answered = false;
                }
                _ => {}
            }
            answered = watched.answered;
        }
        if report == LifelineReport::Alive {
            self.deaths.withdraw(boot);
            self.observed.proved_alive(boot);
            return;
        }
        let known = own_host || answered || planted!(FirstRefusalBelieved);
        if !report.denies(boot) || !known {
            return self.beat_soon(now);
        }
        self.deaths.record(boot);
        if self.is_id_holder(boot) {
            self.replace(now, boot);
        } else if self.running_epoch().is_some() && self.partitions.is_coordinating() {
            self.read_members_again(now);
        } else if !self.holder_may_be_dead(now) {
            self.beat_soon(now);
        }
    }

    /// Takes the holder of the lease for dead if its process was proved dead, whenever that was;
    /// says whether that is new.
    pub(crate) fn holder_may_be_dead(&mut self, now: Moment) -> bool {
        let holder = self.observed.lease().and_then(|lease| lease.holder.clone());
        let Some(holder) = holder.filter(|holder| self.deaths.has(holder.boot)) else {
            return false;
        };
        let news = self.observed.proved_dead(now, holder.boot);
        if news {
            self.emit(Event::LeaderDown { former: holder.node, proved: true });
        }
        news
    }

    /// Keeps the first successors connected to the leader's lifeline; a restarted node to its past
    /// self's, which may be the one that keeps it from registering; and a leader to those of the
    /// nodes that it gives partitions to.
    pub(crate) fn mind_lifeline(&mut self) {
        let near = self.rank().is_none_or(|rank| rank < self.settings.lifeline_successors);
        let holder = self.observed.lease().and_then(|lease| lease.holder.as_ref());
        let id_holder = self.id_holder.as_ref().filter(|_| !self.registered && !self.leaving);
        let leader = holder
            .filter(|holder| holder.boot != self.me.boot)
            .filter(|holder| holder.node == self.me.id || near)
            .filter(|_| self.is_candidate() && !self.leaving)
            .and_then(|holder| holder.lifeline.clone().map(|address| (holder.boot, address)));
        let one = id_holder.and_then(IdHolder::lifeline).or(leader);
        let wanted: BTreeMap<_, _> = one.into_iter().chain(self.partition_owners()).collect();
        let (partitions, deaths) = (&self.partitions, &self.deaths);
        let coordinates = self.running_epoch().is_some();
        // A process that was given partitions and whose record is gone may still run them: its end
        // is the proof that it does not.
        let is_waited_for =
            |boot: BootId| coordinates && partitions.has_document(boot) && !deaths.has(boot);
        let gone = |boot: &BootId, watched: &mut WatchedLifeline| match wanted.get(boot) {
            Some(address) => *address != watched.address,
            None => !is_waited_for(*boot),
        };
        for (boot, _) in self.watching.extract_if(.., gone) {
            self.out.push(Action::UnwatchLifeline { boot });
        }
        for (boot, address) in wanted {
            if let Entry::Vacant(slot) = self.watching.entry(boot) {
                slot.insert(WatchedLifeline { address: address.clone(), answered: false });
                self.out.push(Action::WatchLifeline { boot, address });
            }
        }
    }

    /// The lifelines of the nodes that this leader gives partitions to.
    fn partition_owners(&self) -> impl Iterator<Item = (BootId, Arc<str>)> {
        let coordinates = self.partitions.is_coordinating() && self.running_epoch().is_some();
        let others = self.registry.live().filter(move |entry| {
            let record = &entry.record;
            coordinates && record.partitions.is_some() && record.boot != self.me.boot
        });
        let lifelines = others.filter_map(|entry| {
            let address = entry.record.profile.lifeline.clone();
            address.map(|address| (entry.record.boot, address))
        });
        lifelines.take(OWNERS_WATCHED)
    }
}

/// A lifeline that this node watches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WatchedLifeline {
    /// Where.
    address: Arc<str>,
    /// Did that boot answer there, in a connection that did not break since?
    answered: bool,
}
