//! What this node last saw of the lease, and when that lease is free by this node's clock.
//!
//! A stale answer is told from a store whose data went back: the former passes, the latter shows in
//! the lineage, or lasts longer than any lease.

use std::time::Duration;

use crate::ids::{BootId, Epoch, Lineage, NodeId, Nonce};
use crate::lease::LeaseTerms;
use crate::planted::planted;
use crate::protocol::{BeatReply, Expiry, LeaseSnapshot, Version};
use crate::time::Moment;

/// When the lease may be claimed, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Nothing was seen yet.
    Unseen,
    /// There has never been a lease.
    NoRecord {
        /// Since when that is known.
        since: Moment,
    },
    /// The last holder released it.
    Vacant {
        /// Since when that is known.
        since: Moment,
        /// Whom it named.
        successor: Option<NodeId>,
    },
    /// It is held until then, unless it is renewed.
    Held {
        /// The expiry.
        until: Moment,
    },
    /// Its holder is proved dead.
    Dead {
        /// Since when that is known.
        since: Moment,
        /// The process that is gone.
        boot: BootId,
    },
}

/// Whether what a look at the lease showed is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It is believed.
    Fresh,
    /// It is believed, and the store's data went back.
    WentBack,
    /// It is older than what was seen already, and ignored.
    Stale,
}

/// The last accepted look.
#[derive(Clone, Debug, Hash)]
pub struct ObservedLease {
    lease_terms: LeaseTerms,
    highest: Epoch,
    lineage: Option<Lineage>,
    lease: Option<LeaseSnapshot>,
    first_seen: Moment,
    expires_at: Moment,
    suspect: Option<(Lineage, Moment)>,
    stale_since: Option<Moment>,
    dead: Option<(BootId, Moment)>,
}

impl ObservedLease {
    /// Nothing seen yet.
    pub fn new(lease_terms: LeaseTerms) -> Self {
        Self {
            lease_terms,
            highest: Epoch::NONE,
            lineage: None,
            lease: None,
            first_seen: Moment::default(),
            expires_at: Moment::default(),
            suspect: None,
            stale_since: None,
            dead: None,
        }
    }

    /// Takes in a reply to a request sent at `sent` and received at `now`.
    pub fn look(&mut self, sent: Moment, now: Moment, reply: &BeatReply) -> Freshness {
        let stored = reply.lease.as_ref().map_or(Epoch::NONE, |lease| lease.version.epoch);
        let moved = self.lineage.is_some_and(|lineage| lineage != reply.lineage);
        let behind = stored < self.epoch();
        if behind && !moved && !planted!(StaleReadBelieved) && self.may_be_stale(now) {
            return Freshness::Stale;
        }
        self.stale_since = None;
        self.judge_lineage(now, moved, reply);
        self.accept(sent, now, moved, reply.lease.as_ref());
        self.highest = self.highest.max(stored);
        if behind { Freshness::WentBack } else { Freshness::Fresh }
    }

    /// A replica catches up; a restored copy does not. Until the difference is certain, and any
    /// term of the lost data is over, an older answer counts as stale.
    fn may_be_stale(&mut self, now: Moment) -> bool {
        let since = *self.stale_since.get_or_insert(now);
        now < self.wait_out(since, self.lease_terms.ttl)
    }

    /// Data of another lineage may lack a term that its holder still trusts: wait until it is over,
    /// or until the record has been written in this lineage.
    fn judge_lineage(&mut self, now: Moment, moved: bool, reply: &BeatReply) {
        let settled = match &reply.lease {
            Some(lease) => lease.lineage == reply.lineage,
            None => !moved && self.suspect.is_none(),
        };
        let ttl = reply.lease.as_ref().map_or(self.lease_terms.ttl, |lease| lease.ttl);
        self.lineage = Some(reply.lineage);
        if settled || planted!(LineageIgnored) {
            self.suspect = None;
        } else if self.suspect.is_none_or(|(lineage, _)| lineage != reply.lineage) {
            let until = self.wait_out(now, ttl.max(self.lease_terms.ttl));
            self.suspect = Some((reply.lineage, until));
        }
    }

    fn wait_out(&self, from: Moment, ttl: Duration) -> Moment {
        self.lease_terms.observed_expiry(from, from, ttl)
    }

    fn accept(&mut self, sent: Moment, now: Moment, moved: bool, lease: Option<&LeaseSnapshot>) {
        let same = !moved && self.lease.is_some() && self.version() == lease.map(|l| l.version);
        if !same {
            self.first_seen = now;
        }
        let Some(lease) = lease else {
            self.expires_at = self.first_seen;
            self.lease = None;
            return;
        };
        self.expires_at = match lease.expiry {
            // The store judges: its last word counts, even if it gives the holder more time.
            Expiry::Left(left) if !left.is_zero() && !planted!(ClaimsInATightLoop) => now + left,
            Expiry::Left(left) if same => self.expires_at.min(now + left),
            Expiry::Left(left) => now + left,
            Expiry::Observer if same => self.expires_at,
            Expiry::Observer => self.lease_terms.observed_expiry(sent, now, lease.ttl),
        };
        if self.dead.is_some_and(|(boot, _)| !lease.is_held_by(boot)) {
            self.dead = None;
        }
        self.lease = Some(lease.clone());
    }

    /// The holder's process is gone.
    pub fn proved_dead(&mut self, now: Moment, boot: BootId) -> bool {
        let news = self.dead.is_none_or(|(dead, _)| dead != boot);
        let holds = self.lease.as_ref().is_some_and(|lease| lease.is_held_by(boot));
        if holds && news {
            self.dead = Some((boot, now));
        }
        holds && news
    }

    /// This process answers: whatever said that it is gone was wrong.
    pub fn proved_alive(&mut self, boot: BootId) {
        self.dead = self.dead.filter(|(dead, _)| *dead != boot);
    }

    /// Since when the holder is proved dead.
    pub fn dead_since(&self) -> Option<Moment> {
        self.dead.map(|(_, since)| since)
    }

    /// A hint said that the lease is free. A right core does not even have this door.
    #[cfg(baton_bugs)]
    pub fn believe_free(&mut self, now: Moment) {
        self.expires_at = now;
    }

    /// When the lease may be claimed, and why.
    pub fn availability(&self) -> Availability {
        let since = self.first_seen;
        match (&self.lease, self.lineage) {
            (None, None) => Availability::Unseen,
            (None, Some(_)) => Availability::NoRecord { since },
            (Some(lease), _) if lease.holder.is_none() => {
                Availability::Vacant { since, successor: lease.successor.clone() }
            }
            (Some(_), _) => match self.dead {
                Some((boot, since)) => Availability::Dead { since, boot },
                None => Availability::Held { until: self.expires_at },
            },
        }
    }

    /// Before this moment no node may claim, whatever else holds.
    pub fn suspect_until(&self) -> Option<Moment> {
        self.suspect.map(|(_, until)| until)
    }

    /// The lease as last seen.
    pub fn lease(&self) -> Option<&LeaseSnapshot> {
        self.lease.as_ref()
    }

    /// The version last seen.
    pub fn version(&self) -> Option<Version> {
        self.lease.as_ref().map(|lease| lease.version)
    }

    /// What a hint may tell of: the version last seen, and the request beside it.
    pub fn news(&self) -> Option<(Version, Option<Nonce>)> {
        let asked = |lease: &LeaseSnapshot| lease.asked.as_ref().map(|ask| ask.nonce);
        self.lease.as_ref().map(|lease| (lease.version, asked(lease)))
    }

    /// The epoch last seen.
    pub fn epoch(&self) -> Epoch {
        self.version().map_or(Epoch::NONE, |version| version.epoch)
    }

    /// The highest epoch ever seen.
    pub fn highest(&self) -> Epoch {
        self.highest
    }

    /// The store's lineage as last seen.
    pub fn lineage(&self) -> Option<Lineage> {
        self.lineage
    }

    /// Has the lease a holder, alive or not, and time left?
    pub fn is_unexpired(&self, now: Moment) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.holder.is_some()) && now < self.expires_at
    }

    /// Is there a holder whose lease has not run out, as far as this node can tell?
    pub fn is_live(&self, now: Moment) -> bool {
        self.held_until().is_some_and(|until| now < until)
    }

    /// Until when the lease is held, if it has a holder that is not proved dead.
    pub fn held_until(&self) -> Option<Moment> {
        match self.availability() {
            Availability::Held { until } => Some(until),
            _ => None,
        }
    }

    /// Does the lease name this process?
    pub fn is_held_by(&self, boot: BootId) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.is_held_by(boot))
    }
}
