//! From one term to the next: waits for leadership, runs the command, and runs it again.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use baton::{Departure, Epoch, Event, Events, Leadership, Node, Store};
use baton_store::clock::{Clock, SystemClock};

use super::successor;
use super::term::{Request, Signals, TermOutcome, environment, lead, order};
use super::{Arguments, OnLost};
use crate::commands::serve::{departed, unfinished};
use crate::error::{CommandError, Exit};
use crate::guard::{Ending, Guard, Report, reap_orphans, vital_descriptors};
use crate::output::log::{self, Level};
use crate::output::times::span;
use crate::{crash_notice, node, open_store};

/// The first and the longest pause before a command that ended is run again.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How long the guard has to end when nothing is left to do.
const CLOSED_WITHIN: Duration = Duration::from_millis(200);

/// What is to run, and how.
pub struct Job<'a> {
    pub arguments: &'a Arguments,
    /// The store's URL for the environment of the command.
    pub store: String,
}

/// Why there is nothing left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// The command ended by itself, and its end is this process's.
    Command(Ending),
    /// A signal asked this process to end; how the command ended then, if one ran.
    Stopped(Option<Ending>),
    /// Leadership was lost, and that was to be the end.
    Lost,
    /// The node had to stop.
    Departed(Departure),
}

/// A node that runs the command whenever it leads.
pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let config = open_store::load_node(&arguments.node.0)?;
    let job = Job { arguments, store: config.store.without_secrets() };
    let store = node::store(&config).await?;
    let telemetry = node::Telemetry::of(&config)?;
    let builder = telemetry.attach(node::builder(&config, store.clone()));
    let (node, mut events) = builder.build_with_events()?;
    let least = if arguments.quiet { Level::Error } else { Level::Info };
    let notice = crash_notice::of_this_node(&config, Some(node.id()), &*store).await;
    node::introduce(&node, notice.as_ref(), least);
    let finished = tokio::select! {
        biased;
        finished = run_job(&node, &*store, &job) => finished,
        () = log::follow(&mut events, least) => unreachable!("it goes on for ever"),
        never = reap_orphans() => match never {},
    };
    log::catch_up(&mut events, least);
    match finished? {
        Finished::Command(ending) | Finished::Stopped(Some(ending)) => Ok(Exit(code_of(ending))),
        Finished::Stopped(None) => Ok(Exit::DONE),
        Finished::Lost => {
            log::warn("leadership was lost: exiting because of --on-lost exit");
            Ok(Exit::LOST)
        }
        Finished::Departed(departure) => departed(&node, departure),
    }
}

/// The exit code that a shell would give.
pub fn code_of(ending: Ending) -> u8 {
    match ending {
        Ending::Code(code) => u8::try_from(code).unwrap_or(u8::MAX),
        Ending::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
    }
}

/// Runs the job whenever the node leads, until there is nothing left to do.
async fn run_job(node: &Node, store: &dyn Store, job: &Job<'_>) -> Result<Finished, CommandError> {
    let signals = Signals::listen().map_err(CommandError::system("no signals"))?;
    let (guard, unproved, backoff) = (None, None, Backoff::default());
    let mut runner = Runner { node, job, signals, guard, unproved, backoff };
    let finished = runner.stand_by().await;
    if close_guard(&mut runner.guard).await? {
        runner.unproved = None;
    }
    // Both at the same time, so that the handover does not wait for the store.
    let next = successor::announce(node, store, job, finished.as_ref().ok());
    let (departure, next) = tokio::join!(node.leave(), next);
    next.iter().for_each(|line| runner.say(line));
    if departure == Departure::Unfinished {
        log::warn(&unfinished(node));
    }
    finished
}

struct Runner<'a> {
    node: &'a Node,
    job: &'a Job<'a>,
    signals: Signals,
    guard: Option<Guard>,
    /// The term of a command that is not proved gone. As long as it is held the lease stays.
    unproved: Option<Leadership>,
    backoff: Backoff,
}

impl Runner<'_> {
    async fn stand_by(&mut self) -> Result<Finished, CommandError> {
        let mut events = self.node.events();
        if let Some(finished) = self.registered(&mut events).await {
            return Ok(finished);
        }
        self.say(&format!("node {} stands by", self.node.id()));
        loop {
            // Started before it is needed: a successor has only to say what to run.
            self.ensure_guard()?;
            let guard = self.guard.as_mut().expect("it was seen to above");
            let term = tokio::select! {
                term = self.node.leadership() => term,
                report = guard.next() => match self.guard_lost(report).await? {
                    Some(finished) => return Ok(finished),
                    None => continue,
                },
                asked = self.signals.next() => match asked {
                    Request::Stop => return Ok(Finished::Stopped(None)),
                    Request::Forward(_) => continue,
                },
            };
            let Ok(term) = term else {
                return Ok(Finished::Departed(self.node.left().await));
            };
            if let Some(finished) = self.hold(term).await? {
                return Ok(finished);
            }
            self.say(&format!("node {} stands by", self.node.id()));
        }
    }

    /// Waits until the store knows this process; single-instance mode has none to ask.
    async fn registered(&mut self, events: &mut Events) -> Option<Finished> {
        while self.node.settings().enabled && !self.node.is_registered() {
            tokio::select! {
                event = events.next() => {
                    let event = event.as_ref().map(|stamped| &stamped.event);
                    if let Some(Event::StoreRejected | Event::BreakerOpen { .. }) = event {
                        // What keeps the node from taking part.
                        let problem = self.node.last_store_error();
                        problem.iter().for_each(|problem| log::error(&problem.to_string()));
                    }
                }
                departure = self.node.left() => return Some(Finished::Departed(departure)),
                asked = self.signals.next() => if asked == Request::Stop {
                    return Some(Finished::Stopped(None));
                },
            }
        }
        None
    }

    /// Sees to it that there is a guard. One that was late for a deadline had to be killed,
    /// together with the command: the next command needs another.
    fn ensure_guard(&mut self) -> Result<(), CommandError> {
        if self.guard.as_ref().is_none_or(Guard::is_lost) {
            self.guard = Some(start_guard(self.node)?);
        }
        Ok(())
    }

    /// One term: the command, perhaps again and again, until the term is lost or all is done.
    async fn hold(&mut self, term: Leadership) -> Result<Option<Finished>, CommandError> {
        self.say(&format!("node {} leads in epoch {}", self.node.id(), term.epoch()));
        loop {
            self.ensure_guard()?;
            let guard = self.guard.as_mut().expect("it was seen to above");
            let (node, job) = (self.node, self.job);
            let env = environment(node, node.namespace(), &job.store, &term);
            let start = order(&job.arguments.command, env, &term);
            let outcome = lead(node, start, guard, &mut self.signals, &term).await;
            let what = match outcome {
                Ok(TermOutcome::Cut) => continue,
                Ok(TermOutcome::Lost { reason }) => {
                    self.say(&format!("epoch {} is over: {reason}", term.epoch()));
                    drop(term);
                    return Ok(self.after_loss());
                }
                Ok(TermOutcome::Stopped { ended }) => {
                    return Ok(Some(Finished::Stopped(ended)));
                }
                Ok(TermOutcome::Stuck) => {
                    self.unproved = Some(term);
                    return Ok(Some(Finished::Stopped(None)));
                }
                Ok(TermOutcome::Ended(ended)) if self.is_last(ended) => {
                    return Ok(Some(Finished::Command(ended)));
                }
                Ok(TermOutcome::Ended(ended)) => format!("the command {ended}"),
                Ok(TermOutcome::GuardLost(report)) => {
                    let lost = self.guard_loss(report)?;
                    format!("{lost}, and the command with it")
                }
                Err(problem) => {
                    self.unproved = Some(term);
                    return Err(problem);
                }
            };
            let pause = self.backoff.next(term.epoch());
            self.say(&format!("{what}; it runs again in {}", span(pause)));
            if let Some(finished) = self.pause(pause, &term).await {
                return Ok(finished);
            }
        }
    }

    /// Is the loss of leadership the end?
    fn after_loss(&self) -> Option<Finished> {
        (self.job.arguments.on_lost == OnLost::Exit).then_some(Finished::Lost)
    }

    /// Is the command not to be run again after this end?
    fn is_last(&self, ended: Ending) -> bool {
        let Arguments { once, restart, .. } = self.job.arguments;
        !restart && (!once || ended == Ending::Code(0))
    }

    /// The loss of the guard, for people, if commands are run again; else it is the end.
    fn guard_loss(&self, report: Report) -> Result<String, CommandError> {
        let lost = guard_lost(report);
        let Arguments { once, restart, .. } = self.job.arguments;
        if *once || *restart { Ok(lost.to_string()) } else { Err(lost) }
    }

    /// The guard was lost while no command ran. `Some` if the process is to end.
    async fn guard_lost(&mut self, report: Report) -> Result<Option<Finished>, CommandError> {
        let lost = self.guard_loss(report)?;
        close_guard(&mut self.guard).await?;
        let pause = self.backoff.next(Epoch::NONE);
        log::warn(&format!("{lost}; another starts in {}", span(pause)));
        Ok(self.is_stopped_within(pause).await.then_some(Finished::Stopped(None)))
    }

    /// Waits before the next start; `Some` if the term or the process ended meanwhile.
    async fn pause(&mut self, pause: Duration, term: &Leadership) -> Option<Option<Finished>> {
        tokio::select! {
            biased;
            _ = term.lost() => Some(self.after_loss()),
            stopped = self.is_stopped_within(pause) => {
                stopped.then_some(Some(Finished::Stopped(None)))
            }
        }
    }

    /// Waits for this long, or until a signal asks this process to end.
    async fn is_stopped_within(&mut self, pause: Duration) -> bool {
        let mut paused = SystemClock.sleep(pause);
        loop {
            tokio::select! {
                asked = self.signals.next() => if asked == Request::Stop {
                    return true;
                },
                () = &mut paused => return false,
            }
        }
    }

    fn say(&self, line: &str) {
        if !self.job.arguments.quiet {
            log::info(line);
        }
    }
}

/// Starts a guard for the commands of a node. It holds whatever would prove this process dead, so
/// that the proof waits for it.
pub fn start_guard(node: &Node) -> Result<Guard, CommandError> {
    let vital = vital_descriptors(node);
    let vital = vital.map_err(CommandError::system("no lifeline to share"))?;
    let borrowed: Vec<BorrowedFd<'_>> = vital.iter().map(AsFd::as_fd).collect();
    let guard = Guard::spawn(&borrowed);
    guard.map_err(CommandError::system("the guard process does not start"))
}

/// Ends the guard and whatever runs. False if that takes too long: the guard goes on alone, and
/// what it holds keeps this process from being proved dead.
pub async fn close_guard(guard: &mut Option<Guard>) -> Result<bool, CommandError> {
    let Some(guard) = guard.take() else {
        return Ok(true);
    };
    tokio::select! {
        closed = guard.close() => {
            closed.map(|()| true).map_err(CommandError::system("the guard process did not end"))
        }
        () = SystemClock.sleep(CLOSED_WITHIN) => Ok(false),
    }
}

/// The error of a guard that was lost.
pub fn guard_lost(report: Report) -> CommandError {
    let how = match report {
        Report::Lost { how } => how,
        other => format!("unexpected message {other:?}"),
    };
    CommandError::system("the guard process died")(std::io::Error::other(how))
}

/// Doubles with each end in the same term; a new term starts anew.
#[derive(Default)]
struct Backoff {
    last: Option<(Epoch, Duration)>,
}

impl Backoff {
    /// The next pause.
    fn next(&mut self, epoch: Epoch) -> Duration {
        let pause = match self.last {
            Some((known, last)) if known == epoch => (last * 2).min(PAUSE_MAX),
            _ => PAUSE_MIN,
        };
        self.last = Some((epoch, pause));
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_start_anew_with_a_term() {
        let mut backoff = Backoff::default();
        let drawn: Vec<u128> = (0..9).map(|_| backoff.next(Epoch(1)).as_millis()).collect();
        assert_eq!(drawn, [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
        assert_eq!(backoff.next(Epoch(2)), PAUSE_MIN);
    }
}
