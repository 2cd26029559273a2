//! What an event is about, how much it matters, and by which names it goes.

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
#[non_exhaustive]
pub enum Topic {
    /// Who leads, and for how long.
    Election,
    /// The store, and the breaker in front of it.
    Store,
    /// The nodes, and how the cluster does.
    Member,
    /// Plugins and services.
    Plugin,
    /// Schedules.
    Schedule,
    /// Partitions.
    Partition,
    /// The proof of a crash.
    Lifeline,
    /// The beats themselves.
    Beat,
}

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
        match self {
            Self::CoordinatorDemoted { reason: DemotionReason::Released(_), .. } => Level::Info,
            Self::PluginFailed { restart_in_ms: None, .. } => Level::Error,
            Self::ScheduleEnded { outcome, .. } if outcome.is_failure() => Level::Warn,
            Self::HealthChanged { verdict: Verdict::Critical, .. } => Level::Error,
            Self::HealthChanged { verdict: Verdict::Degraded, .. } => Level::Warn,
            _ => self.kind().1,
        }
    }

    /// The part of baton that it is about.
    pub fn topic(&self) -> Topic {
        self.kind().0
    }
}
