//! The commands of `baton schedules` on a store that has some.

use serde_json::Value;

use super::fixture::Leader;
use crate::support::{Said, Sandbox};

#[track_caller]
fn assert_said(said: &Said, expected: &str) {
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    assert!(said.out.contains(expected), "{expected:?} is not in {:?}", said.out);
}

fn one<'a>(all: &'a Value, name: &str) -> &'a Value {
    let all = all.as_array().expect("a list");
    all.iter().find(|it| it["schedule"] == name).expect("it was declared")
}

/// The words of the line that begins with this one.
fn words(said: &Said, first: &str) -> Vec<String> {
    let line = said.out.lines().find(|line| line.starts_with(first)).expect("it has a line");
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_run_that_is_asked_for_is_waited_for_and_shown() {
    let leader = Leader::new();
    let said = leader.schedules(&["list"]);
    leader.here.assert_narrow(&said);
    let head = words(&said, "NAME");
    let titles = "NAME CRON NEXT IN LAST RUN STATE DONE FAILED MISSED";
    assert_eq!(head.join(" "), titles);
    let line = words(&said, "report").join(" ");
    assert!(line.starts_with("report 0 2 1 1 * Berlin "), "{line}");
    assert!(line.ends_with(" never on time 0 0 0"), "{line}");

    assert_said(&leader.schedules(&["history"]), "no run of any schedule has ended in namespace");
    assert_said(
        &leader.schedules(&["run", "report"]),
        "web-1 was asked for a run of report beside its slots, at 20",
    );
    let said = leader.schedules(&["run", "report", "--wait"]);
    assert_said(&said, "\nthe run of report succeeded on web-1 after ");
    let said = leader.schedules(&["run", "report", "--wait", "--json"]).json();
    assert_eq!((&said["outcome"], &said["requested"]), (&"done".into(), &true.into()));
    let said = leader.schedules(&["run", "broken", "--wait"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.starts_with("baton: the run of broken failed (exit code 3) on web-1 after "));
    assert_eq!(said.err.lines().count(), 1);
    let said = leader.schedules(&["run", "broken", "--wait", "--json"]);
    assert_eq!((said.code, &said.json()["message"]), (Some(1), &"exit code 3".into()));

    let all = leader.schedules(&["list", "--json"]).json();
    let (report, broken) = (one(&all, "report"), one(&all, "broken"));
    assert_eq!((&report["state"], &report["done"]), (&"on-time".into(), &3.into()));
    assert_eq!((&broken["failed"], &broken["last_run"]["node"]), (&2.into(), &"web-1".into()));
    assert!(report["next"].as_str().expect("it is due").ends_with("-01-01T01:00:00.000Z"));

    let said = leader.schedules(&["history", "--limit", "3"]);
    leader.here.assert_narrow(&said);
    assert_eq!(said.out.lines().filter(|line| line.contains(" asked ")).count(), 3, "{}", said.out);
    assert!(said.out.contains(" failed: exit code 3\n"), "{}", said.out);
    let past = leader.schedules(&["history", "report", "--json"]).json();
    assert_eq!(past.as_array().map(Vec::len), Some(3));
    assert_eq!((&past[0]["entry"], &past[0]["attempts"]), (&"run".into(), &1.into()));
}

#[test]
fn one_schedule_is_shown_in_words_with_what_runs_and_what_waits() {
    let mut leader = Leader::new();
    let said = leader.schedules(&["show", "report"]);
    leader.here.assert_narrow(&said);
    for expected in [
        "schedule     report\n",
        "state        on time\n",
        "times        0 2 1 1 * in Europe/Berlin\n",
        "clock        each local time comes once: one that the clock skips comes right\n",
        "-01-01T02:00:00+01:00 (20",
        "last run     never\n",
        "misfire      slots that were missed are run one after another, at most 5 and\n",
        "             none older than 2h\n",
        "grace        a slot that starts later than 1m counts as missed\n",
        "overlap      a slot that is due during a run is not run\n",
        "on crash     a run that was cut off is abandoned\n",
        "jitter       slots start up to 10s later; those of this schedule 1.8s\n",
        "timeout      an attempt is stopped after 5m\n",
        "retries      a run that failed is not tried again\n",
    ] {
        assert_said(&said, expected);
    }
    for _ in 0..2 {
        assert_said(&leader.schedules(&["run", "slow"]), "web-1 was asked for a run of slow");
    }
    let said = leader.until("a run and one that waits", &["show", "slow"], |said| {
        said.out.contains("\nstate        running\n") && said.out.contains("\nwaiting      20")
    });
    leader.here.assert_narrow(&said);
    assert!(said.out.contains("\n\nRUN "), "{}", said.out);
    assert!(said.out.contains(" asked  running        1  web-1  "), "{}", said.out);
    assert!(!said.out.contains("\nclock "), "UTC has no changes: {}", said.out);
    let slow = leader.schedules(&["show", "slow", "--json"]).json();
    assert_eq!((&slow["running"], &slow["waiting"]), (&1.into(), &1.into()));
    assert_eq!(
        (&slow["runs"][0]["node"], &slow["runs"][0]["attempt"]),
        (&"web-1".into(), &1.into())
    );
    assert_eq!(slow["definition"]["overlap"], "queue");
    let said = leader.schedules(&["run", "slow", "--wait", "--timeout", "200ms"]);
    assert_eq!(said.code, Some(4));
    let expected = "the run of slow has not ended within 200ms: it has not started; is there a \
                    leader, or is another run under way?";
    assert!(said.err.contains(expected), "{}", said.err);
    leader.go.add_permits(3);
    leader.until("the end of all", &["list", "--json"], |said| {
        one(&said.json(), "slow")["done"] == 3
    });

    assert_said(&leader.schedules(&["run", "slow"]), "web-1 was asked");
    leader.until("the run", &["list", "--json"], |said| {
        one(&said.json(), "slow")["state"] == "running"
    });
    leader.leave();
    let said = leader.schedules(&["list"]);
    assert_said(&said, "\nno node leads now: nothing is run until one does\n");
    assert!(words(&said, "slow").join(" ").contains(" cut off 3 0 0"), "{}", said.out);
    assert_said(&leader.schedules(&["show", "slow"]), "state        cut off: the term of its run");
    let said = leader.schedules(&["run", "report"]);
    assert_said(&said, "a run of report was asked for at 20");
    assert_said(&said, ", and waits: no node leads now\n");
    let line = words(&leader.schedules(&["list"]), "report").join(" ");
    assert!(line.ends_with(" never waiting 1 0 0 0"), "{line}");
}

#[test]
fn a_schedule_is_paused_and_resumed_once() {
    let leader = Leader::new();
    let said = leader.schedules(&["pause", "report"]);
    assert_said(&said, "report is paused: no slot is due until `baton schedules resume report`\n");
    let said = leader.schedules(&["pause", "report"]);
    said.assert_refused(1, "schedule report is paused already");
    let said = leader.schedules(&["list", "--json"]).json();
    assert_eq!(
        (&one(&said, "report")["state"], &one(&said, "report")["next"]),
        (&"paused".into(), &Value::Null)
    );
    let said = leader.schedules(&["show", "report"]);
    leader.here.assert_narrow(&said);
    assert_said(&said, "`baton schedules resume report` lets slots be");
    let said = leader.schedules(&["next", "report", "--count", "1"]);
    assert_said(&said, "report is paused: no slot is due until `baton schedules resume report`\n");
    let said = leader.schedules(&["run", "report", "--wait"]);
    assert_said(&said, "the run of report succeeded");
    let said = leader.schedules(&["resume", "report"]);
    assert_said(&said, "report is resumed; its next slot is 20");
    leader.schedules(&["resume", "report"]).assert_refused(1, "schedule report is not paused");
}

#[test]
fn the_slots_of_a_schedule_are_previewed_in_its_zone_in_utc_and_in_another() {
    let leader = Leader::new();
    let from = ["--count", "1", "--from", "2027-06-01"];
    let said = leader.schedules(&[&["next", "report"][..], &from].concat());
    leader.here.assert_narrow(&said);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(
        lines,
        [
            "Europe/Berlin                   UTC",
            "  clock set back 1h at 2027-10-31 03:00",
            "Sat 2028-01-01 02:00:00 +01:00  2028-01-01 01:00:00",
            "each slot starts 1.8s later, because of its jitter",
        ]
    );
    let tokyo = [&["next", "report", "--tz", "Asia/Tokyo"][..], &from].concat();
    let said = leader.schedules(&tokyo);
    leader.here.assert_narrow(&said);
    let line = "Sat 2028-01-01 02:00:00 +01:00  2028-01-01 01:00:00  2028-01-01 10:00:00 +09:00\n";
    assert_said(&said, line);
}

#[test]
fn a_name_that_is_unknown_is_told_with_one_that_is_alike() {
    let leader = Leader::new();
    let expected = "there is no schedule reprot in namespace default; did you mean report?";
    for command in ["show", "next", "pause", "resume", "run", "history"] {
        leader.schedules(&[command, "reprot"]).assert_refused(1, expected);
    }
    let expected = "no schedule x in namespace default; `baton schedules list` shows all";
    leader.schedules(&["show", "x"]).assert_refused(1, expected);
    let elsewhere = ["--namespace", "elsewhere"];
    let said = leader.schedules(&[&["list"][..], &elsewhere].concat());
    assert_said(&said, "there are no schedules in namespace elsewhere yet; declare one in a [[");
    leader.schedules(&[&["run", "report"][..], &elsewhere].concat()).assert_refused(
        1,
        "there is no schedule report in namespace elsewhere; it has none yet: declare one in a",
    );
    let said = leader.schedules(&[&["list", "--json"][..], &elsewhere].concat());
    assert_eq!(said.json(), Value::Array(Vec::new()));
    let said = Sandbox::new().baton(&["schedules", "list"]);
    said.assert_refused(3, "there is no database at ");
}

#[test]
fn schedules_with_nodes_of_their_own_are_among_those_of_the_namespace() {
    let mut leader = Leader::new();
    let _own = leader.add_own("alone");
    let said = leader.until("the fourth schedule", &["list", "--json"], |said| {
        said.json().as_array().is_some_and(|all| all.len() == 4)
    });
    let all = said.json();
    assert_eq!(one(&all, "alone")["namespace"], "default:schedule:alone");
    assert_eq!(one(&all, "report")["namespace"], "default");
    let said = leader.schedules(&["run", "alone", "--wait"]);
    assert_said(&said, "web-2 was asked for a run of alone beside its slots");
    assert_said(&said, "\nthe run of alone succeeded on web-2 after ");
    leader.leave();
    let said = leader.schedules(&["list"]);
    assert_said(&said, "\nno node leads now that runs broken, report, slow\n");
    assert_said(&leader.schedules(&["run", "alone", "--wait"]), " succeeded on web-2 after ");
    let elsewhere = leader.schedules(&["list", "--namespace", "default:schedule:alone"]);
    assert!(elsewhere.out.contains("\nalone ") && !elsewhere.out.contains("report"));
}
