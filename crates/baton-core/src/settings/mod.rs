//! Settings: plain data with the names and defaults users see. Checked together, once, at start.
//!
//! ```text
//!   profile ──► Settings ──► overrides (file, environment, flags) ──► derive(), check() ──► Core
//! ```

mod derive;
mod profiles;
mod relations;
pub mod span;
mod spans;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use derive::Derived;
pub use profiles::{Profile, UnknownProfile};
pub use relations::InvalidSettings;

use crate::lease::LeaseTerms;

/// A length of time for a message, in the form it can be written in: `1m 30s`.
pub fn show_span(span: Duration) -> impl Display {
    humantime::format_duration(span)
}

/// Who *should* coordinate among the eligible live nodes. The lease decides who *may*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Policy {
    /// The first id in lexicographic order.
    #[default]
    Lexicographic,
    /// The highest priority, then the first id.
    Priority,
    /// The node that has been there longest.
    Incumbent,
}

/// May a better node replace a live leader?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Preempt {
    /// Never merely because it is better.
    #[default]
    Never,
    /// Once the leader's mandate is over.
    AfterMandate,
}

/// When the breaker opens, and how it closes again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BreakerSettings {
    /// Failures in a row before it opens.
    pub failure_threshold: u32,
    /// How long it stays open before a probe. Never longer than a lease in effect, so that an open
    /// breaker does not delay recovery beyond that.
    #[serde(with = "span")]
    pub reset_timeout: Duration,
    /// Probes that must succeed before it closes.
    pub half_open_max_attempts: u32,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            failure_threshold: 5,
            reset_timeout: Duration::from_secs(30),
            half_open_max_attempts: 1,
        }
    }
}

/// When a slow beat is worth an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ContentionSettings {
    /// Whether to look at all.
    pub enabled: bool,
    /// How many times the heartbeat interval a beat may take, from when it was due to its reply.
    pub threshold: f64,
    /// At most one event in this time.
    #[serde(with = "span")]
    pub rate_limit: Duration,
}

impl Default for ContentionSettings {
    fn default() -> Self {
        Self { enabled: true, threshold: 2.0, rate_limit: Duration::from_secs(30) }
    }
}

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// `false`: single-instance mode, the node leads alone and uses no store.
    pub enabled: bool,
    /// May this node lead?
    pub eligible: bool,
    /// Higher leads first under the `priority` policy.
    pub priority: i32,
    /// Who should lead.
    pub policy: Policy,
    /// May a better node replace a live leader?
    pub preempt: Preempt,

    /// How long the store keeps the lease for a silent holder.
    #[serde(with = "span")]
    pub lease_timeout: Duration,
    /// Time between two beats of a node.
    #[serde(with = "span")]
    pub heartbeat_interval: Duration,
    /// Each beat comes up to this much earlier or later.
    #[serde(with = "span")]
    pub heartbeat_jitter: Duration,
    /// How long one request to the store may take.
    #[serde(with = "span")]
    pub request_timeout: Duration,
    /// The most by which two clocks' rates may differ: ρ.
    pub clock_drift_max: f64,
    /// Kept free at the end of the trust window and before an observed takeover.
    #[serde(with = "span")]
    pub safety_margin: Duration,
    /// How long work has to stop: the time between the soft and the hard deadline.
    #[serde(with = "span")]
    pub stop_grace: Duration,

    /// Silence after which a node is dropped from the view.
    #[serde(with = "span")]
    pub worker_timeout: Duration,
    /// Silence after which a node's jobs are orphans.
    #[serde(with = "span")]
    pub dead_node_timeout: Duration,
    /// The least by which a node that joins others shifts its beats.
    #[serde(with = "span")]
    pub startup_jitter_min: Duration,
    /// The most by which a node that joins others shifts its beats.
    #[serde(with = "span")]
    pub startup_jitter_max: Duration,

    /// How long a node watches a namespace without a leader before it stands for election.
    #[serde(with = "span")]
    pub cold_start_observation_window: Duration,
    /// How long the winner of a cold start waits before it begins to work.
    #[serde(with = "span")]
    pub cold_start_preparation_delay: Duration,
    /// Stand for election at once.
    pub skip_cold_start: bool,
    /// Time between two checks of who leads.
    #[serde(with = "span")]
    pub election_interval: Duration,
    /// Waited before a takeover where there is doubt; not after a resignation or a proved death.
    #[serde(with = "span")]
    pub takeover_delay: Duration,
    /// Each further successor waits this much longer than the one before.
    #[serde(with = "span")]
    pub takeover_stagger: Duration,
    /// How many successors keep a connection to the leader's lifeline.
    pub lifeline_successors: u32,
    /// How long a leader cannot be challenged.
    #[serde(with = "span")]
    pub min_epoch_duration: Duration,
    /// After how long a leader's mandate must be confirmed.
    #[serde(with = "span")]
    pub max_epoch_duration: Duration,
    /// The number of changes of leader within `flap_window` that is worth a warning.
    pub flap_threshold: u32,
    /// See `flap_threshold`.
    #[serde(with = "span")]
    pub flap_window: Duration,

    /// `false`: tasks of any epoch are accepted.
    pub epoch_fencing_enabled: bool,
    /// How long after a change tasks of the previous epoch are accepted.
    #[serde(with = "span")]
    pub epoch_grace_period: Duration,

    /// When the breaker opens, and how it closes again.
    pub circuit_breaker: BreakerSettings,
    /// When a slow beat is worth an event.
    pub contention: ContentionSettings,
    /// How many beats' latencies the percentiles are taken from.
    pub metrics_buffer_size: u32,
}

impl Default for Settings {
    fn default() -> Self {
        let s = Duration::from_secs;
        let ms = Duration::from_millis;
        Self {
            enabled: true,
            eligible: true,
            priority: 0,
            policy: Policy::default(),
            preempt: Preempt::default(),
            lease_timeout: s(15),
            heartbeat_interval: s(5),
            heartbeat_jitter: s(1),
            request_timeout: s(2),
            clock_drift_max: 0.01,
            safety_margin: ms(250),
            stop_grace: s(2),
            worker_timeout: s(20),
            dead_node_timeout: s(30),
            startup_jitter_min: s(0),
            startup_jitter_max: s(5),
            cold_start_observation_window: s(1),
            cold_start_preparation_delay: s(0),
            skip_cold_start: false,
            election_interval: s(5),
            takeover_delay: s(1),
            takeover_stagger: ms(100),
            lifeline_successors: 3,
            min_epoch_duration: s(60),
            max_epoch_duration: s(300),
            flap_threshold: 5,
            flap_window: s(600),
            epoch_fencing_enabled: true,
            epoch_grace_period: s(5),
            circuit_breaker: BreakerSettings::default(),
            contention: ContentionSettings::default(),
            metrics_buffer_size: 100,
        }
    }
}

impl Settings {
    /// The same, with some changed. From another crate a struct expression cannot name them all:
    /// a later version may have more.
    ///
    /// ```
    /// use baton_core::settings::Settings;
    ///
    /// let settings = Settings::default().tune(|settings| settings.eligible = false);
    /// assert!(!settings.eligible);
    /// ```
    #[must_use]
    pub fn tune(mut self, tune: impl FnOnce(&mut Self)) -> Self {
        tune(&mut self);
        self
    }

    /// The numbers of the trust window.
    pub fn lease_terms(&self) -> LeaseTerms {
        LeaseTerms {
            ttl: self.lease_timeout,
            drift_ppm: (self.clock_drift_max * 1e6).ceil() as u32,
            margin: self.safety_margin,
            stop_grace: self.stop_grace,
        }
    }

    /// How long an open breaker waits before a probe.
    pub fn probe_after(&self) -> Duration {
        self.circuit_breaker.reset_timeout.min(self.lease_timeout)
    }
}
