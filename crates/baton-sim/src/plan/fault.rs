//! The faults a run may meet. A campaign in which one of them never happened has failed.

use serde::Serialize;

/// When a fault happens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Timing {
    /// To a single message, drawn as it is sent.
    Message,
    /// At times that are drawn, whatever happens then.
    Timed,
    /// By chance whenever something happens that it is about: see `World::chance_of`.
    InPassing,
    /// Both at times that are drawn and by chance in passing.
    Both,
}

macro_rules! faults {
    ($($name:ident = $text:literal, $timing:ident: $doc:literal,)*) => {
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

            fn timing(self) -> Timing {
                match self { $(Self::$name => Timing::$timing,)* }
            }
        }
    };
}

faults! {
    SlowMessage = "slow-message", Message:
        "A message takes far longer than usual, even past its timeout.",
    LostRequest = "lost-request", Message: "A request is lost: timeout before apply.",
    LostReply = "lost-reply", Message: "A reply is lost: timeout after apply.",
    Duplicate = "duplicate", Message: "A request is delivered twice.",
    Reset = "reset", Message: "A connection is reset, before or after apply.",
    Throttle = "throttle", Message: "The store asks for patience.",
    StaleReplica = "stale-replica", Message: "A read is answered from an older state.",
    StoreFailover = "store-failover", Both: "The store fails over and loses its last writes.",
    StoreRestart = "store-restart", Timed: "The store restarts with its data.",
    StoreOutage = "store-outage", Timed: "The store is away for longer than a lease.",
    LostHint = "lost-hint", InPassing: "A hint is lost.",
    ReorderedHint = "reordered-hint", InPassing: "A hint comes late and out of order.",
    FalseHint = "false-hint", Timed: "A hint that tells of nothing new.",
    Pause = "pause", Timed: "A process stops for longer than its lease.",
    Suspend = "suspend", Timed: "A machine is suspended.",
    SlowTimer = "slow-timer", InPassing: "A timer fires late.",
    Crash = "crash", Timed: "A process dies.",
    CrashMidway = "crash-midway", InPassing: "A process dies between two actions.",
    Restart = "restart", InPassing: "A process that died starts again under the same node id.",
    Twin = "twin", Timed: "A second process is started with a node id in use.",
    DriftWithin = "drift-within", Timed: "Clock rates change, within the bound.",
    DriftBeyond = "drift-beyond", Timed: "Clock rates change, beyond the bound.",
    StoreClockStep = "store-clock-step", Timed: "The clock that judges leases jumps forward.",
    WallStep = "wall-step", Timed: "The store's wall clock is stepped.",
    CutToStore = "cut-to-store", Timed: "A node's requests do not reach the store.",
    CutFromStore = "cut-from-store", Timed: "The store's replies do not reach a node.",
    CutOffStore = "cut-off-store", Timed: "A node and the store do not reach each other at all.",
    CutBetweenNodes = "cut-between-nodes", Timed: "A node and the others do not reach each other.",
    UnheardNode = "unheard-node", Timed: "A node hears the others but is not heard by them.",
    ClosedLifeline = "closed-lifeline", Timed: "A lifeline closes although its process lives.",
    ProvedDeath = "proved-death", InPassing: "A lifeline's address refuses: its process is dead.",
    OtherBoot = "other-boot", InPassing: "A lifeline's address answers with another boot id.",
    StartFails = "start-fails", InPassing: "A term's plugins do not start.",
    WorkFails = "work-fails", InPassing: "A plugin fails too often in the middle of a term.",
    StopIgnored = "stop-ignored", InPassing: "A term's work does not stop by the hard deadline.",
    Leave = "leave", Timed: "A process leaves in an orderly way.",
    Resign = "resign", Timed: "The leader is asked to resign.",
    Transfer = "transfer", Timed: "Leadership is moved to a named node.",
    TransferToDead = "transfer-to-dead", Timed:
        "Leadership is moved to a node that has just died.",
    StandingChange = "standing-change", Both: "A node becomes ineligible, or eligible again.",
    Freeze = "freeze", Timed: "A virtual machine stands still, its clock with it.",
    FirewallRefuses = "firewall-refuses", Timed: "A firewall refuses dials to a live process.",
    FirewallResets = "firewall-resets", Timed: "The same, and connections that stood are reset.",
    HintFlood = "hint-flood", Timed:
        "Forged hints of every kind reach every node, many a beat, for long.",
}

impl Fault {
    /// Every fault of a single message.
    pub fn of_messages() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|fault| fault.timing() == Timing::Message)
    }

    /// Every fault that happens at times that are drawn.
    pub fn timed() -> impl Iterator<Item = Self> {
        let is_timed = |fault: &Self| matches!(fault.timing(), Timing::Timed | Timing::Both);
        Self::ALL.iter().copied().filter(is_timed)
    }
}
