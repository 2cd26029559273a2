//! What a user's store, network and operations are like. Every value has a default.

use std::time::Duration;

use baton_core::settings::{Settings, show_span, span};
use baton_store::ExpiryClock;
use serde::{Deserialize, Serialize};

use crate::plan::{Fault, Latency, Plan};

/// No frequency may be higher than this: a cluster that is struck all the time tells nothing.
const MOST_OFTEN: f64 = 1_000.0;

/// What a cluster lives in: the `[environment]` of a what-if file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Environment {
    /// Whose clock judges that a lease is over.
    pub store_clock: ExpiryClock,
    /// Can nodes reach each other's lifeline?
    pub lifeline: bool,
    /// Does the store push hints?
    pub push: bool,
    /// How long a request to the store usually takes, there and back.
    #[serde(with = "span")]
    pub latency: Duration,
    /// How long a process that died or left takes to come back.
    #[serde(with = "span")]
    pub restart: Duration,
    /// How often each node's process dies.
    pub crashes_per_node_and_month: f64,
    /// How often every node is replaced.
    pub deploys_per_day: f64,
    /// The time between two nodes' turns in a deploy.
    #[serde(with = "span")]
    pub deploy_pace: Duration,
    /// How often each node's process stops for a while.
    pub pauses_per_node_and_week: f64,
    /// For how long, give or take a fifth.
    #[serde(with = "span")]
    pub pause_length: Duration,
    /// How often each node's machine loses its network.
    pub cuts_per_node_and_month: f64,
    /// For how long, give or take a fifth.
    #[serde(with = "span")]
    pub cut_length: Duration,
    /// How often the store is away for a moment, as in a restart.
    pub brief_outages_per_month: f64,
    /// For how long, give or take a fifth.
    #[serde(with = "span")]
    pub brief_outage_length: Duration,
    /// How often the store is away for long.
    pub outages_per_month: f64,
    /// For how long, give or take a fifth.
    #[serde(with = "span")]
    pub outage_length: Duration,
}

impl Default for Environment {
    fn default() -> Self {
        let s = Duration::from_secs;
        Self {
            store_clock: ExpiryClock::Store,
            lifeline: true,
            push: true,
            latency: Duration::from_millis(2),
            restart: s(10),
            crashes_per_node_and_month: 1.0,
            deploys_per_day: 1.0,
            deploy_pace: s(30),
            pauses_per_node_and_week: 0.1,
            pause_length: s(90),
            cuts_per_node_and_month: 0.1,
            cut_length: s(120),
            brief_outages_per_month: 4.0,
            brief_outage_length: s(2),
            outages_per_month: 0.5,
            outage_length: s(120),
        }
    }
}

impl Environment {
    /// The first value that makes no sense.
    pub fn check(&self, settings: &Settings) -> Result<(), String> {
        let often = [
            ("crashes_per_node_and_month", self.crashes_per_node_and_month),
            ("deploys_per_day", self.deploys_per_day),
            ("pauses_per_node_and_week", self.pauses_per_node_and_week),
            ("cuts_per_node_and_month", self.cuts_per_node_and_month),
            ("brief_outages_per_month", self.brief_outages_per_month),
            ("outages_per_month", self.outages_per_month),
        ];
        for (name, given) in often {
            if !(0.0..=MOST_OFTEN).contains(&given) {
                return Err(format!("{name} ({given}) must be between 0 and {MOST_OFTEN}"));
            }
        }
        let lengths = [
            ("restart", self.restart),
            ("deploy_pace", self.deploy_pace),
            ("pause_length", self.pause_length),
            ("cut_length", self.cut_length),
            ("brief_outage_length", self.brief_outage_length),
            ("outage_length", self.outage_length),
        ];
        let (least, most) = (Duration::from_millis(10), Duration::from_secs(24 * 3_600));
        for (name, given) in lengths {
            if !(least..=most).contains(&given) {
                let given = show_span(given);
                return Err(format!("{name} ({given}) must be between 10ms and 1day"));
            }
        }
        if self.latency > settings.request_timeout {
            let (latency, timeout) = (show_span(self.latency), show_span(settings.request_timeout));
            return Err(format!("latency ({latency}) must be at most request_timeout ({timeout})"));
        }
        Ok(())
    }

    /// How nodes learn of each other and of the store's changes, in a few words.
    pub fn reach(&self) -> String {
        let with = |there: bool| if there { "with" } else { "no" };
        format!("{} lifeline, {} push", with(self.lifeline), with(self.push))
    }

    /// A cluster that lives in it.
    pub fn plan(&self, nodes: usize, settings: Settings, seed: u64) -> Plan {
        let usual = self.latency / 2;
        // Clocks differ by what is common, unless the settings promise better.
        let drift_ppm = ((settings.clock_drift_max * 0.5e6) as i64).min(50);
        Plan {
            seed,
            lifeline: self.lifeline,
            expiry: self.store_clock,
            member_age: self.store_clock != ExpiryClock::Observer,
            push: self.push,
            latency: Latency { least: usual / 2, usual, most: 2 * usual, tail: 2 * usual },
            drift_ppm,
            // A process that comes back keeps its node id.
            faults: [Fault::Restart].into(),
            ..Plan::quiet(nodes, settings)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_with_its_number() {
        let settings = Settings::default();
        assert_eq!(Environment::default().check(&settings), Ok(()));
        let cases = [
            (
                Environment { deploys_per_day: -1.0, ..Environment::default() },
                "deploys_per_day (-1) must be between 0 and 1000",
            ),
            (
                Environment { restart: Duration::ZERO, ..Environment::default() },
                "restart (0s) must be between 10ms and 1day",
            ),
            (
                Environment { latency: Duration::from_secs(3), ..Environment::default() },
                "latency (3s) must be at most request_timeout (2s)",
            ),
        ];
        for (environment, expected) in cases {
            assert_eq!(environment.check(&settings), Err(expected.to_owned()));
        }
    }
}
