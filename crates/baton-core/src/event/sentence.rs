//! Events as sentences, for terminals and logs alike.

use std::fmt::{Display, Formatter, Result};

use jiff::tz::TimeZone;

use super::{DemotionReason, Event, Phase, Topic};
use crate::health::Reason;
use crate::ids::NodeId;
use crate::protocol::TermEnd;
use crate::refusal::TransferRefusal;
use crate::schedule::RunOutcome;
use crate::schedule::due::COUNTED_MAX;
use crate::schedule::slot::instant_rfc3339;
use crate::time::short_span;

impl Display for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.topic() {
            Topic::Election => self.election(f),
            Topic::Store => self.store(f),
            Topic::Plugin => self.plugins(f),
            Topic::Schedule => self.schedules(f),
            Topic::Partition => self.partitions(f),
            Topic::Member | Topic::Lifeline | Topic::Beat => self.members(f),
        }
    }
}

impl Event {
    fn election(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::LeaderChanged { previous, new: Some(new), epoch } => {
                write!(f, "{new} leads, epoch {epoch}{}", after(previous.as_ref()))
            }
            Self::LeaderChanged { previous, new: None, .. } => {
                write!(f, "no node leads{}", after(previous.as_ref()))
            }
            Self::CoordinatorElected { epoch, mandate_ms, active } => write!(
                f,
                "this node is elected for epoch {epoch}: {active} active nodes, a mandate of {}",
                short_span(*mandate_ms)
            ),
            Self::CoordinatorPromoted { epoch } => write!(f, "this node leads, epoch {epoch}"),
            Self::CoordinatorDemoted { epoch, reason } => {
                write!(f, "this node no longer leads, epoch {epoch}: {reason}")
            }
            Self::CoordinatorEpochRenewed { epoch, mandate_ms } => {
                write!(f, "mandate of epoch {epoch} confirmed for {}", short_span(*mandate_ms))
            }
            Self::ColdStartPhaseChanged { phase, waited_ms } => {
                write!(f, "cold start: {}, after {}", phase.words(), short_span(*waited_ms))
            }
            Self::LeaderDown { former, proved: true } => {
                write!(f, "leader {former} is dead: its port refuses connections")
            }
            Self::LeaderDown { former, proved: false } => {
                write!(f, "the lease of {former} expired without a proof that it is dead")
            }
            Self::ElectionCheck { current: Some(current) } => {
                write!(f, "regular check: {current} leads")
            }
            Self::ElectionCheck { current: None } => f.write_str("regular check: no node leads"),
            Self::LeaseLost { epoch, reason } => write!(f, "lease lost, epoch {epoch}: {reason}"),
            Self::TermOverran { epoch } => write!(
                f,
                "work of epoch {epoch} was still running at its deadline; stop it if it goes on"
            ),
            Self::LeaderFlapping { changes, window_ms } => {
                write!(f, "the leader changed {changes} times within {}", short_span(*window_ms))
            }
            Self::TransferStarted { epoch, to } => {
                write!(f, "handing over to {to} at the end of epoch {epoch}")
            }
            Self::TransferRefused { to, reason: TransferRefusal::NoCoordinator } => {
                write!(f, "no handover to {to}: no node leads")
            }
            Self::TransferRefused { to, reason } => write!(f, "no handover to {to}: it {reason}"),
            other => f.write_str(other.name()),
        }
    }

    fn store(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::ContentionDetected { ratio, duration_ms, expected_ms } => write!(
                f,
                "a beat took {} instead of {} ({ratio:.1} times as long)",
                short_span(*duration_ms),
                short_span(*expected_ms)
            ),
            Self::BreakerOpen { failures } => {
                write!(f, "{failures} requests to the store failed in a row: beats are held back")
            }
            Self::BreakerHalfOpen => f.write_str("the next beat probes the store"),
            Self::BreakerClosed => f.write_str("the store works again"),
            Self::StoreUnreachable { epoch, left_ms } => write!(
                f,
                "the store cannot be reached; work of epoch {epoch} must stop in {}",
                short_span(*left_ms)
            ),
            Self::StoreWentBack { seen, stored } => write!(
                f,
                "the store returned older data: epoch {stored}, and epoch {seen} was seen before"
            ),
            Self::StoreRejected => {
                f.write_str("the store refuses the requests of this node: run baton doctor")
            }
            other => f.write_str(other.name()),
        }
    }

    fn members(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::WorkersUpdated { version, workers } => {
                write!(
                    f,
                    "the view has {workers} active nodes (view {}.{})",
                    version.epoch, version.number
                )
            }
            Self::WorkerHeartbeat { latency_ms } => {
                write!(f, "beat answered in {}", short_span(*latency_ms))
            }
            Self::NodeIdTaken { by } => {
                write!(f, "another live process has the id of this node (boot {by})")
            }
            Self::NodeSuperseded { by } => {
                write!(f, "a newer process took over the id of this node (boot {by})")
            }
            Self::WorkerTimedOut { worker } => {
                write!(f, "{worker} is silent and was removed from the view")
            }
            Self::WorkerDead { worker } => write!(f, "{worker} counts as dead"),
            Self::LifelineUnwatched(notice) => notice.fmt(f),
            Self::HealthChanged { verdict, reasons } => {
                write!(f, "the cluster is {}{}", verdict.word(), because(reasons))
            }
            other => f.write_str(other.name()),
        }
    }

    fn plugins(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::PluginPromoted { plugin, epoch } => {
                write!(f, "plugin {plugin} started, epoch {epoch}")
            }
            Self::PluginDemoted { plugin, epoch, reason } => {
                write!(f, "plugin {plugin} stopped, epoch {epoch}: {reason}")
            }
            Self::PluginFailed { plugin, error, restart_in_ms: Some(ms) } => {
                let wait = short_span(*ms);
                write!(f, "plugin {plugin} failed ({error}); it starts again in {wait}")
            }
            Self::PluginFailed { plugin, error, restart_in_ms: None } => {
                write!(f, "plugin {plugin} failed too often and is not started again ({error})")
            }
            Self::PluginSwept { plugin, target, records } => {
                let what = if *records == 1 { "record" } else { "records" };
                write!(f, "plugin {plugin} removed {records} expired {what} of {target}")
            }
            Self::PluginIgnoredCancellation { plugin } => {
                write!(f, "plugin {plugin} ignores its cancellation: stop this process")
            }
            other => f.write_str(other.name()),
        }
    }
}

impl Event {
    fn partitions(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::PartitionsChanged { gained, lost, owned } => {
                write!(f, "owns {owned} partitions: {gained} gained, {lost} given up")
            }
            Self::PartitionFailed { partition, error, restart_in_ms } => {
                let wait = short_span(*restart_in_ms);
                write!(f, "the task of partition {partition} panicked ({error}); again in {wait}")
            }
            other => f.write_str(other.name()),
        }
    }

    fn schedules(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::ScheduleStarted { schedule, slot_ms, attempt, late_ms } => {
                let slot = instant_rfc3339(*slot_ms, &TimeZone::UTC);
                let attempt = nth(*attempt);
                write!(f, "{schedule} of {slot} starts{}", attempt.trim_end_matches(','))?;
                // What is not worth a word is less than people can see.
                if *late_ms < 1_000 { Ok(()) } else { write!(f, ", {} late", short_span(*late_ms)) }
            }
            Self::ScheduleEnded { schedule, slot_ms, attempt, took_ms, outcome, retry_at_ms } => {
                let slot = instant_rfc3339(*slot_ms, &TimeZone::UTC);
                let took = short_span(*took_ms);
                write!(f, "{schedule} of {slot}{} {outcome} after {took}", nth(*attempt))?;
                let Some(at_ms) = retry_at_ms else { return Ok(()) };
                let at = instant_rfc3339(*at_ms, &TimeZone::UTC);
                write!(f, "; it is tried again at {at}")
            }
            Self::ScheduleMissed { schedule, count, first_ms, last_ms, reason } => {
                let of = |at_ms| instant_rfc3339(at_ms, &TimeZone::UTC);
                let first = of(*first_ms);
                match count {
                    1 => write!(f, "{schedule} of {first} is not run: {}", reason.phrase()),
                    COUNTED_MAX.. => write!(
                        f,
                        "{COUNTED_MAX} or more slots of {schedule} from {first} to {} are not \
                         run: {}",
                        of(*last_ms),
                        reason.phrase()
                    ),
                    _ => write!(
                        f,
                        "{count} slots of {schedule} from {first} to {} are not run: {}",
                        of(*last_ms),
                        reason.phrase()
                    ),
                }
            }
            other => f.write_str(other.name()),
        }
    }
}

fn nth(attempt: u32) -> String {
    if attempt == 1 { String::new() } else { format!(", attempt {attempt},") }
}

impl Display for RunOutcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Done => f.write_str("succeeded"),
            Self::Failed(message) => write!(f, "failed ({message})"),
            Self::TimedOut => f.write_str("was stopped at its timeout"),
            Self::Replaced => f.write_str("was stopped for a newer run"),
            Self::Abandoned => f.write_str("was cut off and is not run again"),
        }
    }
}

/// The worst reason, and the number of the others.
fn because(reasons: &[Reason]) -> String {
    match reasons {
        [] => String::new(),
        [one] => format!(": {one}"),
        [worst, rest @ ..] => format!(": {worst}; and {} more", rest.len()),
    }
}

fn after(previous: Option<&NodeId>) -> String {
    previous.map_or(String::new(), |previous| format!(", after {previous}"))
}

impl Display for DemotionReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Released(reason) => TermEnd::Released(*reason).fmt(f),
            Self::WindowClosed => f.write_str("the lease was not renewed in time"),
            Self::HigherEpoch(epoch) => write!(f, "epoch {epoch} has begun"),
            Self::LeaseGone => f.write_str("another node holds the lease"),
            Self::Superseded => f.write_str("a newer process took over the id of this node"),
        }
    }
}

impl Phase {
    fn words(self) -> &'static str {
        match self {
            Self::Observing => "watching for other nodes",
            Self::Election => "standing for election",
            Self::Preparing => "elected, preparing to work",
            Self::Ready => "ready",
        }
    }
}
