//! Events as sentences, for people who watch a node.

use baton_core::health::{Reason, Verdict};
use baton_core::ids::NodeId;
use baton_core::{DemotionReason, Event, Phase, TransferRefusal};

use super::style::Tone;
use super::times::span_ms;
use crate::snapshot::term_end;

/// Is this so ordinary that it is only told on request?
pub fn is_routine(event: &Event) -> bool {
    matches!(
        event,
        Event::WorkerHeartbeat { .. }
            | Event::ElectionCheck { .. }
            | Event::PluginPromoted { .. }
            | Event::PluginDemoted { .. }
    )
}

/// How loud it is said.
pub fn tone(event: &Event) -> Tone {
    match event {
        Event::CoordinatorPromoted { .. }
        | Event::BreakerClosed
        | Event::HealthChanged { verdict: Verdict::Healthy, .. } => Tone::Good,
        Event::CoordinatorDemoted { .. }
        | Event::LeaderDown { .. }
        | Event::ContentionDetected { .. }
        | Event::BreakerOpen { .. }
        | Event::BreakerHalfOpen
        | Event::StoreUnreachable { .. }
        | Event::LeaderFlapping { .. }
        | Event::LifelineUnwatched(_)
        | Event::WorkerTimedOut { .. }
        | Event::WorkerDead { .. }
        | Event::HealthChanged { verdict: Verdict::Degraded, .. }
        | Event::TransferRefused { .. } => Tone::Warn,
        Event::LeaseLost { .. }
        | Event::TermOverran { .. }
        | Event::StoreWentBack { .. }
        | Event::NodeIdTaken { .. }
        | Event::NodeSuperseded { .. }
        | Event::PluginFailed { .. }
        | Event::PluginIgnoredCancellation { .. }
        | Event::HealthChanged { verdict: Verdict::Critical, .. }
        | Event::StoreRejected => Tone::Bad,
        _ => Tone::Plain,
    }
}

/// The event in words.
pub fn sentence(event: &Event) -> String {
    leading(event).or_else(|| store(event)).unwrap_or_else(|| members(event))
}

fn leading(event: &Event) -> Option<String> {
    Some(match event {
        Event::LeaderChanged { previous, new, epoch } => match new {
            Some(new) => format!("{new} leads, epoch {epoch}{}", after(previous.as_ref())),
            None => format!("no node leads{}", after(previous.as_ref())),
        },
        Event::CoordinatorElected { epoch, mandate_ms, active } => format!(
            "this node is elected, epoch {epoch}, {active} active, mandate {}",
            span_ms(*mandate_ms)
        ),
        Event::CoordinatorPromoted { epoch } => format!("this node leads, epoch {epoch}"),
        Event::CoordinatorDemoted { epoch, reason } => {
            format!("this node leads no more, epoch {epoch}: {}", demotion(reason))
        }
        Event::CoordinatorEpochRenewed { epoch, mandate_ms } => {
            format!("mandate confirmed, epoch {epoch}, for {}", span_ms(*mandate_ms))
        }
        Event::ColdStartPhaseChanged { phase, waited_ms } => {
            format!("cold start: {} (after {})", phase_word(*phase), span_ms(*waited_ms))
        }
        Event::LeaderDown { former, proved: true } => format!("{former} is dead, proved"),
        Event::LeaderDown { former, proved: false } => format!("the lease of {former} ran out"),
        Event::ElectionCheck { current: Some(current) } => format!("check: {current} leads"),
        Event::ElectionCheck { current: None } => "check: no node leads".to_owned(),
        Event::LeaseLost { epoch, reason } => {
            format!("lease lost, epoch {epoch}: {}", demotion(reason))
        }
        Event::TermOverran { epoch } => {
            format!("work had not stopped at the deadline, epoch {epoch}: stop it if it goes on")
        }
        Event::LeaderFlapping { changes, window_ms } => {
            format!("leadership changed {changes} times within {}", span_ms(*window_ms))
        }
        Event::TransferStarted { epoch, to } => format!("handing over to {to}, epoch {epoch}"),
        Event::TransferRefused { to, reason } => {
            format!("not handing over to {to}: {}", refusal(*reason))
        }
        _ => return None,
    })
}

fn store(event: &Event) -> Option<String> {
    Some(match event {
        Event::ContentionDetected { ratio, duration_ms, expected_ms } => format!(
            "a slow beat: {} instead of {} ({ratio:.1} times)",
            span_ms(*duration_ms),
            span_ms(*expected_ms)
        ),
        Event::BreakerOpen { failures } => {
            format!("the store failed {failures} times: beats are held back")
        }
        Event::BreakerHalfOpen => "probing the store".to_owned(),
        Event::BreakerClosed => "the store works again".to_owned(),
        Event::StoreUnreachable { epoch, left_ms } => {
            format!("the store cannot be reached; epoch {epoch} goes on for {}", span_ms(*left_ms))
        }
        Event::StoreWentBack { seen, stored } => {
            format!("the store's data went back: epoch {stored} after {seen}")
        }
        Event::StoreRejected => "the store refuses: run baton doctor".to_owned(),
        _ => return None,
    })
}

fn members(event: &Event) -> String {
    match event {
        Event::WorkersUpdated { version, workers } => {
            format!("{workers} active (view {}.{})", version.epoch, version.number)
        }
        Event::WorkerHeartbeat { latency_ms } => format!("beat, {}", span_ms(*latency_ms)),
        Event::NodeIdTaken { by } => format!("another live process goes by this id (boot {by})"),
        Event::NodeSuperseded { by } => format!("a newer process took this id over (boot {by})"),
        Event::WorkerTimedOut { worker } => format!("{worker} fell silent"),
        Event::LifelineUnwatched(notice) => notice.to_string(),
        Event::WorkerDead { worker } => format!("{worker} is dead"),
        Event::PluginPromoted { plugin, epoch } => {
            format!("plugin {plugin} started, epoch {epoch}")
        }
        Event::PluginDemoted { plugin, epoch, reason } => {
            format!("plugin {plugin} stopped, epoch {epoch}: {}", demotion(reason))
        }
        Event::HealthChanged { verdict, reasons } => {
            format!("the cluster is {}{}", verdict.word(), because(reasons))
        }
        Event::PluginFailed { plugin, error, restart_in_ms: Some(ms) } => {
            format!("plugin {plugin} failed ({error}), again in {}", span_ms(*ms))
        }
        Event::PluginFailed { plugin, error, restart_in_ms: None } => {
            format!("plugin {plugin} failed too often ({error})")
        }
        Event::PluginSwept { plugin, target, records } => {
            let what = if *records == 1 { "record" } else { "records" };
            format!("plugin {plugin} removed {records} expired {what} of {target}")
        }
        Event::PluginIgnoredCancellation { plugin } => {
            format!("plugin {plugin} does not stop: stop this process")
        }
        other => other.name().to_owned(),
    }
}

/// The worst reason in words, the others counted.
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

/// Why a term ended, in words.
pub fn demotion(reason: &DemotionReason) -> String {
    match reason {
        DemotionReason::Released(reason) => {
            term_end(baton_core::protocol::TermEnd::Released(*reason)).to_owned()
        }
        DemotionReason::WindowClosed => "no renewal came through in time".to_owned(),
        DemotionReason::HigherEpoch(epoch) => format!("epoch {epoch} exists"),
        DemotionReason::LeaseGone => "another node holds the lease".to_owned(),
        DemotionReason::Superseded => "a newer process took this id over".to_owned(),
        _ => "its time is over".to_owned(),
    }
}

fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Observing => "watching who else starts",
        Phase::Election => "standing for election",
        Phase::Preparing => "won, preparing",
        Phase::Ready => "ready",
        _ => "starting",
    }
}

fn refusal(reason: TransferRefusal) -> String {
    match reason {
        TransferRefusal::NoCoordinator => "no node leads".to_owned(),
        other => format!("it {other}"),
    }
}

#[cfg(test)]
mod tests {
    use baton_core::ids::Epoch;

    use super::*;

    #[test]
    fn events_are_told_in_words() {
        let node = |name| NodeId::new(name).expect("valid");
        let cases = [
            (
                Event::LeaderChanged {
                    previous: Some(node("a")),
                    new: Some(node("b")),
                    epoch: Epoch(4),
                },
                "b leads, epoch 4, after a",
            ),
            (Event::LeaderDown { former: node("a"), proved: true }, "a is dead, proved"),
            (
                Event::CoordinatorDemoted {
                    epoch: Epoch(3),
                    reason: DemotionReason::HigherEpoch(Epoch(4)),
                },
                "this node leads no more, epoch 3: epoch 4 exists",
            ),
            (Event::BreakerOpen { failures: 5 }, "the store failed 5 times: beats are held back"),
            (Event::WorkerTimedOut { worker: node("c") }, "c fell silent"),
            (
                Event::HealthChanged {
                    verdict: Verdict::Critical,
                    reasons: vec![Reason::NoNode, Reason::NoCandidate { registered: 1 }],
                },
                "the cluster is critical: no node is registered: start one; and 1 more",
            ),
        ];
        for (event, expected) in cases {
            assert_eq!(sentence(&event), expected);
        }
    }
}
