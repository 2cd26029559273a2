//! What a node's thread and everybody else share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::protocol::Holder;
use baton_core::time::Moment;
use baton_core::{Command, Core, Input};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{Count, Wrapped};
use baton_store::{Store, StoreError};
use tokio::sync::{mpsc, watch};

use crate::drive::{Message, Pulse, SeatId};
use crate::event::EventSender;
use crate::node::Departure;
use crate::observe::Tallies;
use crate::term::Term;

/// How long after `stop_grace` a node has to release its lease and to take its record out.
const RELEASED_WITHIN: Duration = Duration::from_millis(750);

/// One node, as every thread sees it.
pub(crate) struct Shared {
    pub(crate) seat: SeatId,
    pub(crate) namespace: Namespace,
    pub(crate) id: NodeId,
    pub(crate) boot: BootId,
    /// The store, every call counted.
    pub(crate) store: Arc<dyn Store>,
    /// The same, to be asked for the counts.
    pub(crate) counted: Arc<Wrapped<Count>>,
    pub(crate) tallies: Arc<Tallies>,
    pub(crate) events: EventSender,
    pub(crate) inbox: mpsc::UnboundedSender<Message>,
    pub(crate) core: Mutex<Core>,
    pub(crate) term: watch::Sender<Option<Arc<Term>>>,
    pub(crate) departed: watch::Sender<Option<Departure>>,
    pub(crate) stop_grace: Duration,
    /// When waiting for the node to leave is over; set when it is first asked to.
    pub(crate) leaves_by: OnceLock<Moment>,
    /// The hard deadline of the running term; 0 when there is none.
    pub(crate) leads_until: AtomicU64,
    /// Does the node's thread still turn?
    pub(crate) pulse: Pulse,
    /// Where the members' lifelines listen, as last read.
    pub(crate) lifelines: Mutex<BTreeMap<NodeId, Arc<str>>>,
    /// Was it told that no other node would prove this one dead?
    pub(crate) is_unwatched: AtomicBool,
    /// What the store last complained of.
    pub(crate) trouble: Mutex<Option<StoreError>>,
}

impl Shared {
    /// The core, for a look or, by the node's thread alone, for an input.
    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        // A core that broke its own invariant must not be asked again.
        self.core.lock().expect("the core kept its invariants")
    }

    pub(crate) fn is_leader(&self) -> bool {
        SystemClock.now().as_micros() < self.leads_until.load(Ordering::Acquire)
    }

    /// Hands a command to the node's thread. A node that has left takes none.
    pub(crate) fn command(&self, command: Command) {
        let input = Input::Command(command);
        let _ = self.inbox.send(Message::Input { seat: self.seat, input });
    }

    /// Asks the node to leave, and says until when that is waited for.
    pub(crate) fn ask_to_leave(&self) -> Moment {
        let within = self.stop_grace + RELEASED_WITHIN;
        let by = self.leaves_by.get_or_init(|| SystemClock.now() + within);
        self.command(Command::Leave);
        *by
    }

    /// The running term changed, or its deadlines did.
    pub(crate) fn publish(&self, leads_until: u64) {
        self.leads_until.store(leads_until, Ordering::Release);
    }

    /// Waits until the node has left.
    pub(crate) async fn left(&self) -> Departure {
        let mut departed = self.departed.subscribe();
        let told = departed.wait_for(Option::is_some).await;
        let told = told.expect("the sender lives as long as what it is asked of");
        told.expect("it was waited for")
    }

    pub(crate) fn learn_lifelines(&self, lifelines: BTreeMap<NodeId, Arc<str>>) {
        *self.lifelines.lock().expect("no holder panics") = lifelines;
    }

    /// Keeps where the leader's lifeline listens, for hints to it.
    pub(crate) fn learn_lifeline_of(&self, leader: &Holder) {
        let mut known = self.lifelines.lock().expect("no holder panics");
        if let Some(lifeline) = leader.lifeline.clone() {
            known.insert(leader.node.clone(), lifeline);
        }
    }

    pub(crate) fn lifeline_of(&self, node: &NodeId) -> Option<Arc<str>> {
        self.lifelines.lock().expect("no holder panics").get(node).cloned()
    }

    pub(crate) fn troubled_by(&self, error: &StoreError) {
        *self.trouble.lock().expect("no holder panics") = Some(error.clone());
    }
}
