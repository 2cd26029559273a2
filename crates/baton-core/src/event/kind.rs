//! What is the same of every event of a kind: its names, what it is about, how much it matters.

use std::borrow::Cow;

use serde::Serialize;

use super::{DemotionReason, Event};
use crate::health::Verdict;

/// How much an event matters, in the words of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Routine.
    Debug,
    /// What changed.
    Info,
    /// What deserves a look.
    Warn,
    /// What a person should see to.
    Error,
}

/// The part of baton that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Who leads, and for how long.
    Election,
    /// The store, and the breaker in front of it.
    Store,
    /// The nodes, and how the cluster does.
    Member,
    /// Plugins and services.
    Plugin,
    /// The proof of a crash.
    Lifeline,
    /// The beats themselves.
    Beat,
}

type Kind = (Topic, Level, &'static [&'static str]);

impl Event {
    /// The names of this event, the one it is serialised under first. What happens to a plugin
    /// goes by the plugin's name too: `plugin:failed` is `plugin:ttl:failed`.
    pub fn names(&self) -> Vec<Cow<'static, str>> {
        let mut names: Vec<Cow<'static, str>> =
            self.kind().2.iter().map(|name| Cow::Borrowed(*name)).collect();
        if let Some(plugin) = self.plugin() {
            let what = names[0].trim_start_matches("plugin:");
            let scoped = format!("plugin:{plugin}:{what}");
            names.push(scoped.into());
        }
        names
    }

    /// The plugin that this is about, if it is about one.
    pub fn plugin(&self) -> Option<&str> {
        match self {
            Self::PluginPromoted { plugin, .. }
            | Self::PluginDemoted { plugin, .. }
            | Self::PluginFailed { plugin, .. }
            | Self::PluginSwept { plugin, .. }
            | Self::PluginIgnoredCancellation { plugin } => Some(plugin),
            _ => None,
        }
    }

    /// The name that it is serialised under.
    pub fn name(&self) -> &'static str {
        self.kind().2[0]
    }

    /// How much it matters.
    pub fn level(&self) -> Level {
        self.kind().1
    }

    /// The part of baton that it is about.
    pub fn topic(&self) -> Topic {
        self.kind().0
    }

    fn kind(&self) -> Kind {
        use Level::{Debug, Error, Info, Warn};
        use Topic::{Beat, Election, Lifeline, Member, Plugin, Store};
        let ended = |reason: &DemotionReason| match reason {
            DemotionReason::Released(_) => Info,
            _ => Warn,
        };
        match self {
            Self::LeaderChanged { .. } => (Election, Info, &["leader:changed"]),
            Self::WorkersUpdated { .. } => (Member, Debug, &["workers:updated"]),
            Self::WorkerHeartbeat { .. } => (Beat, Debug, &["worker-heartbeat"]),
            Self::CoordinatorElected { .. } => (Election, Info, &["coordinator-elected"]),
            Self::CoordinatorPromoted { .. } => {
                (Election, Info, &["coordinator-promoted", "became_leader"])
            }
            Self::CoordinatorDemoted { reason, .. } => {
                (Election, ended(reason), &["coordinator-demoted", "lost_leadership"])
            }
            Self::CoordinatorEpochRenewed { .. } => {
                (Election, Debug, &["coordinator-epoch-renewed"])
            }
            Self::ColdStartPhaseChanged { .. } => (Election, Debug, &["cold-start-phase-changed"]),
            Self::LeaderDown { .. } => (Election, Warn, &["leader_down"]),
            Self::ElectionCheck { .. } => (Election, Debug, &["election_check"]),
            Self::ContentionDetected { .. } => (Store, Warn, &["contention:detected"]),
            Self::BreakerOpen { .. } => (Store, Warn, &["circuitBreaker:open"]),
            Self::BreakerHalfOpen => (Store, Warn, &["circuitBreaker:half-open"]),
            Self::BreakerClosed => (Store, Info, &["circuitBreaker:closed"]),
            Self::StoreUnreachable { .. } => (Store, Warn, &["store:unreachable"]),
            Self::LeaseLost { .. } => (Election, Warn, &["lease:lost"]),
            Self::TermOverran { .. } => (Election, Error, &["term:overran"]),
            Self::StoreWentBack { .. } => (Store, Error, &["store:went-back"]),
            Self::LeaderFlapping { .. } => (Election, Warn, &["leader:flapping"]),
            Self::NodeIdTaken { .. } => (Member, Error, &["node:id-taken"]),
            Self::NodeSuperseded { .. } => (Member, Error, &["node:superseded"]),
            Self::WorkerTimedOut { .. } => (Member, Warn, &["worker:timed-out"]),
            Self::WorkerDead { .. } => (Member, Warn, &["worker:dead"]),
            Self::TransferStarted { .. } => (Election, Info, &["transfer:started"]),
            Self::TransferRefused { .. } => (Election, Warn, &["transfer:refused"]),
            Self::LifelineUnwatched(_) => (Lifeline, Warn, &["lifeline:unwatched"]),
            Self::StoreRejected => (Store, Error, &["store:rejected"]),
            Self::PluginPromoted { .. } => (Plugin, Debug, &["plugin:promoted"]),
            Self::PluginDemoted { .. } => (Plugin, Debug, &["plugin:demoted"]),
            Self::HealthChanged { verdict, .. } => {
                let level = match verdict {
                    Verdict::Critical => Error,
                    Verdict::Degraded => Warn,
                    Verdict::Healthy => Info,
                };
                (Member, level, &["cluster:health-changed"])
            }
            Self::PluginFailed { restart_in_ms, .. } => {
                let level = if restart_in_ms.is_some() { Warn } else { Error };
                (Plugin, level, &["plugin:failed"])
            }
            Self::PluginSwept { .. } => (Plugin, Info, &["plugin:swept"]),
            Self::PluginIgnoredCancellation { .. } => {
                (Plugin, Error, &["plugin:ignored-cancellation"])
            }
        }
    }
}
