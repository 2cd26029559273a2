//! One of the five processes: increments while it leads, and pauses itself where it hurts.

use std::time::Duration;

use baton::clock::Moment;
use baton::{Leadership, Namespace, Node, NodeId, Settings};
use baton_cli::output::stdout;
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};
use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::account::Account;
use crate::cli::Worker;
use crate::error::BenchError;

/// The lease, which a pause may outlast.
pub const LEASE: Duration = Duration::from_secs(2);

/// How long a worker leads before it pauses, at most.
const WORKS_MAX: Duration = Duration::from_secs(2);

/// What a worker says at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerTotals {
    /// Increments that the store acknowledged.
    pub counted: u64,
    /// Writes that the fence refused.
    pub refused: u64,
}

/// Works until SIGTERM, and tells on stdout what it did.
pub async fn work(options: &Worker) -> Result<(), BenchError> {
    let no_signals = |problem| BenchError::File { path: "signals".into(), problem };
    let mut asked = signal(SignalKind::terminate()).map_err(no_signals)?;
    let (end, ends) = watch::channel(false);
    let store = baton_drivers::open(&options.url).await?;
    let id = NodeId::new(&format!("worker-{}", options.number)).expect("a plain name");
    let namespace = Namespace::new(&options.name).expect("a plain name");
    let node = Node::builder(store).namespace(namespace).id(id).settings(settings()).build()?;
    let mut worker = Incrementer {
        account: Account::open(options.kind, &options.url, &options.name).await?,
        fenced: options.fenced,
        batch: options.batch,
        chance: Rng::new(u64::from(std::process::id())),
        totals: WorkerTotals::default(),
    };
    let listening = async {
        asked.recv().await;
        // The worker looks at it between two increments.
        end.send_replace(true);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        ended = worker.terms(&node, ends) => ended?,
        () = listening => {}
    }
    stdout::line(&serde_json::to_string(&worker.totals).expect("plain numbers"));
    node.leave().await;
    Ok(())
}

/// A worker at work.
struct Incrementer {
    account: Account,
    fenced: bool,
    batch: u64,
    chance: Rng,
    totals: WorkerTotals,
}

impl Incrementer {
    async fn terms(
        &mut self,
        node: &Node,
        mut ends: watch::Receiver<bool>,
    ) -> Result<(), BenchError> {
        loop {
            let ended = async { ends.wait_for(|end| *end).await.map(drop) };
            let term = tokio::select! {
                _ = ended => return Ok(()),
                term = node.leadership() => term?,
            };
            self.lead(&term, &ends).await?;
        }
    }

    /// Increments as long as this node leads.
    async fn lead(
        &mut self,
        term: &Leadership,
        ends: &watch::Receiver<bool>,
    ) -> Result<(), BenchError> {
        let epoch = term.epoch();
        // The fence is raised before the first read: from then on no worker of an earlier term can
        // change what was read.
        if self.fenced && !self.account.raise(epoch).await? {
            self.totals.refused += 1;
            return Ok(());
        }
        let mut pauses_at = self.next_pause();
        while term.is_leader() && !*ends.borrow() {
            let value = self.account.read().await? + self.batch;
            if SystemClock.now() >= pauses_at {
                pause();
                pauses_at = self.next_pause();
            }
            let written = match self.fenced {
                true => self.account.write_fenced(value, epoch).await?,
                false => self.account.write(value).await.map(|()| true)?,
            };
            if !written {
                self.totals.refused += 1;
                return Ok(());
            }
            self.totals.counted += self.batch;
        }
        Ok(())
    }

    fn next_pause(&mut self) -> Moment {
        SystemClock.now() + self.chance.span(Duration::ZERO, WORKS_MAX)
    }
}

/// Stops the whole process where it stands. The workers lets it go on.
fn pause() {
    // It may always signal itself.
    let _ = kill_process(getpid(), Signal::STOP);
}

/// A lease of 2 s, and all that must be shorter.
fn settings() -> Settings {
    let ms = Duration::from_millis;
    Settings::default().tune(|it| {
        it.lease_timeout = LEASE;
        it.heartbeat_interval = ms(500);
        it.heartbeat_jitter = ms(50);
        it.request_timeout = ms(500);
        it.safety_margin = ms(100);
        it.stop_grace = ms(250);
        it.worker_timeout = LEASE;
        it.dead_node_timeout = 2 * LEASE;
        it.startup_jitter_max = ms(100);
        it.election_interval = ms(500);
        it.takeover_delay = ms(100);
        it.takeover_stagger = ms(10);
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_settings_do_not_contradict_each_other() {
        assert_eq!(super::settings().check(), Ok(()));
    }
}
