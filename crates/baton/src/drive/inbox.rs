//! What waits for the node's thread: a constant amount for each node, whatever its producers do.
//!
//! ```text
//!   commands ──► one of each kind, the last one counts ──┐
//!   hints ─────► each once, 16 at most ──────────────────┴──► one of each a turn ──► core
//!   hints of services' topics ──► a flag for each service, past the thread
//!   reports of the thread's own tasks ──► their senders wait for room (a bounded channel)
//! ```
//!
//! A producer never waits and is never refused. What is dropped has been made superfluous: by a
//! later command of the same kind, or by the beat, which shows whatever a hint could tell.

use std::collections::{BTreeMap, VecDeque};
use std::mem::discriminant;
use std::sync::{Arc, Mutex, MutexGuard};

use baton_core::ids::Namespace;
use baton_core::protocol::Hint;
use baton_core::{Command, Input};
use tokio::sync::{Notify, futures::Notified};

use super::{NodeTask, NodeTaskId};
use crate::plugin::PluginSet;

/// Hints that wait for one node. Each causes a look at most, and one look shows all there is.
const HINTS_MAX: usize = 16;

#[derive(Default)]
pub(crate) struct Inbox {
    state: Mutex<InboxState>,
    arrived: Notify,
}

#[derive(Default)]
struct InboxState {
    starting: Vec<NodeTask>,
    nodes: BTreeMap<NodeTaskId, NodeInbox>,
    /// No further node starts: the host is gone.
    is_last: bool,
    is_closed: bool,
}

/// What waits for one node.
struct NodeInbox {
    namespace: Namespace,
    /// For hints of its services' topics, which the thread has no part in.
    plugins: Option<Arc<PluginSet>>,
    commands: VecDeque<Command>,
    hints: VecDeque<Hint>,
}

/// What one turn of the thread takes in: a command and a hint for each node at most.
pub(crate) struct InboxBatch {
    pub(crate) starting: Vec<NodeTask>,
    pub(crate) inputs: Vec<(NodeTaskId, Input)>,
    pub(crate) is_more: bool,
    pub(crate) is_last: bool,
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, InboxState> {
        self.state.lock().expect("no holder panics")
    }

    /// Changes what waits, and wakes the thread.
    fn put<T>(&self, put: impl FnOnce(&mut InboxState) -> T) -> T {
        let put = put(&mut self.state());
        self.arrived.notify_one();
        put
    }

    /// A node begins. False if the thread has ended.
    pub(crate) fn start(&self, node: NodeTask) -> bool {
        self.put(|state| {
            if !state.is_closed {
                let mut inbox = NodeInbox::new(node.shared.namespace.clone());
                inbox.plugins = Some(node.shared.plugins.clone());
                state.nodes.insert(node.shared.task_id, inbox);
                state.starting.push(node);
            }
            !state.is_closed
        })
    }

    /// The application asks something of a node. One that has left takes no commands. Returns the
    /// command that waited and is replaced by this one.
    pub(crate) fn command(&self, to: NodeTaskId, command: Command) -> Option<Command> {
        self.put(|state| state.nodes.get_mut(&to)?.command(command))
    }

    pub(crate) fn hint(&self, to: NodeTaskId, hint: &Hint) {
        self.put(|state| state.nodes.get_mut(&to).into_iter().for_each(|it| it.hint(hint)));
    }

    /// A hint from another process for the nodes of a namespace.
    pub(crate) fn hint_all(&self, namespace: &Namespace, hint: &Hint) {
        self.put(|state| {
            let inboxes = state.nodes.values_mut().filter(|inbox| inbox.namespace == *namespace);
            inboxes.for_each(|inbox| inbox.hint(hint));
        });
    }

    /// A hint for the services of this name in a namespace. The node's thread does nothing for it.
    pub(crate) fn hint_services(&self, namespace: &Namespace, topic: &str) {
        let state = self.state();
        let inboxes = state.nodes.values().filter(|inbox| inbox.namespace == *namespace);
        inboxes.filter_map(|inbox| inbox.plugins.as_ref()).for_each(|plugins| plugins.hint(topic));
    }

    /// A node is gone, and what waits for it goes too.
    pub(crate) fn forget(&self, task: NodeTaskId) {
        self.state().nodes.remove(&task);
    }

    pub(crate) fn no_more_nodes(&self) {
        self.put(|state| state.is_last = true);
    }

    /// The thread ends: nothing is taken in any more. Returns the nodes that had not begun.
    pub(super) fn close(&self) -> Vec<NodeTask> {
        let mut state = self.state();
        state.is_closed = true;
        std::mem::take(&mut state.starting)
    }

    pub(super) fn arrived(&self) -> Notified<'_> {
        self.arrived.notified()
    }

    pub(super) fn take_batch(&self) -> InboxBatch {
        let mut state = self.state();
        let starting = std::mem::take(&mut state.starting);
        let mut inputs = Vec::new();
        for (id, inbox) in &mut state.nodes {
            inputs.extend(inbox.next().map(|input| (*id, input)));
        }
        let is_more = state.nodes.values().any(|inbox| !inbox.is_empty());
        InboxBatch { starting, inputs, is_more, is_last: state.is_last }
    }
}

impl NodeInbox {
    fn new(namespace: Namespace) -> Self {
        Self { namespace, plugins: None, commands: VecDeque::new(), hints: VecDeque::new() }
    }

    fn command(&mut self, command: Command) -> Option<Command> {
        let same = |it: &Command| discriminant(it) == discriminant(&command);
        let before = self.commands.iter().position(same).and_then(|at| self.commands.remove(at));
        self.commands.push_back(command);
        before
    }

    fn hint(&mut self, hint: &Hint) {
        if self.hints.contains(hint) {
            return;
        }
        if self.hints.len() == HINTS_MAX {
            self.hints.pop_front();
        }
        self.hints.push_back(hint.clone());
    }

    /// A command and a hint, so that neither keeps the other waiting.
    fn next(&mut self) -> impl Iterator<Item = Input> {
        let command = self.commands.pop_front().map(Input::Command);
        command.into_iter().chain(self.hints.pop_front().map(Input::Hint))
    }

    fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.hints.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use baton_core::ids::{BootId, NodeId};

    use super::*;

    fn inbox() -> NodeInbox {
        NodeInbox::new(Namespace::new("web").expect("valid"))
    }

    #[test]
    fn of_each_kind_of_command_the_last_one_waits_in_the_order_they_were_given() {
        let mut inbox = inbox();
        let to = |name: &str| Command::Transfer { to: NodeId::new(name).expect("valid") };
        assert_eq!(inbox.command(to("a")), None);
        for load in 0..100_000 {
            inbox.command(Command::SetLoad(load));
        }
        assert_eq!(inbox.command(to("b")), Some(to("a")), "who asks for it can be told");
        let waiting: Vec<Input> = (0..3).flat_map(|_| inbox.next().collect::<Vec<_>>()).collect();
        assert_eq!(waiting, [Command::SetLoad(99_999), to("b")].map(Input::Command));
    }

    #[test]
    fn a_hint_waits_once_and_the_oldest_gives_way() {
        let mut inbox = inbox();
        for boot in 0..100 {
            inbox.hint(&Hint::Look);
            inbox.hint(&Hint::Joined { boot: BootId(boot) });
        }
        assert_eq!(inbox.hints.len(), HINTS_MAX);
        assert_eq!(inbox.hints.iter().filter(|hint| **hint == Hint::Look).count(), 1);
        assert_eq!(inbox.hints.back(), Some(&Hint::Joined { boot: BootId(99) }));
        inbox.command(Command::Resign);
        let first: Vec<Input> = inbox.next().collect();
        let oldest = Hint::Joined { boot: BootId(85) };
        assert_eq!(first, [Input::Command(Command::Resign), Input::Hint(oldest)]);
    }
}
