//! One run of the command within one term, and the signals to `baton run` meanwhile: two ask it to
//! end, the others are the command's.

use std::ffi::OsString;
use std::io;
use std::pin::pin;
use std::task::Poll;

use baton::{DemotionReason, Departure, Leadership, Namespace, Node};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CommandError;
use crate::guard::{Ending, Guard, Report, Start};
use crate::output::log;

/// How a run of the command ended. In each case but one nothing of it runs any more.
pub enum TermOutcome {
    /// The command ended by itself.
    Ended(Ending),
    /// The command was stopped at a deadline that a renewal then moved: the term goes on.
    Cut,
    /// The term was lost, and the command was stopped.
    Lost { reason: DemotionReason },
    /// This process was asked to end, and the command was stopped.
    Stopped { ended: Option<Ending> },
    /// The guard was lost, and the command with it. The term goes on.
    GuardLost(Report),
    /// This process was asked to end, and the command could not be ended in time: it may still run.
    Stuck,
}

/// Runs a command until it ends or has to.
pub async fn lead(
    node: &Node,
    start: Start,
    guard: &mut Guard,
    signals: &mut Signals,
    term: &Leadership,
) -> Result<TermOutcome, CommandError> {
    let no_order = CommandError::system("the guard process does not accept orders");
    let mut window = term.window();
    guard.start(start).map_err(&no_order)?;
    let (mut ended, mut reason) = (None, None);
    let (mut asked, mut left) = (false, false);
    let mut leaving = pin!(node.leave());
    loop {
        tokio::select! {
            biased;
            report = guard.next() => match report {
                Report::Started { .. } => {}
                Report::FailedToStart { error } => {
                    log::error(&error);
                    ended = Some(Ending::Code(NOT_STARTED));
                }
                Report::Exited(how) => ended = Some(how),
                end @ (Report::Stopped | Report::Lost { .. }) => {
                    let is_told = asked || reason.is_some();
                    let is_due = is_told || !term.may_start_work();
                    if end != Report::Stopped && !is_due {
                        return Ok(TermOutcome::GuardLost(end));
                    }
                    if is_due && !is_told {
                        reason = lost_or_renewed(term).await;
                        if reason.is_none() {
                            return Ok(TermOutcome::Cut);
                        }
                    }
                    if end != Report::Stopped {
                        // The guard was late, and was killed with everything just in time.
                        ended = ended.or(Some(Ending::Signal(KILLED)));
                    }
                    break;
                }
            },
            why = term.lost(), if reason.is_none() => {
                reason = Some(why);
                guard.stop(term.stop_by()).map_err(&no_order)?;
            }
            moved = term.renewed(window.hard), if reason.is_none() => {
                window = moved;
                guard.extend(window).map_err(&no_order)?;
            }
            signal = signals.next() => match signal {
                Request::Stop => asked = true,
                Request::Forward(number) => guard.signal(number).map_err(&no_order)?,
            },
            // Leaving stops the term, which stops the command.
            departure = &mut leaving, if asked && !left => {
                if departure == Departure::Unfinished {
                    return Ok(TermOutcome::Stuck);
                }
                left = true;
            }
        }
    }
    Ok(match (reason, ended) {
        _ if asked => TermOutcome::Stopped { ended },
        (Some(reason), _) => TermOutcome::Lost { reason },
        (None, Some(ended)) => TermOutcome::Ended(ended),
        (None, None) => TermOutcome::Ended(Ending::Code(NOT_STARTED)),
    })
}

/// Why the term is over whose window has closed; `None` if a renewal came at the last moment.
///
/// The guard keeps the deadlines too. Its word that it stopped the command may come before the
/// node's that the term is lost, above all after a pause of this process.
async fn lost_or_renewed(term: &Leadership) -> Option<DemotionReason> {
    let closed = term.deadline();
    tokio::select! {
        biased;
        why = term.lost() => Some(why),
        _ = term.renewed(closed) => None,
    }
}

/// What a shell says of a command that cannot be run.
const NOT_STARTED: i32 = 127;

/// The signal that no process can ignore.
const KILLED: i32 = 9;

/// Names the namespace whose leader runs the command, and whose terms `BATON_EPOCH` counts: that of
/// a key or of a schedule may be another than the one that was configured.
pub const LED_NAMESPACE: &str = "BATON_LED_NAMESPACE";

/// What a command finds in its environment, whatever it is run for.
pub fn environment(
    node: &Node,
    namespace: &Namespace,
    store: &str,
    term: &Leadership,
) -> [(&'static str, String); 5] {
    [
        ("BATON_EPOCH", term.epoch().to_string()),
        ("BATON_NODE_ID", node.id().to_string()),
        ("BATON_NAMESPACE", namespace.to_string()),
        (LED_NAMESPACE, node.namespace().to_string()),
        ("BATON_STORE", store.to_owned()),
    ]
}

/// The order to start a command in this term.
pub fn order(
    command: &[OsString],
    env: impl IntoIterator<Item = (&'static str, String)>,
    term: &Leadership,
) -> Start {
    let (program, args) = command.split_first().expect("clap requires one");
    let env = env.into_iter();
    Start {
        program: program.clone(),
        args: args.to_vec(),
        env: env.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect(),
        window: term.window(),
    }
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Stop,
    /// Give this signal to the command.
    Forward(i32),
}

/// The signals as they come, each with what it asks for. From its making on, none of them ends the
/// process by itself.
pub struct Signals(Vec<(Signal, Request)>);

impl Signals {
    pub fn listen() -> io::Result<Self> {
        let stop = [SignalKind::terminate(), SignalKind::interrupt()];
        let forward = [
            SignalKind::hangup(),
            SignalKind::quit(),
            SignalKind::user_defined1(),
            SignalKind::user_defined2(),
        ];
        let stop = stop.map(|kind| (kind, Request::Stop));
        let forward = forward.map(|kind| (kind, Request::Forward(kind.as_raw_value())));
        let all = stop.into_iter().chain(forward);
        all.map(|(kind, request)| Ok((signal(kind)?, request))).collect::<Result<_, _>>().map(Self)
    }

    /// The next one. Cancel safe.
    pub async fn next(&mut self) -> Request {
        std::future::poll_fn(|cx| {
            let came = self
                .0
                .iter_mut()
                .find_map(|(signal, request)| signal.poll_recv(cx).is_ready().then_some(*request));
            came.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}
