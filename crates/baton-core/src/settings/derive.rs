//! Settings that follow: what was not given is derived from what was given, by the relations.
//!
//! ```text
//!   given values ──► the least that each other value can be ──► a contradiction, or
//!   proportions of the profile ──► the others one by one, each within what still fits
//! ```
//!
//! `lease_timeout` and `heartbeat_interval` set the scale: the others keep the profile's
//! proportions to them, and what a request, a stop or a takeover may take only becomes shorter. Any
//! other given value moves the rest no further than a relation asks for.

use std::collections::{BTreeMap, BTreeSet};

use super::spans::{Nanos, PPM, RELATIONS, Relation, RelationKind, Span, duration, less_drift};
use super::{InvalidSettings, Profile, Settings, show_span};

/// The one setting that stands in a relation and is no span.
const DRIFT: &str = "clock_drift_max";

/// Derived values are whole milliseconds where that fits.
const MILLISECOND: Nanos = 1_000_000;

/// Names of given settings.
type SettingNames = BTreeSet<&'static str>;

/// A value or a bound, and the given settings that it comes from.
type Sourced = (Nanos, SettingNames);

/// Complete settings, and what was derived from what.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The settings, free of contradictions.
    pub settings: Settings,
    /// For each setting that was not given and is not the profile's: the given settings that it
    /// follows from.
    pub causes: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Settings {
    /// Completes settings. `self` has the given values, `is_given` says by name which of them were
    /// given, and `profile` has the values and proportions that the others start from.
    ///
    /// An error names given settings alone: those that cannot hold together, with their values, or
    /// the one that is outside its own range.
    pub fn derive(
        &self,
        profile: &Self,
        is_given: impl Fn(&str) -> bool,
    ) -> Result<Derived, InvalidSettings> {
        self.check_ranges()?;
        let given = Span::ALL.iter().copied().filter(|span| is_given(span.name()));
        let known = given.map(|span| (span, (span.of(self), SettingNames::from([span.name()]))));
        let mut derivation = Derivation {
            profile,
            settings: self.clone(),
            drift: if is_given(DRIFT) { SettingNames::from([DRIFT]) } else { SettingNames::new() },
            known: known.collect(),
            causes: BTreeMap::new(),
        };
        derivation.refuse_contradictions()?;
        derivation.complete();
        derivation.settings.check()?;
        Ok(Derived { settings: derivation.settings, causes: derivation.causes })
    }
}

impl Profile {
    /// The settings of this profile with some values changed. What is not changed follows, as
    /// [`Settings::derive`] does it.
    ///
    /// ```
    /// use baton_core::settings::Profile;
    /// use std::time::Duration;
    ///
    /// let settings = Profile::Default.with(|settings| {
    ///     settings.lease_timeout = Duration::from_secs(6);
    /// })?;
    /// assert_eq!(settings.heartbeat_interval, Duration::from_secs(2));
    /// # Ok::<(), baton_core::settings::InvalidSettings>(())
    /// ```
    pub fn with(self, change: impl FnOnce(&mut Settings)) -> Result<Settings, InvalidSettings> {
        let profile = self.settings();
        let mut changed = profile.clone();
        change(&mut changed);
        let is_given = |name: &str| {
            let span = Span::ALL.iter().find(|span| span.name() == name);
            span.is_some_and(|span| span.of(&changed) != span.of(&profile))
                || (name == DRIFT && changed.clock_drift_max != profile.clock_drift_max)
        };
        Ok(changed.derive(&profile, is_given)?.settings)
    }
}

struct Derivation<'a> {
    profile: &'a Settings,
    settings: Settings,
    /// Whether the drift was given.
    drift: SettingNames,
    /// What was given or is decided.
    known: BTreeMap<Span, Sourced>,
    causes: BTreeMap<&'static str, Vec<&'static str>>,
}

/// Which way a span follows the scale.
#[derive(Clone, Copy, PartialEq)]
enum Follow {
    /// In proportion.
    BothWays,
    /// In proportion, and never longer than in the profile.
    Shorter,
}

use Span::*;

impl Derivation<'_> {
    /// Each relation asks that one span be at least a sum of others, and they form no circle. So
    /// the least values that follow from the given ones are a solution if there is one.
    fn refuse_contradictions(&self) -> Result<(), InvalidSettings> {
        for &span in Span::ALL {
            let (least, because) = self.least_by_relations(span);
            let given = self.known.get(&span);
            let most = given.map_or_else(|| span.most(), |(value, _)| *value);
            if least <= most {
                continue;
            }
            let limit = if given.is_some() { "" } else { "at most " };
            let because: Vec<String> = because.iter().map(|name| self.shown(name)).collect();
            let because = match because.split_last() {
                None => String::new(),
                Some((last, [])) => format!(" because of {last}"),
                Some((last, others)) => format!(" because of {} and {last}", others.join(", ")),
            };
            return Err(InvalidSettings::new(format!(
                "{} ({limit}{}) must be at least {}{because}",
                span.name(),
                show_span(duration(most)),
                show_span(duration(least)),
            )));
        }
        Ok(())
    }

    fn shown(&self, name: &str) -> String {
        match Span::ALL.iter().find(|span| span.name() == name) {
            Some(span) => format!("{name} ({})", show_span(duration(span.of(&self.settings)))),
            None => format!("{name} ({})", self.settings.clock_drift_max),
        }
    }

    /// Decides what was not given. The order matters: the two that set the scale first, then what
    /// must fit into them.
    fn complete(&mut self) {
        self.decide(HeartbeatInterval, self.wanted_heartbeat());
        self.decide(LeaseTimeout, self.wanted_lease());
        for (span, scale, follow) in [
            (SafetyMargin, LeaseTimeout, Follow::Shorter),
            (StopGrace, LeaseTimeout, Follow::Shorter),
            (RequestTimeout, HeartbeatInterval, Follow::Shorter),
            (HeartbeatJitter, HeartbeatInterval, Follow::BothWays),
            (WorkerTimeout, HeartbeatInterval, Follow::BothWays),
            (DeadNodeTimeout, HeartbeatInterval, Follow::BothWays),
            (StartupJitterMin, HeartbeatInterval, Follow::BothWays),
            (StartupJitterMax, HeartbeatInterval, Follow::BothWays),
            (TakeoverDelay, HeartbeatInterval, Follow::Shorter),
            (TakeoverStagger, HeartbeatInterval, Follow::Shorter),
            (ElectionInterval, HeartbeatInterval, Follow::BothWays),
        ] {
            self.decide(span, self.in_proportion(span, scale, follow));
        }
        for span in [MinEpochDuration, MaxEpochDuration] {
            self.decide(span, (span.of(self.profile), SettingNames::new()));
        }
    }

    /// In proportion to the lease if that is given or bounded, with room for what must fit into it.
    fn wanted_heartbeat(&self) -> Sourced {
        let base = HeartbeatInterval.of(self.profile);
        let lease_base = LeaseTimeout.of(self.profile);
        let (lease, from) = self.most(LeaseTimeout);
        let in_lease = lease.saturating_mul(base) / lease_base;
        let follows = self.known.contains_key(&LeaseTimeout) || in_lease < base;
        if !follows {
            // Room for every successor's turn, where only one part of it was given.
            let turns = [(2, TakeoverDelay), (16, TakeoverStagger)];
            let (turns, because) = self.sum(&turns, |span| self.known_or_profile(span));
            return if turns > base { (turns, because) } else { (base, SettingNames::new()) };
        }
        // The part of the lease that is left for beats, shared as in the profile.
        let (spent, spent_by) = self.sum(&[(1, SafetyMargin), (1, StopGrace)], |span| {
            self.known_or(span, |this| {
                let value = span.of(this.profile);
                (value.min(value * lease / lease_base), from.clone())
            })
        });
        let parts = [HeartbeatJitter, RequestTimeout];
        let known: Nanos = parts.iter().filter_map(|span| self.known.get(span)).map(|x| x.0).sum();
        let shared = parts.iter().filter(|span| !self.known.contains_key(span));
        let share: Nanos = base + shared.map(|span| span.of(self.profile)).sum::<Nanos>();
        let left = self.less_drift(lease).saturating_sub(spent + known);
        let roomy = left.saturating_mul(base) / share;
        if roomy >= in_lease {
            return (in_lease, from);
        }
        let parts = parts.iter().filter_map(|span| self.known.get(span)).flat_map(|x| x.1.clone());
        (roomy, from.into_iter().chain(spent_by).chain(parts).collect())
    }

    /// In proportion to the heartbeat interval, or longer if what must fit into it needs that.
    fn wanted_lease(&self) -> Sourced {
        let wanted = self.in_proportion(LeaseTimeout, HeartbeatInterval, Follow::BothWays);
        let needed = [
            (HeartbeatInterval, Follow::BothWays),
            (HeartbeatJitter, Follow::BothWays),
            (RequestTimeout, Follow::Shorter),
            (SafetyMargin, Follow::Shorter),
            (StopGrace, Follow::Shorter),
        ];
        let mut sum = (0, self.drift.clone());
        for (span, follow) in needed {
            let part =
                self.known_or(span, |this| this.in_proportion(span, HeartbeatInterval, follow));
            sum.0 += part.0;
            sum.1.extend(part.1);
        }
        sum.0 = self.with_drift(sum.0).next_multiple_of(MILLISECOND);
        if sum.0 > wanted.0 { sum } else { wanted }
    }

    fn in_proportion(&self, span: Span, scale: Span, follow: Follow) -> Sourced {
        let base = span.of(self.profile);
        let Some((now, from)) = self.known.get(&scale) else {
            return (base, SettingNames::new());
        };
        let scaled = base.saturating_mul(*now) / scale.of(self.profile);
        if scaled == base || (follow == Follow::Shorter && scaled > base) {
            return (base, SettingNames::new());
        }
        (scaled, from.clone())
    }

    /// Settles a span near what is wanted, within what still fits.
    fn decide(&mut self, span: Span, wanted: Sourced) {
        if self.known.contains_key(&span) {
            return;
        }
        let base = span.of(self.profile);
        let (least, most) = (self.least(span), self.most(span));
        let (value, from) = if wanted.0 < least.0 {
            (least.0.next_multiple_of(MILLISECOND).min(most.0), joined(wanted.1, least.1))
        } else if wanted.0 > most.0 {
            ((most.0 - most.0 % MILLISECOND).max(least.0), joined(wanted.1, most.1))
        } else if wanted.0 == base {
            wanted
        } else {
            ((wanted.0 - wanted.0 % MILLISECOND).max(least.0), wanted.1)
        };
        if value != base {
            self.causes.insert(span.name(), from.iter().copied().collect());
        }
        span.set(&mut self.settings, value);
        self.known.insert(span, (value, if value == base { SettingNames::new() } else { from }));
    }

    fn known_or(&self, span: Span, otherwise: impl Fn(&Self) -> Sourced) -> Sourced {
        self.known.get(&span).cloned().unwrap_or_else(|| otherwise(self))
    }

    fn known_or_profile(&self, span: Span) -> Sourced {
        self.known_or(span, |this| (span.of(this.profile), SettingNames::new()))
    }

    fn sum(&self, parts: &[(u32, Span)], of: impl Fn(Span) -> Sourced) -> Sourced {
        let mut sum: Sourced = (0, SettingNames::new());
        for &(times, span) in parts {
            let part = of(span);
            sum.0 += part.0.saturating_mul(times.into());
            if part.0 > 0 {
                sum.1.extend(part.1);
            }
        }
        sum
    }

    /// The least that a span can be, with what is known.
    fn least(&self, span: Span) -> Sourced {
        self.known_or(span, |this| this.least_by_relations(span))
    }

    fn least_by_relations(&self, span: Span) -> Sourced {
        let mut least = (span.least(), SettingNames::new());
        for relation in RELATIONS.iter().filter(|relation| relation.upper == span) {
            let mut needed = self.sum(relation.lowers, |lower| self.least(lower));
            if relation.kind == RelationKind::Window {
                needed = (self.with_drift(needed.0), joined(needed.1, self.drift.clone()));
            }
            if needed.0 > least.0 {
                least = needed;
            }
        }
        least
    }

    /// The most that a span can be, with what is known. Exact if what it must fit into is decided,
    /// or is not bounded by it in two ways.
    fn most(&self, span: Span) -> Sourced {
        if let Some(known) = self.known.get(&span) {
            return known.clone();
        }
        let mut most = (span.most(), SettingNames::new());
        for relation in RELATIONS {
            let part = relation.lowers.iter().find(|(_, lower)| *lower == span);
            let Some((times, _)) = part else { continue };
            let room = self.room(relation, span);
            if room.0 / Nanos::from(*times) < most.0 {
                most = (room.0 / Nanos::from(*times), room.1);
            }
        }
        most
    }

    /// What a relation leaves for one of its lower parts.
    fn room(&self, relation: &Relation, span: Span) -> Sourced {
        let (mut upper, mut from) = self.most(relation.upper);
        if relation.kind == RelationKind::Window {
            upper = self.less_drift(upper);
            from.extend(&self.drift);
        }
        let others: Vec<_> = relation.lowers.iter().copied().filter(|(_, s)| *s != span).collect();
        let (others, because) = self.sum(&others, |lower| self.least(lower));
        (upper.saturating_sub(others), joined(from, because))
    }

    fn with_drift(&self, span: Nanos) -> Nanos {
        let drift_ppm = Nanos::from(self.settings.lease_terms().drift_ppm);
        span.saturating_mul(PPM).div_ceil(PPM - drift_ppm)
    }

    fn less_drift(&self, span: Nanos) -> Nanos {
        less_drift(span, self.settings.lease_terms().drift_ppm)
    }
}

fn joined(mut some: SettingNames, others: SettingNames) -> SettingNames {
    some.extend(others);
    some
}
