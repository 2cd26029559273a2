//! The logs of an embedded node: what it tells, as events and spans of `tracing`.
//!
//! ```text
//!   node's thread ─ LogEntry ► queue, which is never waited for ──► thread ── line ──► subscriber
//!                              │ full                               ▲
//!                              └──► dropped and counted ────────────┘
//!   work threads ── a span around each call of a plugin ────────────────────────────► subscriber
//! ```
//!
//! A subscriber is the application's, and may block: on a pipe that is not read, or on a disk. So
//! it is never called on the thread that renews the lease.

mod line;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::protocol::{Failure, LeaseIntent, Outcome, Reply, Request, RequestId};
use baton_core::{Input, LifelineReport};
use baton_store::clock::{Clock, SystemClock};
use tokio::sync::oneshot;
use tracing::instrument::{Instrument, WithSubscriber};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, Level, Span};

use crate::drive::NodeTaskId;
use crate::event::Stamped;

/// The largest number of entries that wait for a slow subscriber.
const WAITING_MAX: usize = 1_024;

/// How long a node that has left waits for its last lines to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(250);

/// Beats that are open at once, at the most. Their ends may have been dropped.
const BEATS_MAX: usize = 256;

/// What the thread that calls the subscriber is given.
enum LogEntry {
    Event(Arc<Stamped>),
    BeatBegan(BeatKey, Namespace, NodeId, &'static str),
    /// An answer came, or none in time.
    BeatEnded(BeatKey, &'static str),
    /// What the lifeline of another process looks like has changed.
    Lifeline {
        namespace: Namespace,
        node: NodeId,
        boot: BootId,
        report: LifelineReport,
    },
    /// Answered when everything before it has been written.
    Flush(oneshot::Sender<()>),
}

/// One beat of one node.
type BeatKey = (NodeTaskId, RequestId);

/// Tells the application's subscriber, without ever waiting for it.
#[derive(Clone)]
pub(crate) struct Logs {
    queue: SyncSender<LogEntry>,
    dropped: Arc<AtomicU64>,
    /// The subscriber of the thread that built the node; `None` for the process's own.
    subscriber: Option<Dispatch>,
}

impl Logs {
    /// Starts the thread that calls the subscriber. It ends with the last handle.
    pub(crate) fn start() -> std::io::Result<Self> {
        let (queue, entries) = sync_channel(WAITING_MAX);
        let dropped = Arc::<AtomicU64>::default();
        let here = tracing::dispatcher::get_default(Dispatch::clone);
        let logs = Self {
            queue,
            dropped: dropped.clone(),
            // One that is set for the whole process later on is found by every thread.
            subscriber: (!here.is::<NoSubscriber>()).then_some(here),
        };
        let subscriber = logs.subscriber.clone();
        let write = move || write(&entries, &dropped);
        std::thread::Builder::new().name("baton-log".to_owned()).spawn(
            move || match subscriber {
                Some(subscriber) => tracing::dispatcher::with_default(&subscriber, write),
                None => write(),
            },
        )?;
        Ok(logs)
    }

    pub(crate) fn event(&self, stamped: &Arc<Stamped>) {
        self.enqueue(line::level(&stamped.event), || LogEntry::Event(stamped.clone()));
    }

    pub(crate) fn beat_began(
        &self,
        beat: BeatKey,
        (namespace, node): (&Namespace, &NodeId),
        request: &Request,
    ) {
        let Request::Beat(request) = request else { return };
        let wants = match request.lease {
            LeaseIntent::Observe => "look",
            LeaseIntent::Acquire(_) => "acquire",
            LeaseIntent::Renew(_) => "renew",
        };
        let began = || LogEntry::BeatBegan(beat, namespace.clone(), node.clone(), wants);
        self.enqueue(Level::DEBUG, began);
    }

    pub(crate) fn beat_ended(&self, beat: BeatKey, input: &Input) {
        let outcome = match input {
            Input::Replied { reply: Reply::Beat(reply), .. } => match reply.outcome {
                Some(Outcome::Applied) => "applied",
                Some(Outcome::Conflict) => "conflict",
                Some(Outcome::Unknown) => "unknown",
                None => "looked",
            },
            Input::Failed { failure: Failure::Unknown, .. } => "unknown",
            Input::Failed { failure: Failure::NotDone, .. } => "not-done",
            Input::Failed { failure: Failure::Rejected, .. } => "rejected",
            _ => return,
        };
        self.enqueue(Level::DEBUG, || LogEntry::BeatEnded(beat, outcome));
    }

    pub(crate) fn lifeline(
        &self,
        (namespace, node): (&Namespace, &NodeId),
        boot: BootId,
        report: LifelineReport,
    ) {
        let (namespace, node) = (namespace.clone(), node.clone());
        let entry = || LogEntry::Lifeline { namespace, node, boot, report };
        self.enqueue(line::lifeline(report).0, entry);
    }

    /// A call of a plugin or a service, in a span that is made on the thread that runs the call.
    pub(crate) async fn within<T>(
        &self,
        span: impl FnOnce() -> Span,
        call: impl Future<Output = T>,
    ) -> T {
        let call = async move { call.instrument(span()).await };
        match &self.subscriber {
            Some(subscriber) => call.with_subscriber(subscriber.clone()).await,
            None => call.await,
        }
    }

    /// Waits until what was told so far is written, or a moment.
    pub(crate) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.queue.try_send(LogEntry::Flush(done)).is_err() {
            return;
        }
        tokio::select! {
            biased;
            _ = written => {}
            () = SystemClock.sleep(FLUSH_TIMEOUT) => {}
        }
    }

    /// How much was dropped because the subscriber was too slow.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn enqueue(&self, level: Level, entry: impl FnOnce() -> LogEntry) {
        // The most verbose level that any subscriber wants: one read of memory.
        if level <= LevelFilter::current() && self.queue.try_send(entry()).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Calls the subscriber with whatever is queued, until the last sender is gone.
fn write(entries: &Receiver<LogEntry>, dropped: &AtomicU64) {
    let mut beats = BTreeMap::<BeatKey, Span>::new();
    let mut told_dropped = 0;
    while let Ok(entry) = entries.recv() {
        let now_dropped = dropped.load(Ordering::Relaxed);
        if now_dropped > told_dropped {
            let lines = now_dropped - told_dropped;
            tracing::warn!(target: "baton::log", lines, "a slow subscriber: lines were dropped");
            told_dropped = now_dropped;
        }
        match entry {
            LogEntry::Event(stamped) => line::write(&stamped),
            LogEntry::BeatBegan(beat, namespace, node, wants) => {
                if beats.len() >= BEATS_MAX {
                    beats.clear();
                }
                let span = tracing::debug_span!(
                    target: "baton::beat", "beat", %namespace, %node, wants,
                    outcome = tracing::field::Empty,
                );
                beats.insert(beat, span);
            }
            LogEntry::BeatEnded(beat, outcome) => {
                if let Some(span) = beats.remove(&beat) {
                    span.record("outcome", outcome);
                }
            }
            LogEntry::Lifeline { namespace, node, boot, report } => {
                line::write_lifeline(&namespace, &node, boot, report);
            }
            LogEntry::Flush(done) => drop(done.send(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex, MutexGuard};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    /// Counts events by their targets, and blocks at each until it is opened.
    #[derive(Clone, Default)]
    struct Gate {
        received: Arc<Mutex<Received>>,
        opened: Arc<Condvar>,
    }

    #[derive(Default)]
    struct Received {
        is_open: bool,
        counts: BTreeMap<&'static str, u64>,
    }

    impl Gate {
        fn received(&self) -> MutexGuard<'_, Received> {
            self.received.lock().expect("no holder panics")
        }
    }

    impl Subscriber for Gate {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target().starts_with("baton::")
        }

        fn event(&self, event: &Event<'_>) {
            let opened = self.opened.wait_while(self.received(), |received| !received.is_open);
            let mut received = opened.expect("no holder panics");
            *received.counts.entry(event.metadata().target()).or_default() += 1;
        }

        fn new_span(&self, _span: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _span: &Id, _values: &Record<'_>) {}
        fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
        fn enter(&self, _span: &Id) {}
        fn exit(&self, _span: &Id) {}
    }

    #[tokio::test]
    async fn what_a_slow_subscriber_leaves_no_room_for_is_dropped_and_counted() {
        let gate = Gate::default();
        let logs = tracing::subscriber::with_default(gate.clone(), Logs::start);
        let logs = logs.expect("a thread more");
        let name = NodeId::new("a").expect("a plain name");
        let space = Namespace::new("web").expect("a plain name");
        let told = WAITING_MAX as u64 * 2;
        for _ in 0..told {
            logs.lifeline((&space, &name), BootId(1), LifelineReport::TimedOut);
        }
        let dropped = logs.dropped();
        // One may be in the subscriber's hands.
        assert!(dropped + 1 >= told - WAITING_MAX as u64, "{dropped}");
        gate.received().is_open = true;
        gate.opened.notify_all();
        while gate.received().counts.get("baton::lifeline") != Some(&(told - dropped)) {
            SystemClock.sleep(Duration::from_millis(1)).await;
        }
        let told_dropped = gate.received().counts.get("baton::log").copied();
        assert_eq!(told_dropped, Some(1), "the dropped ones are told once");
    }
}
