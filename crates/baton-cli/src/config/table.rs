//! The one table of everything that can be set. Flags, environment, help and tests come from it.

use super::value::Kind;

/// Where a setting stands in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// Which store, which namespace.
    Place,
    /// Who this node is.
    Node,
    /// The lease and the beats that keep it.
    Lease,
    /// Who leads, and when that changes.
    Election,
    /// Who counts as being there.
    Membership,
    /// What happens when the store is slow or gone.
    Trouble,
    /// The port by which a death is proved.
    Lifeline,
    /// What is told of this node, and how.
    Telling,
}

impl Heading {
    /// As the help shows it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Place => "Where",
            Self::Node => "This node",
            Self::Lease => "Lease and beats",
            Self::Election => "Election",
            Self::Membership => "Membership",
            Self::Trouble => "Trouble with the store",
            Self::Lifeline => "Lifeline",
            Self::Telling => "Metrics and logs",
        }
    }
}

/// One thing that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in a file; a dot goes into a table.
    pub key: &'static str,
    /// Its flag, if that is not the key in kebab-case.
    flag: Option<&'static str>,
    /// What a value looks like.
    pub kind: Kind,
    /// Where the help shows it.
    pub heading: Heading,
    /// Does the short help show it too?
    pub common: bool,
    /// One line for people.
    pub help: &'static str,
    /// An older name in the environment; spans under it are in milliseconds.
    pub legacy: Option<&'static str>,
}

impl Entry {
    const fn new(key: &'static str, kind: Kind, heading: Heading, help: &'static str) -> Self {
        Self { key, flag: None, kind, heading, common: false, help, legacy: None }
    }

    const fn common(mut self) -> Self {
        self.common = true;
        self
    }

    const fn flagged(mut self, flag: &'static str) -> Self {
        self.flag = Some(flag);
        self
    }

    const fn once(mut self, legacy: &'static str) -> Self {
        self.legacy = Some(legacy);
        self
    }

    /// Its flag, without the dashes.
    pub fn flag(&self) -> String {
        self.flag.unwrap_or(self.key).replace(['_', '.'], "-")
    }

    /// Its name in the environment.
    pub fn variable(&self) -> String {
        format!("BATON_{}", self.flag().replace('-', "_").to_uppercase())
    }

    /// What the help calls a value.
    pub fn placeholder(&self) -> &'static str {
        match self.key {
            "store" | "otlp" => "URL",
            "namespace" | "profile" => "NAME",
            "id" => "NODE",
            _ => self.kind.placeholder(),
        }
    }

    /// May a password stand in its value?
    pub fn may_hold_secret(&self) -> bool {
        matches!(self.key, "store" | "otlp")
    }

    /// The flag that switches it off.
    pub fn negation(&self) -> String {
        format!("no-{}", self.flag())
    }

    /// Is it a field of `Settings`, and not of the command's own?
    pub fn is_core(&self) -> bool {
        !matches!(self.key, "store" | "namespace" | "id" | "profile")
            && !self.key.starts_with("lifeline.")
            && self.heading != Heading::Telling
            && !self.key.starts_with("own_records.")
    }
}

/// The entry with this key.
pub fn entry(key: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.key == key)
}

use Heading as H;
use Kind::{Address, Choice, Count, Hosts, Number, Span, Switch, Text, Whole};

const POLICIES: Kind = Choice(&["lexicographic", "priority", "incumbent"]);
const PROFILES: &str = "What the settings start from: default, fast, frugal, short-lease, \
                        long-lease, first-come, slow-start";
const LOG_FORMATS: Kind = Choice(&["text", "json"]);
const PREEMPTIONS: Kind = Choice(&["never", "after_mandate"]);

const fn e(key: &'static str, kind: Kind, heading: Heading, help: &'static str) -> Entry {
    Entry::new(key, kind, heading, help)
}

/// Every setting, in the order of the help.
pub const TABLE: &[Entry] = &[
    e("store", Text, H::Place, "Where the instances meet, such as sqlite:///var/lib/app/baton.db")
        .common(),
    e("namespace", Text, H::Place, "Which cluster inside the store").common(),
    e("id", Text, H::Node, "This node's name, unique in its namespace").common(),
    e("profile", Text, H::Node, PROFILES).common(),
    e("eligible", Switch, H::Node, "May this node lead?").common().once("COORDINATOR_ELIGIBLE"),
    e("priority", Whole, H::Node, "Higher leads first under the priority policy"),
    e("enabled", Switch, H::Node, "false: lead alone, without any store"),
    e("lease_timeout", Span, H::Lease, "How long the store keeps the lease of a silent node")
        .common(),
    e("heartbeat_interval", Span, H::Lease, "Time between two beats of a node").common(),
    e("heartbeat_jitter", Span, H::Lease, "Each beat comes up to this much earlier or later"),
    e("request_timeout", Span, H::Lease, "How long one request to the store may take"),
    e("clock_drift_max", Number, H::Lease, "The most by which two clocks' rates may differ"),
    e("safety_margin", Span, H::Lease, "Kept free at the end of the trust window"),
    e("stop_grace", Span, H::Lease, "How long work has to stop before the lease is over").common(),
    e("policy", POLICIES, H::Election, "Who should lead among those who may").common(),
    e("preempt", PREEMPTIONS, H::Election, "May a better node replace a live leader?"),
    e("skip_cold_start", Switch, H::Election, "Stand for election at once").common(),
    e(
        "cold_start_observation_window",
        Span,
        H::Election,
        "How long a starting node watches for others",
    ),
    e("cold_start_preparation_delay", Span, H::Election, "Waited by the winner of a cold start"),
    e("election_interval", Span, H::Election, "Time between two checks of who leads")
        .once("COORDINATOR_ELECTION_INTERVAL"),
    e("takeover_delay", Span, H::Election, "Waited before a takeover where there is doubt")
        .once("COORDINATOR_TAKEOVER_DELAY"),
    e("takeover_stagger", Span, H::Election, "Each further successor waits this much longer"),
    e("min_epoch_duration", Span, H::Election, "How long a leader cannot be challenged"),
    e("max_epoch_duration", Span, H::Election, "After how long it must be confirmed"),
    e("flap_threshold", Count, H::Election, "Leader changes in flap_window that cause a warning"),
    e("flap_window", Span, H::Election, "Time window in which leader changes are counted"),
    e("epoch_fencing_enabled", Switch, H::Election, "false: accept tasks of any epoch"),
    e("epoch_grace_period", Span, H::Election, "How long tasks of the last epoch are accepted"),
    e("worker_timeout", Span, H::Membership, "Silence after which a node is dropped"),
    e("dead_node_timeout", Span, H::Membership, "Silence after which a node is dead"),
    e(
        "own_records.forget_dead_after",
        Span,
        H::Membership,
        "serve: silence after which a node is forgotten",
    )
    .flagged("forget-dead-after"),
    e("own_records.keep_terms", Count, H::Membership, "serve: how many of the last terms are kept")
        .flagged("keep-terms"),
    e("startup_jitter_min", Span, H::Membership, "The least by which a joining node shifts"),
    e("startup_jitter_max", Span, H::Membership, "The most by which a joining node shifts"),
    e("metrics_buffer_size", Count, H::Membership, "Beats that percentiles are taken from"),
    e(
        "circuit_breaker.failure_threshold",
        Count,
        H::Trouble,
        "Failures before beats are held back",
    )
    .flagged("failure-threshold"),
    e(
        "circuit_breaker.reset_timeout",
        Span,
        H::Trouble,
        "How long requests are held back before a probe",
    )
    .flagged("reset-timeout"),
    e("circuit_breaker.half_open_max_attempts", Count, H::Trouble, "Probes that must succeed")
        .flagged("half-open-max-attempts"),
    e("contention.enabled", Switch, H::Trouble, "Tell when a beat is slow"),
    e(
        "contention.threshold",
        Number,
        H::Trouble,
        "A beat is slow after this many heartbeat intervals",
    ),
    e("contention.rate_limit", Span, H::Trouble, "Tell at most once in this time"),
    e("lifeline.enabled", Switch, H::Lifeline, "Prove a dead process by its closed port")
        .flagged("lifeline")
        .common(),
    e("lifeline.bind", Address, H::Lifeline, "Where to listen; port 0 takes a free one").common(),
    e("lifeline.advertise", Address, H::Lifeline, "Where other nodes reach it"),
    e("lifeline.connections_max", Count, H::Lifeline, "The most connections it takes"),
    e("lifeline_successors", Count, H::Lifeline, "How many successors keep a connection"),
    e("metrics", Address, H::Telling, "Serve /metrics, /livez, /readyz, /leader here").common(),
    e("metrics_hosts", Hosts, H::Telling, "Names, not addresses, that requests may use for it"),
    e("otlp", Text, H::Telling, "Send traces and metrics to the collector at this URL"),
    e("log_format", LOG_FORMATS, H::Telling, "How stderr is written").common(),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use baton_core::settings::{Profile, Settings};

    use super::super::tree::leaves;
    use super::*;

    #[test]
    fn every_field_of_the_settings_can_be_set() {
        let table = toml::Table::try_from(Settings::default()).expect("plain data");
        let fields: BTreeSet<String> = leaves(&table).into_iter().map(|(key, _)| key).collect();
        let rows: BTreeSet<String> =
            TABLE.iter().filter(|entry| entry.is_core()).map(|e| e.key.to_owned()).collect();
        assert_eq!(rows, fields);
    }

    #[test]
    fn the_help_names_every_profile() {
        let names = Profile::ALL.map(Profile::name).join(", ");
        assert!(PROFILES.ends_with(&names), "{PROFILES}");
    }

    #[test]
    fn flags_and_variables_are_unique_and_spelt_alike() {
        let flags: BTreeSet<String> = TABLE.iter().map(Entry::flag).collect();
        assert_eq!(flags.len(), TABLE.len());
        let row = entry("circuit_breaker.failure_threshold").expect("in the table");
        assert_eq!(row.flag(), "failure-threshold");
        assert_eq!(row.variable(), "BATON_FAILURE_THRESHOLD");
        let row = entry("contention.rate_limit").expect("in the table");
        assert_eq!(row.flag(), "contention-rate-limit");
        assert_eq!(row.variable(), "BATON_CONTENTION_RATE_LIMIT");
    }
}
