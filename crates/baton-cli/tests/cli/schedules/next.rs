//! `baton schedules next --cron`: exact output around the clock changes of 2027, without a store.

use crate::support::{Said, Sandbox};

fn preview(here: &Sandbox, cron: &str, zone: &str, from: &str, more: &[&str]) -> Said {
    let arguments = ["schedules", "next", "--cron", cron, "--tz", zone, "--from", from];
    let said = here.baton(&[&arguments, more].concat());
    here.assert_narrow(&said);
    said
}

#[track_caller]
fn assert_shows(said: &Said, expected: &[&str]) {
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert_eq!(said.out.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn in_berlin_each_local_time_comes_once_or_time_elapses() {
    let here = Sandbox::new();
    let show = |from: &str, more: &[&str]| {
        preview(&here, "30 2 * * *", "Europe/Berlin", from, &[&["--count", "3"], more].concat())
    };
    let head = "Europe/Berlin                   UTC";
    assert_shows(
        &show("2027-03-27", &[]),
        &[
            head,
            "Sat 2027-03-27 02:30:00 +01:00  2027-03-27 01:30:00",
            "  clock set forward 1h at 2027-03-28 02:00; 02:30 comes at 03:00",
            "Sun 2027-03-28 03:00:00 +02:00  2027-03-28 01:00:00",
            "Mon 2027-03-29 02:30:00 +02:00  2027-03-29 00:30:00",
        ],
    );
    assert_shows(
        &show("2027-03-27T01:30:00Z", &["--daylight", "elapsed"]),
        &[
            head,
            "Sat 2027-03-27 02:30:00 +01:00  2027-03-27 01:30:00",
            "  clock set forward 1h at 2027-03-28 02:00; 02:30 does not come",
            "Mon 2027-03-29 02:30:00 +02:00  2027-03-29 00:30:00",
            "Tue 2027-03-30 02:30:00 +02:00  2027-03-30 00:30:00",
        ],
    );
    assert_shows(
        &show("2027-10-30 02:30", &[]),
        &[
            head,
            "Sat 2027-10-30 02:30:00 +02:00  2027-10-30 00:30:00",
            "Sun 2027-10-31 02:30:00 +02:00  2027-10-31 00:30:00",
            "  clock set back 1h at 2027-10-31 03:00; 02:30 comes once",
            "Mon 2027-11-01 02:30:00 +01:00  2027-11-01 01:30:00",
        ],
    );
    assert_shows(
        &show("2027-10-31", &["--daylight", "elapsed"]),
        &[
            head,
            "Sun 2027-10-31 02:30:00 +02:00  2027-10-31 00:30:00",
            "  clock set back 1h at 2027-10-31 03:00; 02:30 comes twice",
            "Sun 2027-10-31 02:30:00 +01:00  2027-10-31 01:30:00",
            "Mon 2027-11-01 02:30:00 +01:00  2027-11-01 01:30:00",
        ],
    );
}

#[test]
fn in_new_york_several_times_of_one_gap_come_together_at_its_end() {
    let here = Sandbox::new();
    let show =
        |cron: &str, from: &str| preview(&here, cron, "America/New_York", from, &["--count", "3"]);
    let head = "America/New_York                UTC";
    assert_shows(
        &show("0,20,40 2 * * *", "2027-03-13 02:40"),
        &[
            head,
            "Sat 2027-03-13 02:40:00 -05:00  2027-03-13 07:40:00",
            "  clock set forward 1h at 2027-03-14 02:00; 02:00, 02:20 … come at 03:00",
            "Sun 2027-03-14 03:00:00 -04:00  2027-03-14 07:00:00",
            "Mon 2027-03-15 02:00:00 -04:00  2027-03-15 06:00:00",
        ],
    );
    assert_shows(
        &show("0 12 * * *", "2027-11-06"),
        &[
            head,
            "Sat 2027-11-06 12:00:00 -04:00  2027-11-06 16:00:00",
            "  clock set back 1h at 2027-11-07 02:00",
            "Sun 2027-11-07 12:00:00 -05:00  2027-11-07 17:00:00",
            "Mon 2027-11-08 12:00:00 -05:00  2027-11-08 17:00:00",
        ],
    );
    assert_shows(
        &show("*/30 * * * *", "2027-11-07T05:30:00Z"),
        &[
            head,
            "Sun 2027-11-07 01:30:00 -04:00  2027-11-07 05:30:00",
            "  clock set back 1h at 2027-11-07 02:00; 01:00, 01:30 come twice",
            "Sun 2027-11-07 01:00:00 -05:00  2027-11-07 06:00:00",
            "Sun 2027-11-07 01:30:00 -05:00  2027-11-07 06:30:00",
        ],
    );
}

#[test]
fn on_lord_howe_island_the_clock_changes_by_half_an_hour() {
    let here = Sandbox::new();
    let show = |cron: &str, from: &str| {
        preview(&here, cron, "Australia/Lord_Howe", from, &["--count", "3"])
    };
    let head = "Australia/Lord_Howe             UTC";
    assert_shows(
        &show("15 2 * * *", "2027-10-02"),
        &[
            head,
            "Sat 2027-10-02 02:15:00 +10:30  2027-10-01 15:45:00",
            "  clock set forward 30m at 2027-10-03 02:00; 02:15 comes at 02:30",
            "Sun 2027-10-03 02:30:00 +11:00  2027-10-02 15:30:00",
            "Mon 2027-10-04 02:15:00 +11:00  2027-10-03 15:15:00",
        ],
    );
    assert_shows(
        &show("45 1 * * *", "2027-04-03"),
        &[
            head,
            "Sat 2027-04-03 01:45:00 +11:00  2027-04-02 14:45:00",
            "Sun 2027-04-04 01:45:00 +11:00  2027-04-03 14:45:00",
            "  clock set back 30m at 2027-04-04 02:00; 01:45 comes once",
            "Mon 2027-04-05 01:45:00 +10:30  2027-04-04 15:15:00",
        ],
    );
}

#[test]
fn many_changes_between_two_slots_are_counted_and_utc_has_none() {
    let here = Sandbox::new();
    assert_shows(
        &preview(&here, "0 9 29 2 *", "Europe/Berlin", "2027-01-01", &["--count", "2"]),
        &[
            "Europe/Berlin                   UTC",
            "  clock set forward 1h at 2027-03-28 02:00",
            "  clock set back 1h at 2027-10-31 03:00",
            "Tue 2028-02-29 09:00:00 +01:00  2028-02-29 08:00:00",
            "  8 clock changes",
            "Sun 2032-02-29 09:00:00 +01:00  2032-02-29 08:00:00",
        ],
    );
    let said = here.baton(&[
        "schedules",
        "next",
        "--cron",
        "@every 90m",
        "--count",
        "2",
        "--from",
        "2027-03-28",
    ]);
    assert_shows(&said, &["UTC", "Sun 2027-03-28 00:00:00", "Sun 2027-03-28 01:30:00"]);
    let said = here.baton(&["schedules", "next", "--cron", "@hourly", "--count", "1000"]);
    assert_eq!(said.out.lines().count(), 1_001);
    assert!(!here.path("state").exists(), "no store was opened");
}

#[test]
fn programs_get_instants_local_times_and_clock_changes() {
    let here = Sandbox::new();
    let more = ["--count", "2", "--json"];
    let said = preview(&here, "30 2 * * *", "Europe/Berlin", "2027-03-27", &more).json();
    assert_eq!((&said["cron"], &said["tz"]), (&"30 2 * * *".into(), &"Europe/Berlin".into()));
    let slot = &said["slots"][1];
    assert_eq!(slot["slot"], "2027-03-28T01:00:00.000Z");
    assert_eq!(slot["local"], "2027-03-28T03:00:00+02:00");
    assert_eq!((&slot["named"], &slot["repeated"]), (&"2027-03-28T02:30:00".into(), &false.into()));
    let change = &said["clock_changes"][0];
    assert_eq!(change["at"], "2027-03-28T01:00:00Z");
    assert_eq!(
        (&change["local"], &change["shift_seconds"]),
        (&"2027-03-28T02:00:00".into(), &3600.into())
    );
    assert_eq!(change["concerned"][0], "2027-03-28T02:30:00");
}

#[test]
fn what_cannot_be_previewed_is_refused_on_one_line() {
    let here = Sandbox::new();
    let cases: [(&[&str], &str); 9] = [
        (&[], "<NAME|--cron <EXPRESSION>>"),
        (&["report", "--cron", "@daily"], "cannot be used with"),
        (
            &["--cron", "0 0 30 2 *"],
            "--cron: cron expression \"0 0 30 2 *\": it never comes: no month that it names",
        ),
        (
            &["--cron", "@daily", "--tz", "Europe/Berln"],
            "--tz \"Europe/Berln\" is not a known time zone, did you mean Europe/Berlin?",
        ),
        (
            &["--cron", "@daily", "--tz", "Middle-earth/Bag End"],
            "--tz \"Middle-earth/Bag End\" is not a known time zone; write a name such as ",
        ),
        (
            &["--cron", "@daily", "--from", "noon"],
            "--from \"noon\" is not a time since 1970; write 2027-03-28, \"2027-03-28 ",
        ),
        (&["--cron", "@daily", "--from", "1969-12-31"], "is not a time since 1970"),
        (&["--cron", "@daily", "--count", "0"], "0 is not in 1..=1000"),
        (&["--cron", "@daily", "--count", "1001"], "1001 is not in 1..=1000"),
    ];
    for (arguments, expected) in cases {
        here.baton(&[&["schedules", "next"], arguments].concat()).assert_refused(2, expected);
    }
}
