//! The watching side: keeps a connection to the coordinator's lifeline, and dials again when it
//! closes. Only what the second dial shows can prove anything.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::{Input, LifelineReport};
use baton_store::clock::{Clock, SystemClock};
use tokio::io::BufReader;
use tokio::net::TcpStream;

use super::tell::{dial, in_time};
use super::wire;
use crate::drive::Message;
use crate::shared::Shared;

/// Waited between two dials when the first says nothing; doubled up to the longest.
const AGAIN_AFTER: Duration = Duration::from_millis(1);
const AGAIN_AFTER_MAX: Duration = Duration::from_secs(1);

/// A dial without an answer is given up for another after so long; doubled each time. A listener
/// that is just closing can swallow a dial, which the system itself repeats only after a second.
const DIAL_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// What one dial came to.
enum Dialled {
    /// The right process answered: the connection to keep.
    Alive(BufReader<TcpStream>),
    /// This is what was seen instead.
    Seen(LifelineReport),
}

/// Watches until the task is dropped, reporting every change of what is seen.
pub(crate) async fn watch(node: Arc<Shared>, boot: BootId, address: Arc<str>) {
    let mut told = None;
    let mut pause = AGAIN_AFTER;
    loop {
        let seen = match look(&node, boot, &address, &mut told).await {
            Dialled::Alive(mut connection) => {
                report(&node, boot, LifelineReport::Alive, &mut told);
                let since = SystemClock.now();
                // Nothing more is ever said: this ends when the connection does.
                let _ = wire::line(&mut connection).await;
                if SystemClock.now().since(since) >= AGAIN_AFTER_MAX {
                    pause = AGAIN_AFTER;
                    continue;
                }
                None
            }
            Dialled::Seen(seen) => Some(seen),
        };
        let proved = seen.is_some_and(|seen| seen.proves_death_of(boot));
        // A connection that closed is looked at once more before anybody is troubled.
        if let Some(seen) = seen.filter(|_| proved || pause > AGAIN_AFTER) {
            report(&node, boot, seen, &mut told);
        }
        if proved {
            return;
        }
        SystemClock.sleep(pause).await;
        pause = (pause * 2).min(AGAIN_AFTER_MAX);
    }
}

fn report(node: &Shared, boot: BootId, report: LifelineReport, told: &mut Option<LifelineReport>) {
    if told.replace(report) != Some(report) {
        let input = Input::Lifeline { boot, report };
        let _ = node.inbox.send(Message::Input { seat: node.seat, input });
    }
}

/// Dials and waits for the greeting. A process that is paused, or whose guard still clears up,
/// accepts and says nothing: that is told once, and then waited out, for its end is the proof.
async fn look(
    node: &Shared,
    boot: BootId,
    address: &str,
    told: &mut Option<LifelineReport>,
) -> Dialled {
    let dialled = match in_time(dial_again_and_again(address)).await {
        Ok(dialled) => dialled,
        Err(_) => return Dialled::Seen(LifelineReport::TimedOut),
    };
    let mut reader = match dialled {
        Ok(stream) => BufReader::new(stream),
        Err(error) => return Dialled::Seen(seen_by(&error)),
    };
    let greeting = match in_time(wire::line(&mut reader)).await {
        Ok(greeting) => greeting,
        Err(_) => {
            report(node, boot, LifelineReport::TimedOut, told);
            wire::line(&mut reader).await
        }
    };
    match greeting {
        Ok(Some(line)) => match wire::greeted(&line) {
            Some(found) if found == boot => Dialled::Alive(reader),
            Some(other) => Dialled::Seen(LifelineReport::OtherBoot(other)),
            None => Dialled::Seen(LifelineReport::Closed),
        },
        Ok(None) | Err(_) => Dialled::Seen(LifelineReport::Closed),
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

/// Only a refusal by that very address says something. A reset, an unreachable network or a dial
/// that met itself does not.
fn seen_by(error: &io::Error) -> LifelineReport {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => LifelineReport::Refused,
        io::ErrorKind::TimedOut => LifelineReport::TimedOut,
        _ => LifelineReport::Closed,
    }
}
