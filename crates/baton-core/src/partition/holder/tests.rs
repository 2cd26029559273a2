//! The exact actions of a holder.

use super::*;
use crate::ids::NodeId;
use crate::partition::assignment::{Grant, PartitionSet};

/// The window of a beat: 10 s − 1 % − 100 ms; it is told to stop a second before.
fn terms() -> LeaseTerms {
    LeaseTerms {
        ttl: Duration::from_secs(10),
        drift_ppm: 10_000,
        margin: Duration::from_millis(100),
        stop_grace: Duration::from_secs(1),
    }
}

fn at(ms: u64) -> Moment {
    Moment::from_micros(1_000_000_000 + ms * 1_000)
}

fn part(number: u32) -> Partition {
    Partition { list: "a".parse().expect("a plain name"), number }
}

fn start(number: u32, with: u64) -> Action {
    Action::Start { partition: part(number), token: Token(with) }
}

fn stop(number: u32, with: u64) -> Action {
    Action::Stop { partition: part(number), token: Token(with) }
}

fn stopped(number: u32, with: u64) -> Input {
    Input::Stopped { partition: part(number), token: Token(with) }
}

/// What a document gives: token, what is held, what is to be released.
type Given<'a> = (u64, &'a [u32], &'a [u32]);

fn document(session: u64, grants: &[Given<'_>]) -> Assignment {
    let set = |numbers: &[u32]| numbers.iter().map(|it| part(*it)).collect::<PartitionSet>();
    let grant = |(number, hold, release): &Given<'_>| Grant {
        token: Token(*number),
        hold: set(hold),
        release: set(release),
    };
    Assignment {
        node: NodeId::new("n").expect("a plain name"),
        boot: BootId(1),
        session,
        lineage: Lineage(1),
        highest: Token::default(),
        grants: grants.iter().map(grant).collect(),
    }
}

fn report(session: u64, version: u64, stopping: &[u32]) -> Action {
    let slot = 0;
    Action::Report(Arc::new(PartitionReport {
        lineage: Lineage(1),
        session,
        acked: AssignmentVersion { slot, version },
        stopping: stopping.iter().map(|it| part(*it)).collect(),
    }))
}

fn view(version: u64) -> Input {
    Input::View(Some(AssignmentVersion { slot: 0, version }))
}

fn read(version: u64, content: Assignment) -> Input {
    Input::Read { slot: 0, found: Some((version, content)) }
}

/// A holder that runs partitions 0 and 1 with token 1, from version 1 on.
fn begun() -> Holder {
    let mut holder = Holder::new(BootId(1), terms());
    assert_eq!(holder.handle(at(0), Input::Lineage(Lineage(1))), [report(1, 0, &[])]);
    assert!(holder.handle(at(0), Input::Beat { sent: at(0) }).is_empty());
    assert_eq!(holder.handle(at(1), view(1)), [Action::Read { slot: 0 }]);
    let actions = holder.handle(at(2), read(1, document(1, &[(1, &[0, 1], &[])])));
    assert_eq!(actions, [start(0, 1), start(1, 1), report(1, 1, &[])]);
    holder
}

#[test]
fn what_is_released_is_stopped_and_then_acknowledged_whole() {
    let mut holder = begun();
    assert_eq!(holder.handle(at(10), view(2)), [Action::Read { slot: 0 }]);
    let actions = holder.handle(at(11), read(2, document(1, &[(1, &[0], &[1])])));
    assert_eq!(actions, [stop(1, 1), report(1, 2, &[1])]);
    assert!(holder.is_owned(&part(1), Token(1), at(12)), "it may act until it has stopped");
    assert!(holder.handle(at(13), stopped(1, 2)).is_empty(), "another token");
    assert_eq!(holder.handle(at(14), stopped(1, 1)), [report(1, 2, &[])]);
    assert!(!holder.is_owned(&part(1), Token(1), at(15)));
    assert!(holder.is_owned(&part(0), Token(1), at(15)));
}

#[test]
fn a_new_token_starts_when_the_old_work_has_stopped() {
    let mut holder = begun();
    let _ = holder.handle(at(10), view(3));
    let actions = holder.handle(at(11), read(3, document(1, &[(1, &[0], &[]), (3, &[1], &[])])));
    assert_eq!(actions, [stop(1, 1), report(1, 3, &[1])]);
    assert_eq!(holder.handle(at(12), stopped(1, 1)), [start(1, 3), report(1, 3, &[])]);
}

#[test]
fn when_the_window_closes_all_is_stopped_and_only_new_tokens_start_again() {
    let mut holder = begun();
    assert_eq!(holder.window_until(), at(9_800));
    assert_eq!(holder.wakes_after(at(8_000)), Duration::from_millis(800));
    assert!(holder.handle(at(8_799), Input::Tick).is_empty());
    let actions = holder.handle(at(8_800), Input::Tick);
    assert_eq!(actions, [stop(0, 1), stop(1, 1), report(2, 0, &[0, 1])]);
    assert!(
        holder.is_owned(&part(0), Token(1), at(9_799))
            && !holder.is_owned(&part(0), Token(1), at(9_800))
    );
    assert_eq!(holder.handle(at(9_000), stopped(0, 1)), [report(2, 0, &[1])]);
    // A beat opens the next session, in which the document gives nothing.
    assert!(holder.handle(at(9_900), Input::Beat { sent: at(9_500) }).is_empty());
    assert!(!holder.is_owned(&part(1), Token(1), at(9_901)), "it was cut off");
    assert_eq!(holder.handle(at(9_902), view(2)), [Action::Read { slot: 0 }]);
    let actions = holder.handle(at(9_903), read(2, document(2, &[(2, &[0, 1], &[])])));
    assert_eq!(actions, [start(0, 2), report(2, 2, &[1])]);
    assert_eq!(holder.handle(at(9_904), stopped(1, 1)), [start(1, 2), report(2, 2, &[])]);
}

#[test]
fn deadlines_come_before_what_has_arrived() {
    let mut holder = begun();
    let _ = holder.handle(at(10), view(2));
    let late = read(2, document(1, &[(1, &[0, 1], &[]), (2, &[2], &[])]));
    let actions = holder.handle(at(9_000), late);
    assert_eq!(actions, [stop(0, 1), stop(1, 1), report(2, 0, &[0, 1])]);
    assert!(holder.handle(at(9_001), Input::Beat { sent: at(8_999) }).is_empty());
}

#[test]
fn a_session_that_was_reported_is_not_opened_late() {
    let mut holder = Holder::new(BootId(1), terms());
    let _ = holder.handle(at(0), Input::Lineage(Lineage(1)));
    let _ = holder.handle(at(1), view(1));
    let first = read(1, document(1, &[(1, &[0], &[])]));
    assert!(holder.handle(at(2), first).is_empty(), "no beat of it is known to be written");
    let beat = Input::Beat { sent: at(20_000) };
    assert_eq!(holder.handle(at(20_001), beat), [report(2, 0, &[])]);
}

#[test]
fn what_is_for_another_process_session_or_line_of_history_gives_nothing() {
    let good = document(1, &[(1, &[0], &[])]);
    for bad in [
        Assignment { boot: BootId(2), ..good.clone() },
        Assignment { session: 2, ..good.clone() },
        Assignment { lineage: Lineage(2), ..good.clone() },
    ] {
        let mut holder = begun();
        let _ = holder.handle(at(10), view(2));
        assert!(holder.handle(at(11), read(2, bad)).is_empty());
    }
}

#[test]
fn an_older_version_changes_nothing_and_the_view_is_followed() {
    let mut holder = begun();
    let _ = holder.handle(at(10), view(3));
    let _ = holder.handle(at(11), read(3, document(1, &[(1, &[0], &[1])])));
    assert_eq!(holder.handle(at(12), view(4)), [Action::Read { slot: 0 }]);
    assert!(holder.handle(at(13), read(2, document(1, &[(1, &[0, 1], &[])]))).is_empty());
    assert_eq!(holder.wakes_after(at(13)), PAUSE);
    assert_eq!(holder.handle(at(513), Input::Tick), [Action::Read { slot: 0 }]);
    assert!(holder.handle(at(514), Input::Unread { slot: 0 }).is_empty());
    assert_eq!(holder.handle(at(1_014), Input::Tick), [Action::Read { slot: 0 }]);
}

#[test]
fn another_line_of_history_ends_the_session_and_what_was_being_read_is_read_again() {
    let mut holder = begun();
    assert_eq!(holder.handle(at(10), view(2)), [Action::Read { slot: 0 }]);
    let actions = holder.handle(at(11), Input::Lineage(Lineage(2)));
    assert_eq!(actions[..2], [stop(0, 1), stop(1, 1)]);
    let Action::Report(report) = &actions[2] else { unreachable!("{actions:?}") };
    assert_eq!((report.session, report.lineage, report.acked.version), (2, Lineage(2), 0));
    let actions = holder.handle(at(12), read(9, document(1, &[(1, &[0], &[])])));
    assert_eq!(actions, [Action::Read { slot: 0 }]);
}

#[test]
fn too_much_that_is_stopping_is_not_acknowledged_yet() {
    let many: Vec<u32> = (0..200).map(|it| it * it).collect();
    let mut holder = begun();
    let _ = holder.handle(at(10), view(2));
    let _ = holder.handle(at(11), read(2, document(1, &[(2, &many, &[])])));
    let _ = holder.handle(at(12), view(3));
    let actions = holder.handle(at(13), read(3, document(1, &[(2, &[], &many)])));
    assert!(actions.iter().all(|it| matches!(it, Action::Stop { .. })), "nothing is reported");
    let ended = many.iter().map(|it| holder.handle(at(14), stopped(*it, 2))).collect::<Vec<_>>();
    let first = ended.iter().position(|actions| !actions.is_empty()).expect("a report");
    assert!((100..200).contains(&first), "{first}");
}

#[test]
fn a_process_that_leaves_stops_everything_and_starts_nothing() {
    let mut holder = begun();
    assert_eq!(
        holder.handle(at(10), Input::Leave),
        [stop(0, 1), stop(1, 1), report(2, 0, &[0, 1])]
    );
    let _ = holder.handle(at(11), Input::Beat { sent: at(10) });
    let _ = holder.handle(at(12), view(2));
    assert!(holder.handle(at(13), read(2, document(2, &[(2, &[5], &[])]))).is_empty());
    let _ = holder.handle(at(14), stopped(0, 1));
    assert!(!holder.is_idle());
    let _ = holder.handle(at(15), stopped(1, 1));
    assert!(holder.is_idle());
}
