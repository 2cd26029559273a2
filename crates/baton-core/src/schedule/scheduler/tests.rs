//! The exact actions of a scheduler, for a store that does what each test says.

use jiff::tz::TimeZone;

use super::*;
use crate::schedule::{Definition, Entry};

const START_MS: u64 = 1_790_000_000_000;

fn declared(count: usize) -> Arc<Declared> {
    let mut declared = Declared::default();
    for number in 0..count {
        let definition = Definition::new(format!("tick-{number:03}"), "* * * * * *");
        let schedule = definition.resolve(&|_| Ok(TimeZone::UTC)).expect("it is right");
        declared.add(schedule).expect("each has its name");
    }
    Arc::new(declared)
}

/// A scheduler, and the time.
struct Stage {
    scheduler: Scheduler,
    after_ms: u64,
}

impl Stage {
    fn new(count: usize, epoch: u64) -> Self {
        let node = NodeId::new("a").expect("valid");
        let scheduler = Scheduler::new(node, BootId(7), Epoch(epoch), declared(count));
        Self { scheduler, after_ms: 0 }
    }

    fn handle(&mut self, input: Input) -> Vec<Action> {
        let now = Moment::from_micros(1_000_000 + self.after_ms * 1_000);
        self.scheduler.handle(now, START_MS + self.after_ms, input)
    }

    fn at(&mut self, after_ms: u64, input: Input) -> Vec<Action> {
        self.after_ms = after_ms;
        self.handle(input)
    }

    /// A scheduler that has written its schedules to an empty store: the page, at version 1.
    fn begun(count: usize) -> (Self, Page) {
        let mut stage = Self::new(count, 1);
        assert_eq!(stage.handle(Input::Tick), [Action::Read { page: 0 }]);
        let page = written(&stage.handle(Input::Read { page: 0, found: None }));
        assert!(stage.handle(done(1)).is_empty());
        (stage, page)
    }
}

fn done(version: u64) -> Input {
    Input::Written { page: 0, outcome: PageWrite::Written(version) }
}

fn written(actions: &[Action]) -> Page {
    match actions {
        [Action::Write { page: 0, content, .. }] => content.clone(),
        other => unreachable!("one write is expected, not {other:?}"),
    }
}

fn starts(actions: &[Action]) -> Vec<(String, u64, u32)> {
    let start = |action: &Action| match action {
        Action::Start { attempt, .. } => {
            let AttemptId { schedule, run, attempt } = attempt.clone();
            Some((schedule, (run.at_ms - START_MS) / 1_000, attempt))
        }
        _ => None,
    };
    actions.iter().filter_map(start).collect()
}

fn attempt(second: u64, attempt: u32) -> AttemptId {
    let run = crate::schedule::RunId { at_ms: START_MS + second * 1_000, requested: 0 };
    AttemptId { schedule: "tick-000".to_owned(), run, attempt }
}

#[test]
fn nothing_is_started_before_its_claim_is_written() {
    let (mut stage, _) = Stage::begun(1);
    assert!(stage.at(999, Input::Tick).is_empty());
    let claim = written(&stage.at(1_000, Input::Tick));
    assert_eq!(claim.entries[0].running.len(), 1);
    assert!(stage.handle(Input::Tick).is_empty(), "one write at a time");
    let actions = stage.handle(done(2));
    assert_eq!(starts(&actions), [("tick-000".to_owned(), 1, 1)]);
    assert!(matches!(actions[0], Action::Tell(Event::ScheduleStarted { .. })));
}

#[test]
fn a_claim_that_another_change_was_faster_than_starts_nothing() {
    let (mut stage, mut page) = Stage::begun(1);
    written(&stage.at(1_000, Input::Tick));
    let conflict = Input::Written { page: 0, outcome: PageWrite::Conflict };
    assert_eq!(stage.handle(conflict), [Action::Read { page: 0 }]);
    // It was paused.
    page.entries[0].pause(START_MS + 1_000).expect("it is not yet");
    assert!(stage.handle(Input::Read { page: 0, found: Some((2, page)) }).is_empty());
    assert!(stage.at(3_000, Input::Tick).is_empty());
}

#[test]
fn a_write_without_an_answer_is_read_back() {
    let (mut stage, before) = Stage::begun(1);
    let claim = written(&stage.at(1_000, Input::Tick));
    let unknown = || Input::Written { page: 0, outcome: PageWrite::Unknown };
    assert_eq!(stage.handle(unknown()), [Action::Read { page: 0 }]);
    // It was not made, as far as can be seen: it is made again.
    let again = written(&stage.handle(Input::Read { page: 0, found: Some((1, before)) }));
    assert_ne!(again.writer, claim.writer);
    assert_eq!(stage.handle(unknown()), [Action::Read { page: 0 }]);
    // The first one was made late, and kept the second from being made.
    let actions = stage.handle(Input::Read { page: 0, found: Some((2, claim)) });
    assert_eq!(starts(&actions), [("tick-000".to_owned(), 1, 1)]);
}

#[test]
fn ends_that_come_together_are_recorded_together() {
    let (mut stage, _) = Stage::begun(3);
    written(&stage.at(1_000, Input::Tick));
    assert_eq!(starts(&stage.at(1_002, done(2))).len(), 3);
    let end = |number: usize| Input::Ended {
        attempt: AttemptId { schedule: format!("tick-{number:03}"), ..attempt(1, 1) },
        end: AttemptEnd::Done,
    };
    assert!(stage.at(1_005, end(0)).is_empty(), "it waits for others");
    assert!(stage.at(1_010, end(1)).is_empty());
    assert!(stage.scheduler.has_unrecorded());
    let now = Moment::from_micros(1_000_000 + 1_010_000);
    assert_eq!(stage.scheduler.wakes_after(now, START_MS + 1_010), Duration::from_millis(12));
    let page = written(&stage.at(1_022, Input::Tick));
    let is_done = |entry: &&Entry| entry.running.is_empty();
    assert_eq!(page.entries.iter().filter(is_done).count(), 2);
    let _ = stage.handle(done(3));
    assert!(!stage.scheduler.has_unrecorded());
}

#[test]
fn the_next_leader_runs_again_what_was_cut_off() {
    let (mut first, _) = Stage::begun(1);
    let claim = written(&first.at(1_000, Input::Tick));
    let mut second = Stage::new(1, 2);
    assert_eq!(second.at(1_500, Input::Tick), [Action::Read { page: 0 }]);
    let actions = second.handle(Input::Read { page: 0, found: Some((2, claim)) });
    assert_eq!(actions, [Action::Read { page: 1 }], "until there is no further page");
    let page = written(&second.handle(Input::Read { page: 1, found: None }));
    assert_eq!(page.entries[0].running[0].attempt, 2);
    assert_eq!(starts(&second.handle(done(3))), [("tick-000".to_owned(), 1, 2)]);
    // The first one learns that its term is over.
    let fenced = Input::Written { page: 0, outcome: PageWrite::Fenced };
    assert!(first.handle(fenced).is_empty());
    assert!(first.scheduler.is_over());
}

#[test]
fn a_scheduler_that_follows_a_failed_one_of_its_term_does_not_start_an_attempt_again() {
    let (mut first, _) = Stage::begun(1);
    let claim = written(&first.at(1_000, Input::Tick));
    let mut second = Stage::new(1, 1);
    second.scheduler = second.scheduler.restarted(1);
    let _ = second.at(1_500, Input::Tick);
    let _ = second.handle(Input::Read { page: 0, found: Some((2, claim)) });
    let page = written(&second.handle(Input::Read { page: 1, found: None }));
    assert_eq!((page.entries[0].running[0].attempt, page.entries[0].running[0].losses), (2, 1));
}

#[test]
fn many_schedules_have_several_pages() {
    let mut stage = Stage::new(ENTRIES_MAX + 1, 1);
    let _ = stage.handle(Input::Tick);
    let actions = stage.handle(Input::Read { page: 0, found: None });
    assert_eq!(written(&actions).entries.len(), ENTRIES_MAX);
    // The second page is written when the first one is there.
    let actions = stage.handle(done(1));
    let [Action::Write { page: 1, version: 0, content }] = &actions[..] else {
        unreachable!("one write is expected, not {actions:?}");
    };
    assert_eq!(content.entries.len(), 1);
}

#[test]
fn a_schedule_that_a_page_without_an_answer_may_have_is_put_on_no_other() {
    let mut stage = Stage::new(ENTRIES_MAX + 1, 1);
    let _ = stage.handle(Input::Tick);
    let first = written(&stage.handle(Input::Read { page: 0, found: None }));
    let unknown = Input::Written { page: 0, outcome: PageWrite::Unknown };
    assert_eq!(stage.handle(unknown), [Action::Read { page: 0 }]);
    let actions = stage.handle(Input::Read { page: 0, found: Some((1, first)) });
    let [Action::Write { page: 1, content, .. }] = &actions[..] else {
        unreachable!("one write is expected, not {actions:?}");
    };
    assert_eq!(content.entries.len(), 1, "the second page has the one that has no room");
}

#[test]
fn a_page_has_one_request_under_way_and_is_read_again_for_an_edit_meanwhile() {
    let (mut stage, page) = Stage::begun(1);
    assert_eq!(stage.at(100, Input::Edited), [Action::Read { page: 0 }]);
    assert!(stage.handle(Input::Edited).is_empty(), "it is being read");
    let read = || Input::Read { page: 0, found: Some((1, page.clone())) };
    assert_eq!(stage.handle(read()), [Action::Read { page: 0 }]);
    assert!(stage.handle(read()).is_empty());
    assert!(stage.handle(read()).is_empty(), "it was not asked for");
    // The same for an edit during a write.
    written(&stage.at(1_000, Input::Tick));
    assert!(stage.handle(Input::Edited).is_empty());
    let actions = stage.handle(done(2));
    assert_eq!(actions.last(), Some(&Action::Read { page: 0 }));
}

#[test]
fn a_scheduler_sleeps_while_a_page_is_read() {
    let mut stage = Stage::new(1, 1);
    let _ = stage.handle(Input::Tick);
    let page = Page::default();
    let actions = stage.handle(Input::Read { page: 0, found: Some((1, page)) });
    assert_eq!(actions, [Action::Read { page: 1 }]);
    assert!(stage.handle(Input::Tick).is_empty());
    let wait = stage.scheduler.wakes_after(Moment::from_micros(1_000_000), START_MS);
    assert_eq!(wait, LOOK_EVERY);
}

#[test]
fn a_scheduler_that_stops_sleeps_although_slots_are_due() {
    let (mut stage, _) = Stage::begun(1);
    assert!(stage.at(900, Input::Stop).is_empty());
    assert!(stage.at(1_500, Input::Tick).is_empty());
    let now = Moment::from_micros(1_000_000 + 1_500_000);
    assert!(stage.scheduler.wakes_after(now, START_MS + 1_500) > Duration::from_secs(1));
}

#[test]
fn an_end_is_recorded_on_the_page_of_its_schedule_alone() {
    let mut stage = Stage::new(ENTRIES_MAX + 1, 1);
    let written = |page, version| Input::Written { page, outcome: PageWrite::Written(version) };
    let _ = stage.handle(Input::Tick);
    let _ = stage.handle(Input::Read { page: 0, found: None });
    assert_eq!(stage.handle(written(0, 1)).len(), 1, "the second page is written then");
    assert!(stage.handle(written(1, 1)).is_empty());
    assert_eq!(stage.at(1_000, Input::Tick).len(), 2, "both pages have slots to claim");
    let started = [0, 1].map(|page| starts(&stage.handle(written(page, 2))).len());
    assert_eq!(started, [ENTRIES_MAX, 1]);
    let last = AttemptId { schedule: format!("tick-{ENTRIES_MAX:03}"), ..attempt(1, 1) };
    let actions = stage.at(1_100, Input::Ended { attempt: last, end: AttemptEnd::Done });
    let [Action::Write { page: 1, version: 2, content }] = &actions[..] else {
        unreachable!("one write is expected, not {actions:?}");
    };
    assert!(content.entries[0].running.is_empty());
    assert!(stage.scheduler.has_unrecorded());
    let _ = stage.handle(written(1, 3));
    assert!(!stage.scheduler.has_unrecorded());
}

#[test]
fn what_is_not_declared_any_more_is_not_due_and_is_forgotten_after_a_day() {
    let (mut stage, _) = Stage::begun(1);
    let page = written(&stage.at(500, Input::Declare(Arc::default())));
    assert_eq!(page.entries[0].undeclared_ms, Some(START_MS + 500));
    let _ = stage.handle(done(2));
    assert!(stage.at(2_000, Input::Tick).is_empty());
    assert_eq!(stage.at(90_000_000, Input::Tick), [Action::Read { page: 0 }]);
    let page = written(&stage.handle(Input::Read { page: 0, found: Some((2, page)) }));
    assert!(page.entries.is_empty());
}

#[test]
fn a_failed_request_is_repeated_after_a_pause() {
    let (mut stage, page) = Stage::begun(1);
    written(&stage.at(1_000, Input::Tick));
    let failed = Input::Written { page: 0, outcome: PageWrite::Failed };
    assert!(stage.handle(failed).is_empty());
    assert!(stage.at(1_499, Input::Tick).is_empty());
    written(&stage.at(1_500, Input::Tick));
    let conflict = Input::Written { page: 0, outcome: PageWrite::Conflict };
    assert_eq!(stage.handle(conflict), [Action::Read { page: 0 }]);
    assert!(stage.handle(Input::Unread { page: 0 }).is_empty());
    assert_eq!(stage.at(2_000, Input::Tick), [Action::Read { page: 0 }]);
    written(&stage.handle(Input::Read { page: 0, found: Some((5, page)) }));
}
