//! The five processes: started, resumed when they have paused themselves, ended, and added up.

use std::fmt;
use std::process::Stdio;
use std::time::Duration;

use baton::clock::Moment;
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};
use rustix::process::Signal;
use tokio::process::{Child, Command};

use super::account::Account;
use super::worker::{LEASE, WorkerTotals};
use crate::error::BenchError;
use crate::fixture::StoreKind;
use crate::processes::{is_stopped, send, this_program};

const WORKERS: u32 = 5;

/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// How often all workers are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How often the number is looked at, in looks.
const READ_EVERY: u32 = 25;

/// When it is enough.
#[derive(Clone, Copy, Debug)]
pub struct EndCondition {
    /// How many pauses outlasted the lease.
    pub long_pauses: u32,
    /// And the number is at least this.
    pub value: u64,
}

impl fmt::Display for EndCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pauses past the lease and {} increments", self.long_pauses, self.value)
    }
}

struct WorkerProcess {
    process: Child,
    pid: u32,
    resumes_at: Option<Moment>,
}

/// Five processes. Dropping it kills them.
pub struct Workers {
    processes: Vec<WorkerProcess>,
    chance: Rng,
    pauses: u32,
    long_pauses: u32,
}

impl Workers {
    /// Starts them.
    pub fn start(
        kind: StoreKind,
        url: &str,
        name: &str,
        fenced: bool,
        batch: u64,
    ) -> Result<Self, BenchError> {
        // Any 64 of the 128 bits will do.
        let chance = Rng::new(baton::fresh_boot()?.0 as u64);
        let mut workers = Self { processes: Vec::new(), chance, pauses: 0, long_pauses: 0 };
        for number in 1..=WORKERS {
            let mut command = Command::new(this_program()?);
            command.args(["worker", kind.name(), name, &number.to_string(), &batch.to_string()]);
            if fenced {
                command.arg("--fenced");
            }
            command.env("BATON_STORE", url).stdin(Stdio::null()).stdout(Stdio::piped());
            let trouble = |problem| BenchError::File { path: "worker".into(), problem };
            let process = command.kill_on_drop(true).spawn().map_err(trouble)?;
            let pid = process.id().unwrap_or_default();
            workers.processes.push(WorkerProcess { process, pid, resumes_at: None });
        }
        Ok(workers)
    }

    /// Lets a worker that paused go on after a while, until it is enough.
    pub async fn work(
        &mut self,
        account: &mut Account,
        until: EndCondition,
    ) -> Result<(), BenchError> {
        let mut looks = 0_u32;
        loop {
            self.look()?;
            looks += 1;
            let paused_enough = self.long_pauses >= until.long_pauses;
            if looks.is_multiple_of(READ_EVERY)
                && paused_enough
                && account.read().await? >= until.value
            {
                return Ok(());
            }
            SystemClock.sleep(LOOK_EVERY).await;
        }
    }

    fn look(&mut self) -> Result<(), BenchError> {
        let now = SystemClock.now();
        for worker in &mut self.processes {
            if let Ok(Some(status)) = worker.process.try_wait() {
                return Err(BenchError::WorkerEnded { status });
            }
            match worker.resumes_at {
                Some(at) if now >= at => {
                    send(worker.pid, Signal::CONT)?;
                    worker.resumes_at = None;
                }
                None if is_stopped(worker.pid) => {
                    let span = self.chance.span(Duration::ZERO, PAUSE_MAX);
                    self.pauses += 1;
                    self.long_pauses += u32::from(span > LEASE);
                    worker.resumes_at = Some(now + span);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// All pauses, and those that outlasted the lease.
    pub fn pauses(&self) -> (u32, u32) {
        (self.pauses, self.long_pauses)
    }

    /// Ends all workers, and adds up what they say. A paused one goes on first, and writes what
    /// it was about to.
    pub async fn end(self) -> Result<WorkerTotals, BenchError> {
        for worker in &self.processes {
            send(worker.pid, Signal::TERM)?;
            send(worker.pid, Signal::CONT)?;
        }
        let mut sum = WorkerTotals::default();
        for worker in self.processes {
            let trouble = |problem| BenchError::File { path: "worker".into(), problem };
            let output = worker.process.wait_with_output().await.map_err(trouble)?;
            let Ok(totals) = serde_json::from_slice::<WorkerTotals>(&output.stdout) else {
                return Err(BenchError::WorkerEnded { status: output.status });
            };
            sum.counted += totals.counted;
            sum.refused += totals.refused;
        }
        Ok(sum)
    }
}
