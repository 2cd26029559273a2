//! The node's own thread: the only caller of the core, and of the store on its behalf.
//!
//! ```text
//!   commands ──┐                               ┌──► store calls, each with its timeout ──┐
//!   hints ─────┴──► inbox ──► node task ──► core ──► term: start, stop ──► supervisor ───┤
//!   reports, replies ──────────► │              └──► timers ──► alarm (boot-time clock)  │
//!                    └───────────┴───────────────────────────────────────────────────────┘
//! ```
//!
//! One thread drives any number of nodes of one process, each in a namespace of its own: a *node
//! task*. They share the store's connection, the lifeline, and their beats. Nothing else runs on
//! the thread, so that a busy application cannot starve a renewal or a deadline: between two looks
//! at the deadlines the thread takes in one reply or report, and a command and a hint for each
//! node, however many wait.

mod alarm;
mod call;
mod host;
mod inbox;
mod node_task;
mod push;
mod watchdog;
mod work_runtime;

use std::collections::BTreeMap;
use std::sync::Arc;

use baton_core::Input;
use baton_store::clock::{Clock, LeapWatch, SystemClock};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use alarm::{Alarm, ClockSet};
use inbox::InboxBatch;

pub(crate) use call::call_store;
pub(crate) use host::Host;
pub(crate) use inbox::Inbox;
pub(crate) use node_task::NodeTask;
pub(crate) use watchdog::Watchdog;
pub(crate) use work_runtime::WorkRuntime;

/// Reports that wait for the thread. Their senders wait for room.
pub(crate) const REPORTS_MAX: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeTaskId(pub(crate) u64);

/// What a task of the thread's own says: one answer for each request, what is seen of a lifeline,
/// what becomes of a term.
#[expect(clippy::large_enum_variant, reason = "inputs are nearly all of the traffic")]
pub(crate) enum Message {
    Input { task: NodeTaskId, input: Input },
    HintSent { task: NodeTaskId },
}

/// Every node of the thread, and the requests and terms under way.
#[derive(Default)]
struct NodeTasks {
    nodes: BTreeMap<NodeTaskId, NodeTask>,
    calls: JoinSet<Message>,
}

/// Closes the inbox when the thread ends, however it does.
struct ClosesInbox(Arc<Inbox>);

impl Drop for ClosesInbox {
    fn drop(&mut self) {
        drop(self.0.close());
    }
}

/// Drives until the last node has left and no other can start.
pub(crate) async fn drive(
    inbox: Arc<Inbox>,
    mut reports: mpsc::Receiver<Message>,
) -> std::io::Result<()> {
    let closes_inbox = ClosesInbox(inbox);
    let inbox = &closes_inbox.0;
    let mut alarm = Alarm::new()?;
    let mut tasks = NodeTasks::default();
    let mut clock_set = ClockSet::new()?;
    let mut leaps = LeapWatch::new(&SystemClock);
    let (mut is_more, mut is_last) = (false, false);
    while !is_last || !tasks.nodes.is_empty() {
        let wake = tasks.nodes.values().map(NodeTask::wake_at).min();
        // Replies come before the inbox: however much arrives there, no renewal waits behind it.
        let message = tokio::select! {
            biased;
            () = clock_set.changed() => None,
            () = alarm.ring_at(wake) => None,
            Some(answered) = tasks.calls.join_next() => {
                Some(answered.expect("what can panic in it is a task of its own"))
            }
            report = reports.recv() => report,
            // The thread's other tasks have a turn as well.
            () = tokio::task::yield_now(), if is_more => None,
            () = inbox.arrived() => None,
        };
        // Before anything that came while the machine stood still.
        if let Some(by) = leaps.look(&SystemClock) {
            tasks.handle_all(&Input::ClockLeapt { by });
        }
        match message {
            Some(Message::Input { task, input }) => tasks.handle(task, input),
            Some(Message::HintSent { task }) => {
                tasks.nodes.get_mut(&task).into_iter().for_each(NodeTask::hint_sent);
            }
            None => {}
        }
        let batch = inbox.take_batch();
        (is_more, is_last) = (batch.is_more, batch.is_last);
        tasks.handle_batch(batch);
        tasks.fire_timers();
        let now = SystemClock.now();
        tasks.nodes.values().for_each(|it| it.shared.watchdog.reset(now));
        tasks.nodes.retain(|_, node| !node.has_left());
    }
    // A term may still be stopping: its plugins are cancelled to the end.
    while tasks.calls.join_next().await.is_some() {}
    Ok(())
}

impl NodeTasks {
    fn handle(&mut self, task: NodeTaskId, input: Input) {
        if let Some(node) = self.nodes.get_mut(&task) {
            node.handle(input, &mut self.calls);
        }
    }

    fn handle_all(&mut self, input: &Input) {
        for node in self.nodes.values_mut() {
            node.handle(input.clone(), &mut self.calls);
        }
    }

    fn handle_batch(&mut self, batch: InboxBatch) {
        for node in batch.starting {
            let task = node.shared.task_id;
            self.nodes.insert(task, node);
            self.handle(task, Input::Start);
        }
        for (task, input) in batch.inputs {
            self.handle(task, input);
        }
        self.invite();
    }

    fn fire_timers(&mut self) {
        for node in self.nodes.values_mut() {
            while let Some(timer) = node.due_timer(SystemClock.now()) {
                node.handle(Input::Timer(timer), &mut self.calls);
            }
        }
        self.invite();
    }

    /// A node that is about to beat takes along those whose beat is nearly due.
    fn invite(&mut self) {
        let beats = self.nodes.values_mut().any(NodeTask::take_beat_mark);
        if beats && self.nodes.len() > 1 {
            self.handle_all(&Input::Invited);
            for node in self.nodes.values_mut() {
                node.take_beat_mark();
            }
        }
    }
}
