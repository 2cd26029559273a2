//! The faults a run may meet. A campaign in which one of them never happened has failed.

use serde::Serialize;

macro_rules! faults {
    ($($name:ident = $text:literal: $doc:literal,)*) => {
        /// Something that goes wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Fault { $(#[doc = $doc] #[serde(rename = $text)] $name,)* }

        impl Fault {
            /// Every fault.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

faults! {
    SlowMessage = "slow-message": "A message takes far longer than usual, even past its timeout.",
    LostRequest = "lost-request": "A request is lost: timeout before apply.",
    LostReply = "lost-reply": "A reply is lost: timeout after apply.",
    Duplicate = "duplicate": "A request is delivered twice.",
    Reset = "reset": "A connection is reset, before or after apply.",
    Throttle = "throttle": "The store asks for patience.",
    StaleReplica = "stale-replica": "A read is answered from an older state.",
    StoreFailover = "store-failover": "The store fails over and loses its last writes.",
    StoreRestart = "store-restart": "The store restarts with its data.",
    StoreOutage = "store-outage": "The store is away for longer than a lease.",
    LostHint = "lost-hint": "A hint is lost.",
    ReorderedHint = "reordered-hint": "A hint comes late and out of order.",
    FalseHint = "false-hint": "A hint that tells of nothing new.",
    Pause = "pause": "A process stops for longer than its lease.",
    Suspend = "suspend": "A machine is suspended.",
    SlowTimer = "slow-timer": "A timer fires late.",
    Crash = "crash": "A process dies.",
    CrashMidway = "crash-midway": "A process dies between two actions.",
    Restart = "restart": "A process that died starts again under the same node id.",
    Twin = "twin": "A second process is started with a node id in use.",
    DriftWithin = "drift-within": "Clock rates change, within the bound.",
    DriftBeyond = "drift-beyond": "Clock rates change, beyond the bound.",
    StoreClockStep = "store-clock-step": "The clock that judges leases jumps forward.",
    WallStep = "wall-step": "The store's wall clock is stepped.",
    CutToStore = "cut-to-store": "A node's requests do not reach the store.",
    CutFromStore = "cut-from-store": "The store's replies do not reach a node.",
    CutOffStore = "cut-off-store": "A node and the store do not reach each other at all.",
    CutBetweenNodes = "cut-between-nodes": "A node and the others do not reach each other.",
    UnheardNode = "unheard-node": "A node hears the others but is not heard by them.",
    ClosedLifeline = "closed-lifeline": "A lifeline closes although its process lives.",
    ProvedDeath = "proved-death": "A lifeline's address refuses: its process is dead.",
    OtherBoot = "other-boot": "A lifeline's address answers with another boot id.",
    StartFails = "start-fails": "A term's plugins do not start.",
    WorkFails = "work-fails": "A plugin fails too often in the middle of a term.",
    StopIgnored = "stop-ignored": "A term's work does not stop by the hard deadline.",
    Leave = "leave": "A process leaves in an orderly way.",
    Resign = "resign": "Somebody asks the leader to resign.",
    Transfer = "transfer": "Somebody moves leadership to a named node.",
    TransferToDead = "transfer-to-dead": "Somebody moves leadership to a node that has just died.",
    StandingChange = "standing-change": "A node becomes ineligible, or eligible again.",
    Freeze = "freeze": "A virtual machine stands still, its clock with it.",
    FirewallRefuses = "firewall-refuses": "A firewall refuses dials to a live process.",
    FirewallResets = "firewall-resets": "The same, and connections that stood are reset.",
    HintFlood = "hint-flood": "Forged hints of every kind reach every node, many a beat, for long.",
}

impl Fault {
    /// Faults of single messages, drawn as they are sent.
    pub const MESSAGE: &'static [Self] = &[
        Self::SlowMessage,
        Self::LostRequest,
        Self::LostReply,
        Self::Duplicate,
        Self::Reset,
        Self::Throttle,
        Self::StaleReplica,
    ];

    /// Faults that are scheduled, whatever messages there are.
    pub const SCHEDULED: &'static [Self] = &[
        Self::StoreFailover,
        Self::StoreRestart,
        Self::StoreOutage,
        Self::FalseHint,
        Self::Pause,
        Self::Suspend,
        Self::Crash,
        Self::Twin,
        Self::DriftWithin,
        Self::DriftBeyond,
        Self::StoreClockStep,
        Self::WallStep,
        Self::CutToStore,
        Self::CutFromStore,
        Self::CutOffStore,
        Self::CutBetweenNodes,
        Self::UnheardNode,
        Self::ClosedLifeline,
        Self::Leave,
        Self::Resign,
        Self::Transfer,
        Self::TransferToDead,
        Self::StandingChange,
        Self::Freeze,
        Self::FirewallRefuses,
        Self::FirewallResets,
        Self::HintFlood,
    ];
}
