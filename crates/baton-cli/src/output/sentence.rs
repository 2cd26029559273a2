//! Events as sentences, for people who watch a node.

use baton_core::health::{Reason, Verdict};
use baton_core::ids::NodeId;
use baton_core::{DemotionReason, Event, Phase, TransferRefusal};

use super::style::Tone;
use super::times::span_ms;
use crate::snapshot::term_end;

/// Whether an event is so ordinary that it is printed on request only.
pub fn is_routine(event: &Event) -> bool {
    matches!(
        event,
        Event::WorkerHeartbeat { .. }
            | Event::ElectionCheck { .. }
            | Event::PluginPromoted { .. }
            | Event::PluginDemoted { .. }
    )
}

/// Severity of an event, as a colour.
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
            "this node is elected for epoch {epoch}: {active} active nodes, a mandate of {}",
            span_ms(*mandate_ms)
        ),
        Event::CoordinatorPromoted { epoch } => format!("this node leads, epoch {epoch}"),
        Event::CoordinatorDemoted { epoch, reason } => {
            format!("this node no longer leads, epoch {epoch}: {}", demotion(reason))
        }
        Event::CoordinatorEpochRenewed { epoch, mandate_ms } => {
            format!("mandate of epoch {epoch} confirmed for {}", span_ms(*mandate_ms))
        }
        Event::ColdStartPhaseChanged { phase, waited_ms } => {
            format!("cold start: {}, after {}", phase_word(*phase), span_ms(*waited_ms))
        }
        Event::LeaderDown { former, proved: true } => {
            format!("leader {former} is dead: its port refuses connections")
        }
        Event::LeaderDown { former, proved: false } => {
            format!("the lease of {former} expired without a proof that it is dead")
        }
        Event::ElectionCheck { current: Some(current) } => {
            format!("regular check: {current} leads")
        }
        Event::ElectionCheck { current: None } => "regular check: no node leads".to_owned(),
        Event::LeaseLost { epoch, reason } => {
            format!("lease lost, epoch {epoch}: {}", demotion(reason))
        }
        Event::TermOverran { epoch } => {
            format!(
                "work of epoch {epoch} was still running at its deadline; stop it if it goes on"
            )
        }
        Event::LeaderFlapping { changes, window_ms } => {
            format!("the leader changed {changes} times within {}", span_ms(*window_ms))
        }
        Event::TransferStarted { epoch, to } => {
            format!("handing over to {to} at the end of epoch {epoch}")
        }
        Event::TransferRefused { to, reason } => {
            format!("no handover to {to}: {}", refusal(*reason))
        }
        _ => return None,
    })
}

fn store(event: &Event) -> Option<String> {
    Some(match event {
        Event::ContentionDetected { ratio, duration_ms, expected_ms } => format!(
            "a beat took {} instead of {} ({ratio:.1} times as long)",
            span_ms(*duration_ms),
            span_ms(*expected_ms)
        ),
        Event::BreakerOpen { failures } => {
            format!("{failures} requests to the store failed in a row: beats are held back")
        }
        Event::BreakerHalfOpen => "the next beat probes the store".to_owned(),
        Event::BreakerClosed => "the store works again".to_owned(),
        Event::StoreUnreachable { epoch, left_ms } => {
            format!(
                "the store cannot be reached; work of epoch {epoch} must stop in {}",
                span_ms(*left_ms)
            )
        }
        Event::StoreWentBack { seen, stored } => {
            format!(
                "the store returned older data: epoch {stored}, and epoch {seen} was seen before"
            )
        }
        Event::StoreRejected => {
            "the store refuses the requests of this node: run baton doctor".to_owned()
        }
        _ => return None,
    })
}

fn members(event: &Event) -> String {
    match event {
        Event::WorkersUpdated { version, workers } => {
            format!("{workers} active nodes (view {}.{})", version.epoch, version.number)
        }
        Event::WorkerHeartbeat { latency_ms } => {
            format!("beat answered in {}", span_ms(*latency_ms))
        }
        Event::NodeIdTaken { by } => {
            format!("another live process has the id of this node (boot {by})")
        }
        Event::NodeSuperseded { by } => {
            format!("a newer process took over the id of this node (boot {by})")
        }
        Event::WorkerTimedOut { worker } => {
            format!("{worker} is silent and was removed from the view")
        }
        Event::LifelineUnwatched(notice) => notice.to_string(),
        Event::WorkerDead { worker } => format!("{worker} counts as dead"),
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
            format!("plugin {plugin} failed ({error}); it starts again in {}", span_ms(*ms))
        }
        Event::PluginFailed { plugin, error, restart_in_ms: None } => {
            format!("plugin {plugin} failed too often and is not started again ({error})")
        }
        Event::PluginSwept { plugin, target, records } => {
            let what = if *records == 1 { "record" } else { "records" };
            format!("plugin {plugin} removed {records} expired {what} of {target}")
        }
        Event::PluginIgnoredCancellation { plugin } => {
            format!("plugin {plugin} ignores its cancellation: stop this process")
        }
        other => other.name().to_owned(),
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

/// Why a term ended, in words.
pub fn demotion(reason: &DemotionReason) -> String {
    match reason {
        DemotionReason::Released(reason) => {
            term_end(baton_core::protocol::TermEnd::Released(*reason)).to_owned()
        }
        DemotionReason::WindowClosed => "the lease was not renewed in time".to_owned(),
        DemotionReason::HigherEpoch(epoch) => format!("epoch {epoch} has begun"),
        DemotionReason::LeaseGone => "another node holds the lease".to_owned(),
        DemotionReason::Superseded => "a newer process took over the id of this node".to_owned(),
        _ => "its time is over".to_owned(),
    }
}

fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Observing => "watching for other nodes",
        Phase::Election => "standing for election",
        Phase::Preparing => "elected, preparing to work",
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
    fn events_have_sentences() {
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
            (
                Event::LeaderDown { former: node("a"), proved: true },
                "leader a is dead: its port refuses connections",
            ),
            (
                Event::CoordinatorDemoted {
                    epoch: Epoch(3),
                    reason: DemotionReason::HigherEpoch(Epoch(4)),
                },
                "this node no longer leads, epoch 3: epoch 4 has begun",
            ),
            (Event::BreakerHalfOpen, "the next beat probes the store"),
            (
                Event::WorkerTimedOut { worker: node("c") },
                "c is silent and was removed from the view",
            ),
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
