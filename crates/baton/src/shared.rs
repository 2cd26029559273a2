//! What a node's thread and every other thread share, and what they do with it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::protocol::{Holder, Member, NodeProfile};
use baton_core::settings::Settings;
use baton_core::time::Moment;
use baton_core::{
    Command, EpochFence, Event, Input, LateNotice, MembersReading, Snapshot, TransferRefusal,
};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{Count, Wrapped};
use baton_store::{Capability, Store, StoreError};
use tokio::sync::{mpsc, watch};

use crate::drive::{Inbox, Message, NodeTaskId, Watchdog};
use crate::event::EventSender;
use crate::lifeline::{late_notice, noticed_without, watchers};
use crate::node::Departure;
use crate::observe::NodeCounts;
use crate::partitions::PartitionSetup;
use crate::plugin::PluginSet;
use crate::plugins::schedules::Jobs;
use crate::term::Term;

/// How long after `stop_grace` a node has to release its lease and to take its record out.
const RELEASED_WITHIN: Duration = Duration::from_millis(750);

/// One node, as every thread sees it. The core is not here: the node's thread alone has it.
pub(crate) struct Shared {
    pub(crate) task_id: NodeTaskId,
    pub(crate) namespace: Namespace,
    pub(crate) id: NodeId,
    pub(crate) boot: BootId,
    pub(crate) profile: Arc<NodeProfile>,
    pub(crate) settings: Arc<Settings>,
    /// The store, every call counted.
    pub(crate) store: Arc<dyn Store>,
    /// Where schedules and work that is done once are recorded: the store, or, in single-instance
    /// mode, which has no store, the memory of this process.
    pub(crate) records: Arc<dyn Store>,
    /// The same, to be asked for the counts.
    pub(crate) counted: Arc<Wrapped<Count>>,
    pub(crate) counts: Arc<NodeCounts>,
    pub(crate) events: EventSender,
    pub(crate) plugins: Arc<PluginSet>,
    /// The schedules that this node declares.
    pub(crate) jobs: Arc<Jobs>,
    /// What the node has to do with partitions.
    pub(crate) partitions: Arc<PartitionSetup>,
    pub(crate) inbox: Arc<Inbox>,
    /// For what tasks of the node's own thread report.
    pub(crate) reports: mpsc::Sender<Message>,
    pub(crate) snapshot: watch::Sender<Arc<Snapshot>>,
    /// The snapshot's fence, and the epochs that tasks have brought since.
    pub(crate) fence: Mutex<EpochFence>,
    /// The last reading of the node records, while this node coordinates partitions.
    pub(crate) readings: watch::Sender<Option<Arc<MembersReading>>>,
    pub(crate) term: watch::Sender<Option<Arc<Term>>>,
    pub(crate) departed: watch::Sender<Option<Departure>>,
    /// When waiting for the node to leave is over; set when it is first asked to.
    pub(crate) leaves_by: OnceLock<Moment>,
    /// The hard deadline of the running term; 0 when there is none.
    pub(crate) leads_until: AtomicU64,
    /// Does the node's thread still serve it?
    pub(crate) watchdog: Watchdog,
    /// Where the members' lifelines listen, as last read.
    pub(crate) lifelines: Mutex<BTreeMap<NodeId, Arc<str>>>,
    /// Was it reported that no other node would prove this one dead?
    pub(crate) is_unwatched: AtomicBool,
    pub(crate) store_error: Mutex<Option<StoreError>>,
}

impl Shared {
    /// What the core last knew. Nothing that a reader does keeps the node's thread waiting for
    /// longer than it takes to count a reference.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.borrow().clone()
    }

    /// Which epochs' tasks are accepted, with all that the store has shown so far.
    pub(crate) fn fence(&self) -> MutexGuard<'_, EpochFence> {
        let snapshot = self.snapshot();
        let mut fence = self.fence.lock().expect("no holder panics");
        fence.catch_up(&snapshot.fence);
        fence
    }

    pub(crate) fn is_leader(&self) -> bool {
        SystemClock.now().as_micros() < self.leads_until.load(Ordering::Acquire)
    }

    /// Hands a command to the node's thread. A node that has left takes none.
    pub(crate) fn command(&self, command: Command) {
        let target = |command: &Command| match command {
            Command::Transfer { to } => Some(to.clone()),
            Command::EnsureCoordinator { desired, .. } => desired.clone(),
            _ => None,
        };
        let wanted = target(&command);
        let replaced = self.inbox.command(self.task_id, command);
        let to = replaced.as_ref().and_then(target).filter(|to| Some(to) != wanted.as_ref());
        if let Some(to) = to {
            self.events.send(Event::TransferRefused { to, reason: TransferRefusal::Replaced });
        }
    }

    /// Reports something to the node's thread, and waits for room. For that thread's own tasks.
    pub(crate) async fn report(&self, input: Input) {
        let _ = self.reports.send(Message::Input { task: self.task_id, input }).await;
    }

    /// Asks the node to leave, and says until when that is waited for.
    pub(crate) fn ask_to_leave(&self) -> Moment {
        let within = self.settings.stop_grace + RELEASED_WITHIN;
        let by = self.leaves_by.get_or_init(|| SystemClock.now() + within);
        self.command(Command::Leave);
        *by
    }

    pub(crate) async fn left(&self) -> Departure {
        let mut departed = self.departed.subscribe();
        let departure = departed.wait_for(Option::is_some).await;
        let departure = departure.expect("the sender lives as long as what it is asked of");
        departure.expect("it was waited for")
    }

    /// Keeps where the members' lifelines listen, for hints to them.
    pub(crate) fn learn_lifelines(&self, members: &[Member]) {
        let address = |member: &Member| {
            let lifeline = member.record.profile.lifeline.clone()?;
            Some((member.record.id.clone(), lifeline))
        };
        let addresses = members.iter().filter_map(address).collect();
        *self.lifelines.lock().expect("no holder panics") = addresses;
    }

    /// Keeps where the leader's lifeline listens, for hints to it.
    pub(crate) fn learn_lifeline_of(&self, leader: &Holder) {
        let mut known = self.lifelines.lock().expect("no holder panics");
        if let Some(lifeline) = leader.lifeline.clone() {
            known.insert(leader.node.clone(), lifeline);
        }
    }

    /// Says when no other node would prove this one dead, so that its crash would be noticed late,
    /// by the records as the leader just read them. Reported once, and again only after it was
    /// otherwise in between.
    pub(crate) fn report_if_unwatched(&self, members: &[Member]) {
        let notice = self.late_notice(members);
        let was_reported = self.is_unwatched.swap(notice.is_some(), Ordering::Relaxed);
        if let Some(notice) = notice.filter(|_| !was_reported) {
            self.events.send(Event::LifelineUnwatched(notice));
        }
    }

    fn late_notice(&self, members: &[Member]) -> Option<LateNotice> {
        let (settings, snapshot) = (&*self.settings, self.snapshot());
        if !settings.enabled || !settings.eligible {
            return None;
        }
        let watchers = watchers(Some(self.boot), members, snapshot.view.as_deref(), settings);
        let after = noticed_without(settings, self.store.declaration().has(Capability::DeathProof));
        // Where the store is, this node does not know.
        late_notice(self.profile.lifeline.as_deref(), &watchers, false, after)
    }

    pub(crate) fn lifeline_of(&self, node: &NodeId) -> Option<Arc<str>> {
        self.lifelines.lock().expect("no holder panics").get(node).cloned()
    }
}
