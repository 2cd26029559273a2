//! What goes into the core: everything that happens to a node.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::ids::{BootId, Epoch, NodeId};
use crate::partition::{AssignmentVersion, PartitionReport};
use crate::protocol::{Failure, Hint, Reply, RequestId};
use crate::timer::Timer;

/// Something that happened. The runtime hands it over together with the time.
#[expect(clippy::large_enum_variant, reason = "replies are nearly all of the traffic")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The process is up. First and once.
    Start,
    /// A timer that was set fell due.
    Timer(Timer),
    /// The store answered a request.
    Replied {
        /// Which request.
        id: RequestId,
        /// The answer.
        reply: Reply,
    },
    /// A request got no answer.
    Failed {
        /// Which request.
        id: RequestId,
        /// What that means for the write.
        failure: Failure,
    },
    /// A push from the store or from another node.
    Hint(Hint),
    /// What became of the connection to a leader's lifeline.
    Lifeline {
        /// The process that was watched.
        boot: BootId,
        /// What was seen.
        report: LifelineReport,
        /// Is the address one of this very host, so that no network lies between?
        own_host: bool,
    },
    /// The term's work is up.
    TermStarted {
        /// The term.
        epoch: Epoch,
    },
    /// The term's work could not be started.
    TermFailed {
        /// The term.
        epoch: Epoch,
    },
    /// Proof that nothing of the term runs any more.
    TermStopped {
        /// The term.
        epoch: Epoch,
    },
    /// Services run on this node from now on, or none does any more. A node that leaves beats, and
    /// keeps its record, until they have stopped.
    ServicesRun(bool),
    /// What this node says of its partitions from now on; `None` if it takes none.
    ReportPartitions(Option<Arc<PartitionReport>>),
    /// The work of this term coordinates partitions, and these are the assignment documents that
    /// processes have. From now on it is handed each reading of the records.
    Assigned {
        /// The term.
        epoch: Epoch,
        /// The documents.
        versions: Arc<BTreeMap<BootId, AssignmentVersion>>,
    },
    /// Another namespace of this process beats now, over the same connection: a beat that is nearly
    /// due may go along.
    Invited,
    /// Time passed that the local clock did not count: the machine stood still with its clock, as
    /// the wall clock shows afterwards. Told before anything else that came meanwhile.
    ClockLeapt {
        /// How much.
        by: Duration,
    },
    /// The application or an operator asks something of this node.
    Command(Command),
}

/// What a look at another process's lifeline showed. None of it proves a death by itself: the core
/// knows what else must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LifelineReport {
    /// The address refuses connections: nothing listens there, or a firewall says so.
    Refused,
    /// The address answers with another boot id: another process has it now.
    OtherBoot(BootId),
    /// A dial came to nothing that says anything. A network can do that.
    Closed,
    /// No answer. A pause or a cut can do that.
    TimedOut,
    /// It answers with the boot id it should, and keeps the connection: alive.
    Alive,
    /// That connection broke with a reset or an error. A process that dies ends its connections in
    /// order; a firewall, or a host that took the address over, resets them.
    Broken,
}

impl LifelineReport {
    /// Does the address deny that `boot` is there?
    pub fn denies(self, boot: BootId) -> bool {
        match self {
            Self::Refused => true,
            Self::OtherBoot(other) => other != boot,
            Self::Closed => crate::planted::planted!(ClosedConnectionIsProof),
            Self::TimedOut | Self::Alive | Self::Broken => false,
        }
    }
}

/// What people and programs can ask of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Give leadership up and stay a candidate.
    Resign,
    /// Hand leadership to a named node. Works on any node: a follower passes it on.
    Transfer {
        /// To whom.
        to: NodeId,
    },
    /// See to it that there is a leader; with `force`, hold an election although there is one.
    EnsureCoordinator {
        /// Hold an election in any case.
        force: bool,
        /// Who should win it.
        desired: Option<NodeId>,
    },
    /// May this node lead from now on?
    SetEligible(bool),
    /// Are this node's plugins fit to run?
    SetHealthy(bool),
    /// Is this node on its way out?
    SetDraining(bool),
    /// How many jobs this node has.
    SetLoad(u32),
    /// Leave the cluster: stop the work, release the lease, take the record out.
    Leave,
}
