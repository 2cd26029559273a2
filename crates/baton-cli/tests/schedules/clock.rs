//! By another wall clock: ten minutes without a process, and the days on which clocks change.

use baton_store::clock::{Clock, SystemClock};
use baton_testbed::Kind;

use crate::stage::{NOTE, Stage, until};

/// How far ahead the clock of the processes must be for it to be this time in UTC.
fn ahead(time: &str) -> i64 {
    let at = humantime::parse_rfc3339(time).expect("a time in UTC");
    let at = at.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    i64::try_from(at).expect("a time of ours")
        - i64::try_from(SystemClock.wall_ms() / 1_000).expect("a time of ours")
}

/// Waits until the leader said something that has this in it.
async fn says(stage: &Stage, text: &str) {
    until(text, async || stage.said_by("a").contains(text).then_some(())).await;
}

/// The slots that were run, of a schedule of every minute, after ten minutes without a process.
async fn after_ten_minutes(kind: Option<Kind>, policy: &[&str]) -> Vec<String> {
    let stage = Stage::new(kind).await;
    let flags = [&["--cron=* * * * *", "--grace=10s", "--overlap=queue"], policy].concat();
    let mut first = stage.replica_at(ahead("2027-06-01T11:59:58Z"), &flags, NOTE);
    stage.starts(1).await;
    first.stop().await;
    let _second = stage.replica_at(ahead("2027-06-01T12:10:57Z"), &flags, NOTE);
    says(&stage, "slots of tick from 2027-06-01T12:01:00Z").await;
    // What is made up for is run before the next slot.
    let next = || stage.runs().slots().contains(&"2027-06-01T12:11:00Z");
    until("the next slot", async || next().then_some(())).await;
    stage.runs().slots().into_iter().map(|slot| slot[11..16].to_owned()).collect()
}

#[tokio::test]
async fn ten_minutes_without_a_process_follow_the_policy() {
    let catch_up = ["--misfire=catch-up", "--catch-up-cap=5", "--catch-up-age=3m 45s"];
    let (skip, once, caught_up, capped) = tokio::join!(
        after_ten_minutes(None, &["--misfire=skip"]),
        after_ten_minutes(None, &["--misfire=once"]),
        after_ten_minutes(None, &catch_up),
        after_ten_minutes(None, &["--misfire=catch-up", "--catch-up-cap=2"]),
    );
    assert_eq!(skip, ["12:00", "12:11"]);
    assert_eq!(once, ["12:00", "12:10", "12:11"]);
    assert_eq!(caught_up, ["12:00", "12:08", "12:09", "12:10", "12:11"]);
    assert_eq!(capped, ["12:00", "12:09", "12:10", "12:11"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_minutes_without_a_process_are_made_up_for_once_on_every_store() {
    let on = |kind| after_ten_minutes(Some(kind), &["--misfire=once"]);
    let all = tokio::join!(
        on(Kind::Postgres),
        on(Kind::Mariadb),
        on(Kind::Redis),
        on(Kind::Etcd),
        on(Kind::Ministack),
    );
    for slots in [all.0, all.1, all.2, all.3, all.4] {
        assert_eq!(slots, ["12:00", "12:10", "12:11"]);
    }
}

/// The runs of a nightly schedule around a change of the clock, of a process that starts shortly
/// before the first time in UTC, and of one that starts shortly before the second: every slot in
/// between would be made up for.
async fn around_a_change(zone: &str, cron: &str, times: [&str; 2], last: &str) -> Vec<String> {
    let stage = Stage::new(None).await;
    let (cron, zone) = (format!("--cron={cron}"), format!("--tz={zone}"));
    let flags = [cron.as_str(), zone.as_str(), "--misfire=catch-up", "--overlap=queue"];
    let flags = [&flags[..], &["--catch-up-age=30days"]].concat();
    let mut first = stage.replica_at(ahead(times[0]), &flags, NOTE);
    stage.starts(1).await;
    first.stop().await;
    let _second = stage.replica_at(ahead(times[1]), &flags, NOTE);
    let ended = || stage.runs().slots().contains(&last);
    until(last, async || ended().then_some(())).await;
    stage.runs().slots().into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_nightly_run_comes_once_on_the_days_on_which_clocks_change() {
    let berlin_march = around_a_change(
        "Europe/Berlin",
        "30 2 * * *",
        ["2027-03-28T00:59:57Z", "2027-03-29T00:29:57Z"],
        "2027-03-29T02:30:00+02:00",
    );
    let berlin_october = around_a_change(
        "Europe/Berlin",
        "30 2 * * *",
        ["2027-10-31T00:29:57Z", "2027-11-01T01:29:57Z"],
        "2027-11-01T02:30:00+01:00",
    );
    let new_york_march = around_a_change(
        "America/New_York",
        "30 2 * * *",
        ["2027-03-14T06:59:57Z", "2027-03-15T06:29:57Z"],
        "2027-03-15T02:30:00-04:00",
    );
    let lord_howe_october = around_a_change(
        "Australia/Lord_Howe",
        "15 2 * * *",
        ["2027-10-02T15:29:57Z", "2027-10-03T15:14:57Z"],
        "2027-10-04T02:15:00+11:00",
    );
    let (berlin_march, berlin_october, new_york_march, lord_howe_october) =
        tokio::join!(berlin_march, berlin_october, new_york_march, lord_howe_october);
    assert_eq!(berlin_march, ["2027-03-28T03:00:00+02:00", "2027-03-29T02:30:00+02:00"]);
    assert_eq!(berlin_october, ["2027-10-31T02:30:00+02:00", "2027-11-01T02:30:00+01:00"]);
    assert_eq!(new_york_march, ["2027-03-14T03:00:00-04:00", "2027-03-15T02:30:00-04:00"]);
    assert_eq!(lord_howe_october, ["2027-10-03T02:30:00+11:00", "2027-10-04T02:15:00+11:00"]);
}
