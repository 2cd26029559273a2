//! Single-instance mode: `enabled = false`, the node leads alone and uses no store.

use baton_core::ids::Epoch;
use baton_core::lease::Window;
use baton_core::protocol::ReleaseReason::Shutdown;
use baton_core::time::Moment;
use baton_core::timer::Timer;
use baton_core::{Action, Command, DemotionReason, Phase};

use crate::harness::expect::{demoted, phase, promoted};
use crate::harness::{ME, Node, at, id, settings};

fn alone() -> Node {
    Node::new(settings().tune(|it| it.enabled = false))
}

#[test]
fn it_leads_at_once_in_a_term_without_end_and_without_a_request() {
    let mut node = alone();
    let start = Action::StartTerm { epoch: Epoch(1), window: Window::ENDLESS };
    assert_eq!(node.start(0), [phase(Phase::Ready, 0), start, promoted(1)]);
    let far = Moment::from_micros(u64::MAX - 1);
    assert!(node.core.is_leader(far));
    assert!(node.core.may_start_work(far, Epoch(1)));
    assert_eq!(node.core.leader(far), Some(&id(ME)));
    assert_eq!(node.core.known_epoch(), Epoch(1));
}

#[test]
fn no_deadline_ever_stops_it() {
    let mut node = alone();
    node.start(0);
    for timer in [Timer::Soft, Timer::Hard, Timer::Takeover] {
        assert_eq!(node.due(365 * 24 * 3_600_000, timer), [], "{timer:?}");
    }
}

#[test]
fn it_leaves_by_stopping_its_work() {
    let mut node = alone();
    node.start(0);
    let (epoch, reason) = (Epoch(1), DemotionReason::Released(Shutdown));
    let stop = Action::StopTerm { epoch, reason, by: at(3_000) };
    assert_eq!(node.command(1_000, Command::Leave), [demoted(1, reason), stop]);
    assert_eq!(node.stopped(1_100, 1), [Action::Halt]);
    assert!(!node.core.is_leader(at(1_100)));
}

#[test]
fn tasks_of_its_one_epoch_are_accepted() {
    let mut node = alone();
    node.start(0);
    assert!(node.core.is_epoch_valid(at(900_000), Epoch(1), at(900_000)));
}
