//! The watching side: keeps a connection to the leader's lifeline, and dials again when it
//! closes. What is seen is reported; the core knows what it proves.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::{Input, LifelineReport};
use baton_store::clock::{Clock, SystemClock};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;

use super::address::Address;
use super::dial::{dial, in_time, seen_by};
use super::wire;
use crate::shared::Shared;

/// Waited between two dials when the first says nothing; doubled up to the longest.
const AGAIN_AFTER: Duration = Duration::from_millis(1);
const AGAIN_AFTER_MAX: Duration = Duration::from_secs(1);

/// How long a dial waits for an answer before another replaces it; doubled each time. A listener
/// that is just closing can swallow a dial, which the system itself repeats only after a second.
const DIAL_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// A connection that stands for this long is kept. A listener without a free place greets and ends
/// it at once, although it lives.
const KEPT_AFTER: Duration = Duration::from_millis(200);

/// Watches until the task is dropped, reporting every change of what is seen.
pub(crate) async fn watch(shared: Arc<Shared>, boot: BootId, address: Arc<str>) {
    let mut watch = Watch { shared, boot, address, last_report: None };
    let mut pause = AGAIN_AFTER;
    loop {
        let seen = match watch.look().await {
            Ok(connection) => {
                let since = SystemClock.now();
                watch.keep(connection).await;
                if SystemClock.now().since(since) >= AGAIN_AFTER_MAX {
                    pause = AGAIN_AFTER;
                    continue;
                }
                None
            }
            Err(seen) => Some(seen),
        };
        // A connection that closed is looked at once more before it is reported.
        if let Some(seen) = seen.filter(|seen| seen.denies(boot) || pause > AGAIN_AFTER) {
            watch.report(seen).await;
        }
        SystemClock.sleep(pause).await;
        pause = (pause * 2).min(AGAIN_AFTER_MAX);
    }
}

/// One process's lifeline, and what was last reported of it.
struct Watch {
    shared: Arc<Shared>,
    boot: BootId,
    address: Arc<str>,
    last_report: Option<LifelineReport>,
}

impl Watch {
    async fn report(&mut self, report: LifelineReport) {
        if self.last_report.replace(report) == Some(report) {
            return;
        }
        let shared = &self.shared;
        shared.events.logs.lifeline((&shared.namespace, &shared.id), self.boot, report);
        let address = self.address.parse::<Address>();
        let own_host = report.denies(self.boot) && address.is_ok_and(|it| it.is_own_host());
        self.shared.report(Input::Lifeline { boot: self.boot, report, own_host }).await;
    }

    /// Dials and waits for the greeting: the connection to keep if the right process answered, or
    /// else what was seen. A process that is paused, or whose guard still clears up,
    /// accepts and says nothing: that is told once, and then waited out, for its end is the proof.
    async fn look(&mut self) -> Result<BufReader<TcpStream>, LifelineReport> {
        let dialled = in_time(dial_again_and_again(&self.address)).await.and_then(|it| it);
        let mut reader = BufReader::new(dialled.map_err(|error| seen_by(&error))?);
        let greeting = match in_time(wire::line(&mut reader)).await {
            Ok(greeting) => greeting,
            Err(_) => {
                self.report(LifelineReport::TimedOut).await;
                wire::line(&mut reader).await
            }
        };
        let greeting = greeting.ok().flatten();
        match greeting.and_then(|line| wire::parse_greeting(&line)) {
            Some(found) if found == self.boot => Ok(reader),
            Some(other) => Err(LifelineReport::OtherBoot(other)),
            None => Err(LifelineReport::Closed),
        }
    }

    /// Waits until the connection ends; nothing more is ever said on it. Its process ends it in
    /// order, when it dies as well. Anything else is told: it was not the process.
    async fn keep(&mut self, mut connection: BufReader<TcpStream>) {
        let early = tokio::select! {
            biased;
            _ = connection.fill_buf() => true,
            () = SystemClock.sleep(KEPT_AFTER) => false,
        };
        if early {
            return;
        }
        self.report(LifelineReport::Alive).await;
        if !matches!(connection.fill_buf().await, Ok([])) {
            self.report(LifelineReport::Broken).await;
        }
    }
}

async fn dial_again_and_again(address: &str) -> io::Result<TcpStream> {
    let mut patience = DIAL_AGAIN_AFTER;
    loop {
        tokio::select! {
            biased;
            dialled = dial(address) => return dialled,
            () = SystemClock.sleep(patience) => patience *= 2,
        }
    }
}
