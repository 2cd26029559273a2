//! What leaves a cluster without a leader, and how often.

use serde::Serialize;

use super::Environment;

/// Days in a month, on average.
pub const MONTH_DAYS: f64 = 365.25 / 12.0;

/// Why there was no leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    Crash,
    Deploy,
    Pause,
    Cut,
    BriefOutage,
    Outage,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 6] =
        [Self::Crash, Self::Deploy, Self::Pause, Self::Cut, Self::BriefOutage, Self::Outage];

    /// As people call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Crash => "leader killed",
            Self::Deploy => "rolling deploy",
            Self::Pause => "leader paused",
            Self::Cut => "host without network",
            Self::BriefOutage => "store away, brief",
            Self::Outage => "store away, long",
        }
    }

    /// How often a day. What strikes each node so often strikes the leader so often: there is
    /// one at a time.
    pub fn a_day(self, environment: &Environment) -> f64 {
        match self {
            Self::Crash => environment.crashes_per_node_and_month / MONTH_DAYS,
            Self::Deploy => environment.deploys_per_day,
            Self::Pause => environment.pauses_per_node_and_week / 7.0,
            Self::Cut => environment.cuts_per_node_and_month / MONTH_DAYS,
            Self::BriefOutage => environment.brief_outages_per_month / MONTH_DAYS,
            Self::Outage => environment.outages_per_month / MONTH_DAYS,
        }
    }
}
