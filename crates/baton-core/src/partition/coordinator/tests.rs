//! The exact actions of a coordinator, for a store and processes that do what each test says.

use super::*;
use crate::ids::NodeId;
use crate::partition::assignment::{Grant, PartitionReport, PartitionSet, Token};
use crate::partition::task_list::{Partition, TaskList, TaskListStatus};
use crate::protocol::{NodeProfile, NodeRecord};

fn lease() -> LeaseTerms {
    LeaseTerms {
        ttl: Duration::from_secs(10),
        drift_ppm: 10_000,
        margin: Duration::from_millis(100),
        stop_grace: Duration::from_secs(1),
    }
}

/// ttl·(1+ρ) + margin.
const SILENCE_MS: u64 = 10_200;

fn at(ms: u64) -> Moment {
    Moment::from_micros(1_000_000_000 + ms * 1_000)
}

fn set(numbers: &[u32]) -> PartitionSet {
    let list: crate::partition::TaskListId = "a".parse().expect("a plain name");
    numbers.iter().map(|number| Partition { list: list.clone(), number: *number }).collect()
}

fn grant(token: Token, hold: &[u32], release: &[u32]) -> Grant {
    Grant { token, hold: set(hold), release: set(release) }
}

/// The process of boot 1 is of node n1, and so on; those from 11 on are its later ones.
fn node(boot: u128) -> NodeId {
    NodeId::new(&format!("n{}", boot % 10)).expect("a plain name")
}

fn document(boot: u128, session: u64, grants: &[Grant]) -> Assignment {
    let (node, boot) = (node(boot), BootId(boot));
    let highest = grants.iter().map(|it| it.token).max().unwrap_or_default();
    Assignment { node, boot, session, lineage: Lineage(1), highest, grants: grants.to_vec() }
}

fn write(slot: u32, over: u64, content: Assignment) -> DocumentWrite {
    DocumentWrite { slot, over, content }
}

/// A record: boot, beat count, session, slot and version that it acknowledges, what is stopping.
type Said<'a> = (u128, u64, u64, (u32, u64), &'a [u32]);

fn member((boot, beat, session, (slot, version), stopping): Said<'_>) -> Member {
    let report = PartitionReport {
        lineage: Lineage(1),
        session,
        acked: AssignmentVersion { slot, version },
        stopping: set(stopping),
    };
    let record = NodeRecord {
        id: node(boot),
        boot: BootId(boot),
        beat,
        eligible: true,
        draining: false,
        load: 0,
        seen: Epoch::NONE,
        partitions: Some(Arc::new(report)),
        profile: Arc::new(NodeProfile::default()),
    };
    Member { record, silent_for: Some(Duration::ZERO) }
}

fn members(sent_ms: u64, said: &[Said<'_>]) -> Input {
    Input::Members { sent: at(sent_ms), members: said.iter().map(|it| member(*it)).collect() }
}

fn list(partitions: u32) -> TaskList {
    TaskList::new("a".parse().expect("a plain name"), partitions)
}

fn coordinator(epoch: u64, settings: MoveSettings) -> Coordinator {
    let term = TermOfMoves { epoch: Epoch(epoch), lineage: Lineage(1), lease: lease() };
    Coordinator::new(at(0), term, settings)
}

/// A coordinator that has read these documents, each at version 5, and knows the list.
fn with(epoch: u64, partitions: u32, documents: &[Assignment]) -> Coordinator {
    let mut coordinator = coordinator(epoch, MoveSettings::default());
    let [Action::Read { slots }] = &coordinator.handle(at(0), Input::Tick)[..] else {
        unreachable!("the documents are read first");
    };
    let found = slots.iter().map(|slot| Some((5, documents.get(*slot as usize)?.clone())));
    let actions = coordinator.handle(at(0), Input::Read { found: found.collect() });
    assert!(matches!(actions[..], [Action::Publish(_)]), "{actions:?}");
    assert!(coordinator.handle(at(0), Input::Lists(vec![list(partitions)].into())).is_empty());
    coordinator
}

fn writes(actions: &[Action]) -> Vec<DocumentWrite> {
    match actions {
        [.., Action::Write(writes)] => writes.clone(),
        other => unreachable!("a write is expected, not {other:?}"),
    }
}

fn done(versions: &[u64]) -> Input {
    Input::Written(BatchOutcome::Written(versions.to_vec()))
}

#[test]
fn partitions_without_an_owner_are_given_away_in_one_write() {
    let mut coordinator = with(1, 4, &[]);
    let said = [(1, 1, 1, (0, 0), &[][..]), (2, 1, 1, (0, 0), &[])];
    let given = writes(&coordinator.handle(at(1), members(0, &said)));
    let holds =
        |it: &DocumentWrite| it.content.grants.iter().map(|it| it.hold.len()).sum::<usize>();
    assert_eq!(
        given.iter().map(|it| (it.slot, it.over, holds(it))).collect::<Vec<_>>(),
        [(0, 0, 2), (1, 0, 2)]
    );
    assert!(given.iter().all(|it| it.content.grants[0].token == Token(1)));
    assert!(coordinator.handle(at(2), Input::Tick).is_empty(), "one write at a time");
    assert_eq!(coordinator.unowned(), 4);
    let actions = coordinator.handle(at(3), done(&[1, 1]));
    let version = |slot| AssignmentVersion { slot, version: 1 };
    let versions = given.iter().map(|it| (it.content.boot, version(it.slot)));
    assert_eq!(actions, [Action::Publish(Arc::new(versions.collect()))]);
    assert_eq!(coordinator.unowned(), 0);
    assert!(coordinator.handle(at(500), members(400, &said)).is_empty(), "nothing has changed");
}

#[test]
fn a_move_is_requested_acknowledged_and_then_made() {
    let held = document(1, 1, &[grant(Token(1), &[0, 1], &[])]);
    let mut coordinator = with(2, 2, &[held]);
    let both = |version, stopping: &'static [u32], count| {
        [(1, count, 1, (0, version), stopping), (2, count, 1, (0, 0), &[][..])]
    };
    let asked = writes(&coordinator.handle(at(1), members(0, &both(5, &[], 1))));
    let [DocumentWrite { slot: 0, over: 5, content }] = &asked[..] else { unreachable!() };
    let moved: Vec<u32> = content.released().map(|(it, _)| it.number).collect();
    assert_eq!((moved.len(), content.held().count()), (1, 1));
    assert!(content.grants.iter().all(|it| it.token == Token(1)), "tokens stay");
    let _ = coordinator.handle(at(2), done(&[6]));
    assert!(coordinator.handle(at(3), members(2, &both(5, &[], 2))).is_empty());
    let stopping: &'static [u32] = if moved == [0] { &[0] } else { &[1] };
    assert!(coordinator.handle(at(4), members(3, &both(6, stopping, 3))).is_empty(), "it stops");
    let given = writes(&coordinator.handle(at(5), members(4, &both(6, &[], 4))));
    let new = document(2, 1, &[grant(Token(2), &moved, &[])]);
    assert_eq!(given, [write(1, 0, new)], "the old document is not written for it");
}

#[test]
fn a_release_that_is_not_needed_any_more_is_cancelled_with_a_new_token() {
    let held = document(1, 1, &[grant(Token(1), &[0], &[1])]);
    let mut coordinator = with(2, 2, &[held]);
    let given = writes(&coordinator.handle(at(1), members(0, &[(1, 1, 1, (0, 4), &[])])));
    let grants = [grant(Token(1), &[0], &[]), grant(Token(2), &[1], &[])];
    assert_eq!(given, [write(0, 5, document(1, 1, &grants))]);
}

#[test]
fn the_highest_token_counts() {
    let old = document(1, 1, &[grant(Token(1), &[], &[0])]);
    let new = document(2, 1, &[grant(Token(2), &[0], &[])]);
    let mut coordinator = with(2, 1, &[old, new]);
    let said = [(1, 1, 1, (0, 0), &[][..]), (2, 1, 1, (1, 5), &[])];
    assert!(coordinator.handle(at(1), members(0, &said)).is_empty());
    assert_eq!(coordinator.unowned(), 0);
}

#[test]
fn silence_is_judged_by_when_the_reading_was_sent() {
    let held = document(1, 1, &[grant(Token(1), &[0], &[])]);
    let mut coordinator = with(2, 1, &[held]);
    let said = |count| [(1, 7, 1, (0, 5), &[][..]), (2, count, 1, (0, 0), &[])];
    assert!(coordinator.handle(at(100), members(50, &said(1))).is_empty());
    let late = members(100 + SILENCE_MS - 1, &said(2));
    assert!(coordinator.handle(at(100 + 2 * SILENCE_MS), late).is_empty());
    let judged = members(100 + SILENCE_MS, &said(3));
    let given = writes(&coordinator.handle(at(100 + 2 * SILENCE_MS), judged));
    let new = document(2, 1, &[grant(Token(2), &[0], &[])]);
    assert_eq!(given, [write(0, 5, new)], "the slot is used again");
}

#[test]
fn neither_a_missing_record_nor_another_process_of_the_node_is_a_release() {
    let held = document(1, 1, &[grant(Token(1), &[0], &[])]);
    let mut coordinator = with(2, 1, &[held]);
    let _ = coordinator.handle(at(100), members(50, &[(1, 7, 1, (0, 5), &[])]));
    let new = |count| [(11, count, 1, (0, 9), &[][..])];
    assert!(coordinator.handle(at(1_000), members(900, &new(1))).is_empty());
    let early = members(SILENCE_MS + 500, &new(2));
    assert!(coordinator.handle(at(SILENCE_MS + 600), early).is_empty());
    let given = writes(&coordinator.handle(at(20_000), members(SILENCE_MS + 1_000, &new(3))));
    assert_eq!(given, [write(0, 5, document(11, 1, &[grant(Token(2), &[0], &[])]))]);
}

#[test]
fn a_proved_death_frees_at_once_also_if_it_is_known_first() {
    let held = document(1, 1, &[grant(Token(1), &[0], &[])]);
    let mut coordinator = coordinator(2, MoveSettings::default());
    assert_eq!(coordinator.handle(at(0), Input::Died(BootId(1))).len(), 1, "it reads");
    let mut found = vec![None; 100];
    found[0] = Some((5, held));
    let _ = coordinator.handle(at(0), Input::Read { found });
    let _ = coordinator.handle(at(0), Input::Lists(vec![list(1)].into()));
    let given = writes(&coordinator.handle(at(1), members(0, &[(2, 1, 1, (0, 0), &[])])));
    assert_eq!(given, [write(0, 5, document(2, 1, &[grant(Token(2), &[0], &[])]))]);
}

#[test]
fn a_session_that_is_over_gets_new_tokens_but_for_what_still_stops() {
    let held = document(1, 1, &[grant(Token(1), &[0, 1], &[])]);
    let mut coordinator = with(2, 2, &[held]);
    let two = [(1, 7, 2, (0, 0), &[1][..]), (2, 1, 1, (0, 0), &[])];
    let given = writes(&coordinator.handle(at(1), members(0, &two)));
    let held: Vec<_> = given.iter().flat_map(|it| it.content.held()).collect();
    assert!(held.iter().all(|(_, it)| *it == Token(2)));
    assert!(held.iter().all(|(it, _)| it.number == 0 || given[0].content.boot == BootId(1)));
    assert!(given.iter().filter(|it| it.slot == 0).all(|it| it.content.session == 2));
}

#[test]
fn a_write_without_an_answer_is_read_back_and_made_again() {
    let mut coordinator = with(1, 1, &[]);
    let said = [(1, 1, 1, (0, 0), &[][..])];
    let first = writes(&coordinator.handle(at(1), members(0, &said)));
    let unknown = || Input::Written(BatchOutcome::Unknown);
    let reads = [Action::Read { slots: vec![0] }];
    assert_eq!(coordinator.handle(at(2), unknown()), reads);
    assert!(coordinator.handle(at(3), Input::Read { found: vec![None] }).is_empty());
    assert_eq!(coordinator.handle(at(503), Input::Tick), [Action::Write(first.clone())]);
    assert_eq!(coordinator.handle(at(504), unknown()), reads);
    let landed = Some((1, first[0].content.clone()));
    let actions = coordinator.handle(at(505), Input::Read { found: vec![landed] });
    assert!(matches!(actions[..], [Action::Publish(_)]), "{actions:?}");
    assert_eq!(coordinator.unowned(), 0);
}

#[test]
fn a_conflict_is_read_back_and_what_stands_there_counts() {
    let mut coordinator = with(1, 1, &[]);
    let said = [(1, 1, 1, (0, 0), &[][..])];
    let _ = writes(&coordinator.handle(at(1), members(0, &said)));
    assert!(coordinator.handle(at(2), Input::Written(BatchOutcome::Conflict)).is_empty());
    assert_eq!(coordinator.handle(at(502), Input::Tick), [Action::Read { slots: vec![0] }]);
    let other = document(1, 1, &[grant(Token(9), &[0], &[])]);
    let actions = coordinator.handle(at(503), Input::Read { found: vec![Some((3, other))] });
    assert!(matches!(actions[..], [Action::Publish(_)]), "there is nothing to write: {actions:?}");
}

#[test]
fn a_fenced_write_and_another_line_of_history_end_the_term() {
    for end in [Input::Written(BatchOutcome::Fenced), Input::Lineage(Lineage(2))] {
        let mut coordinator = with(1, 1, &[]);
        let _ = coordinator.handle(at(1), members(0, &[(1, 1, 1, (0, 0), &[])]));
        assert!(coordinator.handle(at(2), end).is_empty());
        assert!(coordinator.is_over());
    }
}

#[test]
fn after_data_loss_nothing_is_given_away_before_a_reading_that_follows_a_span_of_silence() {
    let highest = Token(7);
    let old = Assignment {
        lineage: Lineage(0),
        highest,
        ..document(1, 1, &[grant(Token(1), &[0], &[])])
    };
    let mut coordinator = with(1_001, 1, &[old]);
    let said = |count| [(1, count, 2, (0, 0), &[][..])];
    assert!(coordinator.handle(at(1), members(0, &said(1))).is_empty());
    let read_early = members(SILENCE_MS - 1, &said(2));
    assert!(coordinator.handle(at(SILENCE_MS + 1), read_early).is_empty());
    let given = writes(&coordinator.handle(at(SILENCE_MS + 9), members(SILENCE_MS, &said(2))));
    let leapt = grant(highest.leap(Lineage(0), Lineage(1)).next(), &[0], &[]);
    assert_eq!(given, [write(0, 5, document(1, 2, &[leapt]))]);
}

#[test]
fn where_documents_may_have_been_lost_a_span_is_waited_for_too() {
    for session in [1, 2] {
        let mut coordinator = with(1, 1, &[]);
        let said = |count| [(1, count, session, (0, 0), &[][..])];
        let at_once = coordinator.handle(at(1), members(0, &said(1)));
        assert_eq!(at_once.is_empty(), session > 1, "only a lost session tells of another time");
        assert!(coordinator.handle(at(SILENCE_MS), Input::Tick).is_empty());
        let read_late = members(SILENCE_MS, &said(2));
        let later = coordinator.handle(at(SILENCE_MS + 9), read_late);
        assert_eq!(later.is_empty(), session == 1, "{later:?}");
    }
}

#[test]
fn while_a_record_is_of_another_line_of_history_nothing_is_given_away() {
    let mut coordinator = with(1, 1, &[]);
    let mut late = member((2, 1, 1, (0, 0), &[]));
    let report = late.record.partitions.as_deref().expect("it says something").clone();
    let lineage = Lineage(0);
    late.record.partitions = Some(Arc::new(PartitionReport { lineage, ..report }));
    let read = |sent, count| {
        let members = vec![member((1, count, 1, (0, 0), &[])), late.clone()];
        Input::Members { sent: at(sent), members }
    };
    let (shown, gone) = (SILENCE_MS, 2 * SILENCE_MS);
    assert!(coordinator.handle(at(shown), read(shown - 9, 1)).is_empty());
    assert!(coordinator.handle(at(gone), read(gone - 1, 2)).is_empty());
    let given = writes(&coordinator.handle(at(gone + 9), read(gone, 3)));
    assert_eq!(given.len(), 1, "nothing of the other line is left");
}

#[test]
fn a_live_owner_is_forced_only_if_that_was_chosen() {
    for timeout in [None, Some(Duration::from_secs(3))] {
        let held = document(1, 1, &[grant(Token(1), &[0, 1], &[])]);
        let mut coordinator = with(2, 2, &[held]);
        coordinator.settings.release_timeout = timeout;
        let said = |count| [(1, count, 1, (0, 5), &[][..]), (2, count, 1, (0, 0), &[])];
        let _ = writes(&coordinator.handle(at(1), members(0, &said(1))));
        let _ = coordinator.handle(at(2), done(&[6]));
        assert!(coordinator.handle(at(3_001), members(3_000, &said(2))).is_empty());
        let forced = coordinator.handle(at(3_002), Input::Tick);
        assert_eq!(forced.len(), usize::from(timeout.is_some()));
    }
}

#[test]
fn paused_lists_are_released_and_nothing_else_moves_when_frozen() {
    let held = document(1, 1, &[grant(Token(1), &[0, 1], &[])]);
    let mut coordinator = with(1, 2, &[held]);
    let frozen = |list| Input::Lists(Wanted { is_paused: true, ..vec![list].into() });
    assert!(coordinator.handle(at(0), frozen(list(2))).is_empty());
    let said = [(1, 1, 1, (0, 5), &[][..]), (2, 1, 1, (0, 0), &[])];
    assert!(coordinator.handle(at(1), members(0, &said)).is_empty());
    let paused = TaskList { status: TaskListStatus::Paused, ..list(2) };
    assert_eq!(coordinator.unowned(), 0);
    let asked = writes(&coordinator.handle(at(2), frozen(paused)));
    let _ = coordinator.handle(at(3), done(&[6]));
    let released = [(1, 2, 1, (0, 6), &[][..]), (2, 2, 1, (0, 0), &[])];
    let _ = coordinator.handle(at(5), members(4, &released));
    assert_eq!(coordinator.unowned(), 0, "a list that is paused wants no owners");
    assert_eq!(asked, [write(0, 5, document(1, 1, &[grant(Token(1), &[], &[0, 1])]))]);
}

#[test]
fn what_a_person_moves_goes_there() {
    let held = |boot, number| document(boot, 1, &[grant(Token(boot as u64), &[number], &[])]);
    let mut coordinator = with(2, 2, &[held(1, 0), held(2, 1)]);
    let said = [(1, 1, 1, (0, 5), &[][..]), (2, 1, 1, (1, 5), &[])];
    assert!(coordinator.handle(at(1), members(0, &said)).is_empty());
    let partition = Partition { list: list(1).id, number: 0 };
    let moved = [(partition, node(2))].into();
    let wanted = Wanted { moved, ..vec![list(2)].into() };
    let asked = coordinator.handle(at(2), Input::Lists(wanted));
    let released =
        Assignment { highest: Token(2), ..document(1, 1, &[grant(Token(1), &[], &[0])]) };
    assert_eq!(writes(&asked), [write(0, 5, released)]);
}

#[test]
fn a_large_round_is_several_writes() {
    let mut coordinator = with(1, 150, &[]);
    let said: Vec<Said<'_>> = (1..=150).map(|it| (it, 1, 1, (0, 0), &[][..])).collect();
    let mut said: Vec<Member> = said.into_iter().map(member).collect();
    for (number, member) in said.iter_mut().enumerate() {
        member.record.id = NodeId::new(&format!("m{number}")).expect("a plain name");
    }
    let input = Input::Members { sent: at(0), members: said };
    let first = writes(&coordinator.handle(at(1), input));
    assert_eq!((first.len(), first[99].slot), (BATCH_MAX, 99));
    let rest = writes(&coordinator.handle(at(2), done(&[1; BATCH_MAX])));
    assert_eq!((rest.len(), rest[0].slot), (50, 100));
    assert!(rest.iter().all(|it| it.content.grants[0].token == Token(2)));
}

#[test]
fn a_write_is_no_longer_than_stores_take() {
    // 40 processes have 1,250 partitions each that do not follow each other: 1.2 MB of text.
    let every = |boot: u32| (0..1_250).map(|it| it * 41 + it * it % 31 + boot).collect::<Vec<_>>();
    let held = |boot: u32| {
        let said = document(u128::from(boot) + 11, 1, &[grant(Token(1), &every(boot), &[])]);
        Assignment { node: NodeId::new(&format!("m{boot}")).expect("a plain name"), ..said }
    };
    let documents: Vec<_> = (0..40).map(held).collect();
    let total: usize = documents.iter().map(Assignment::bytes_max).sum();
    assert!(total > BATCH_BYTES_MAX, "{total}");
    let writes = documents.into_iter().zip(0..).map(|(content, slot)| write(slot, 5, content));
    let mut writes: Vec<_> = writes.collect();
    assert!(super::plan::shorten(&mut writes), "not all fit");
    let bytes: usize = writes.iter().map(|it| it.content.bytes_max()).sum();
    assert!((30..40).contains(&writes.len()) && bytes <= BATCH_BYTES_MAX, "{}", writes.len());
    assert!(!super::plan::shorten(&mut writes), "these do");
}
