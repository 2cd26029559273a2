//! How far the search goes, and the settings the nodes run with.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::NodeProfile;
use baton_core::settings::Settings;
use baton_core::time::Moment;
use baton_core::{Core, Identity};
use baton_store::ExpiryClock;
use serde::Serialize;

/// One tick of the search's clock.
pub const TICK: Duration = Duration::from_secs(1);

/// How many ticks after its timeout a request may still reach the store: longer than a lease.
pub const LATE_TICKS: u32 = 6;

/// A wrong rule, to see that the search finds what it looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongRule {
    /// The store grants every claim, even while another node holds the lease.
    GrantsEverything,
    /// The store forgets the record when it is released.
    ForgetsOnRelease,
    /// A process's clock stands still while it is paused.
    PauseStopsClock,
    /// A process's clock is set back to where it was paused.
    ResumeSetsClockBack,
    PausedIsDead,
    /// Work is said to have stopped while it goes on.
    StopIsNoProof,
}

/// How far the search goes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bounds {
    pub nodes: usize,
    /// Whose clock judges that a lease is over.
    pub clock: ExpiryClock,
    pub horizon: u32,
    /// A node's first start may be put off until this tick, so that beats fall in and out of step.
    #[serde(skip)]
    pub start_by: u32,
    /// How many faults may happen, of any kinds and at any times: a message that is slow, late or
    /// lost, a pause, a crash, a start after a crash, a leader that is asked to resign, a
    /// firewall before a lifeline.
    pub faults: u8,
    #[serde(skip)]
    pub wrong_rule: Option<WrongRule>,
}

impl Bounds {
    /// The bounds that are searched by default for this many nodes, the most far-reaching that end
    /// within a minute or so: with three nodes, either one fault over two leases or two faults over
    /// one.
    pub fn defaults(nodes: usize, clock: ExpiryClock) -> Vec<Self> {
        let two = Self { nodes, clock, horizon: 9, start_by: 1, faults: 2, wrong_rule: None };
        let three = Self { horizon: 10, start_by: 0, faults: 1, ..two };
        match nodes {
            2 => vec![two],
            _ => vec![three, Self { horizon: 5, faults: 2, ..three }],
        }
    }
}

/// What stays the same in all states of one search.
pub struct Model {
    pub bounds: Bounds,
    settings: Arc<Settings>,
    nodes: Vec<(NodeId, Arc<NodeProfile>)>,
}

impl Model {
    /// A model within these bounds.
    pub fn new(bounds: Bounds) -> Self {
        let node = |slot: usize| {
            let id = NodeId::new(&format!("n{slot}")).expect("it is a valid name");
            let lifeline = Some(Arc::from(format!("n{slot}:7000")));
            (id, Arc::new(NodeProfile { lifeline, ..NodeProfile::default() }))
        };
        let nodes = (0..bounds.nodes).map(node).collect();
        Self { bounds, settings: Arc::new(settings()), nodes }
    }

    /// A process that has not started: the `generation`th of its node.
    pub fn core(&self, slot: usize, generation: u8) -> Core {
        let (id, profile) = self.nodes[slot].clone();
        let me = Identity { id, boot: boot(slot, generation), profile };
        Core::new(me, self.settings.clone(), slot as u64).expect("a test checks these settings")
    }

    /// The slot of the node with this id.
    pub fn slot_of(&self, node: &NodeId) -> Option<usize> {
        self.nodes.iter().position(|(id, _)| id == node)
    }

    /// A length of time in ticks, rounded up.
    pub fn ticks(span: Duration) -> u32 {
        u32::try_from(span.as_nanos().div_ceil(TICK.as_nanos())).unwrap_or(u32::MAX)
    }

    /// How long work may take to stop, in ticks.
    pub fn stop_grace(&self) -> u32 {
        Self::ticks(self.settings.stop_grace)
    }

    /// Does this wrong rule hold?
    pub fn is(&self, wrong_rule: WrongRule) -> bool {
        self.bounds.wrong_rule == Some(wrong_rule)
    }
}

/// The boot id of a node's `generation`th process.
pub fn boot(slot: usize, generation: u8) -> BootId {
    BootId((slot as u128 + 1) * 0x10 + u128::from(generation))
}

/// The slot that a boot runs or ran in.
pub fn slot_of_boot(boot: BootId) -> usize {
    (boot.0 / 0x10) as usize - 1
}

/// What a node's clock reads at this tick. Every node's has an origin of its own.
pub fn local(slot: usize, tick: u32) -> Moment {
    Moment::default() + TICK * (tick + 100 * (slot as u32 + 1))
}

/// What the store's clock reads at this tick. It lies between two ticks of the nodes', so that a
/// store which looks through its leases now and then ends them late.
pub fn at_store(tick: u32) -> Moment {
    Moment::default() + TICK * (tick + 10_000) + TICK / 4
}

/// Small numbers that fit each other as the shipped ones do. Whatever merely tells people something
/// is off or rare, so that it makes no difference between two states.
fn settings() -> Settings {
    let long = Duration::from_secs(3_600);
    Settings::default().tune(|it| {
        it.lease_timeout = 5 * TICK;
        it.heartbeat_interval = 2 * TICK;
        it.heartbeat_jitter = Duration::ZERO;
        it.request_timeout = TICK;
        it.safety_margin = TICK / 4;
        it.stop_grace = TICK;
        it.worker_timeout = 6 * TICK;
        it.dead_node_timeout = 8 * TICK;
        it.startup_jitter_max = Duration::ZERO;
        it.skip_cold_start = true;
        it.election_interval = long;
        it.takeover_delay = Duration::ZERO;
        it.takeover_stagger = Duration::ZERO;
        it.min_epoch_duration = 5 * TICK;
        it.flap_threshold = 1_000;
        it.flap_window = Duration::ZERO;
        it.contention.enabled = false;
        it.metrics_buffer_size = 1;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_contradict_nothing_and_leave_the_windows_a_margin_below_a_tick() {
        let settings = settings();
        assert_eq!(settings.check(), Ok(()));
        let lost = settings.lease_timeout - settings.lease_terms().trusted_span();
        assert!(lost > Duration::ZERO && lost < TICK, "{lost:?}");
    }

    #[test]
    fn a_boot_id_tells_its_slot() {
        for slot in 0..3 {
            assert_eq!(slot_of_boot(boot(slot, 3)), slot);
        }
    }
}
