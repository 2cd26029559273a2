//! What expressions name, and what is said of those that name nothing.

use jiff::civil::{DateTime, date};

use super::CronExpression;

fn next(text: &str, from: DateTime, count: usize) -> Vec<String> {
    let expression = CronExpression::parse(text).expect(text);
    let mut found = Vec::new();
    let mut from = from;
    for _ in 0..count {
        let due = expression.at_or_after(from).expect("there is always another");
        found.push(due.to_string());
        from = due.checked_add(jiff::Span::new().seconds(1)).expect("within the calendar");
    }
    found
}

#[test]
fn fields_lists_ranges_steps_and_names() {
    let from = date(2026, 11, 19).at(8, 44, 30, 0);
    let cases: [(&str, &[&str]); 10] = [
        ("0 2 * * *", &["2026-11-20T02:00:00", "2026-11-21T02:00:00"]),
        ("*/20 * * * *", &["2026-11-19T09:00:00", "2026-11-19T09:20:00"]),
        ("*/20 * * * * *", &["2026-11-19T08:44:40", "2026-11-19T08:45:00"]),
        ("5,50-51 8 * * *", &["2026-11-19T08:50:00", "2026-11-19T08:51:00", "2026-11-20T08:05:00"]),
        ("0 9 * * mon-fri", &["2026-11-19T09:00:00", "2026-11-20T09:00:00", "2026-11-23T09:00:00"]),
        ("0 9 * * FRI-sun", &["2026-11-20T09:00:00", "2026-11-21T09:00:00", "2026-11-22T09:00:00"]),
        ("0 0 * * 7", &["2026-11-22T00:00:00"]),
        ("0 0 1 jan,JUL *", &["2027-01-01T00:00:00", "2027-07-01T00:00:00"]),
        ("30/15 23 31 12 *", &["2026-12-31T23:30:00", "2026-12-31T23:45:00"]),
        ("0 0 * * */2", &["2026-11-21T00:00:00", "2026-11-22T00:00:00", "2026-11-24T00:00:00"]),
    ];
    for (text, expected) in cases {
        assert_eq!(next(text, from, expected.len()), expected, "{text}");
    }
}

#[test]
fn days_of_month_and_week_are_either_or_unless_one_begins_with_a_star() {
    let from = date(2026, 11, 1).at(0, 0, 0, 0);
    let either = ["2026-11-06T00:00:00", "2026-11-13T00:00:00", "2026-11-20T00:00:00"];
    assert_eq!(next("0 0 13 * fri", from, 3), either);
    let both = ["2026-11-13T00:00:00", "2026-11-27T00:00:00"];
    assert_eq!(next("0 0 */2 * fri", from, 2), both);
}

#[test]
fn shorthands_leap_days_and_far_years() {
    let from = date(2026, 11, 19).at(8, 44, 30, 0);
    assert_eq!(next("@yearly", from, 2), ["2027-01-01T00:00:00", "2028-01-01T00:00:00"]);
    assert_eq!(next("@Monthly", from, 1), ["2026-12-01T00:00:00"]);
    assert_eq!(next("@weekly", from, 1), ["2026-11-22T00:00:00"]);
    assert_eq!(next("@daily", from, 1), ["2026-11-20T00:00:00"]);
    assert_eq!(next("@hourly", from, 1), ["2026-11-19T09:00:00"]);
    assert_eq!(next("0 0 29 2 *", from, 2), ["2028-02-29T00:00:00", "2032-02-29T00:00:00"]);
    // 2100 has no leap day.
    let late = date(2096, 3, 1).at(0, 0, 0, 0);
    assert_eq!(next("0 0 29 2 *", late, 1), ["2104-02-29T00:00:00"]);
    // A leap day on a Sunday or a Wednesday or a Saturday.
    assert_eq!(next("0 0 29 2 */3", from, 2), ["2032-02-29T00:00:00", "2040-02-29T00:00:00"]);
    let last = date(9999, 12, 31).at(23, 59, 59, 0);
    let daily = CronExpression::parse("0 0 * * *").expect("it is right");
    assert_eq!(daily.at_or_after(last), None);
}

#[test]
fn what_is_refused_names_the_field_and_shows_where() {
    let cases = [
        ("", "it is empty; write minute, hour, day of the month, month, day of the week"),
        (
            "@fortnightly",
            "it is none of @yearly, @monthly, @weekly, @daily, @hourly and @every with a time",
        ),
        (
            "1",
            "it has 1 field; write 5 (minute, hour, day of the month, month, day of the week), or \
             6 with the second first",
        ),
        (
            "* * * * * * *",
            "it has 7 fields; write 5 (minute, hour, day of the month, month, day of the week), or \
             6 with the second first",
        ),
        ("0 25 * * *", "hour 25 is not within 0 to 23 (here: 0 >>25<< * * *)"),
        ("0  2,24 * * *", "hour 24 is not within 0 to 23 (here: 0  2,>>24<< * * *)"),
        ("60 * * * * *", "second 60 is not within 0 to 59 (here: >>60<< * * * * *)"),
        ("0 0 0 * *", "day of the month 0 is not within 1 to 31 (here: 0 0 >>0<< * *)"),
        ("0 0 * * 8", "day of the week 8 is not within 0 to 7 (here: 0 0 * * >>8<<)"),
        ("0 0 * 99999 *", "month 99999 is not within 1 to 12 (here: 0 0 * >>99999<< *)"),
        (
            "0 0 * febr *",
            "the month has \"febr\", which is neither a number nor a name (here: 0 0 * >>febr<< *)",
        ),
        (
            "0 0 L * *",
            "the day of the month has \"L\", which is neither a number nor a name (here: \
             0 0 >>L<< * *)",
        ),
        ("0 -1 * * *", "the hour has a number missing (here: 0 >>-1<< * * *)"),
        ("0, 1 * * *", "the minute has a number missing (here: 0,>><< 1 * * *)"),
        ("*/0 * * * *", "the minute has the step \"0\"; write 1 to 59 (here: >>*/0<< * * * *)"),
        ("*/x * * * *", "the minute has the step \"x\"; write 1 to 59 (here: >>*/x<< * * * *)"),
        (
            "0 22-2 * * *",
            "the hour runs backwards from 22 to 2; write 22-23,0-2 (here: 0 >>22-2<< * * *)",
        ),
        (
            "0 0 30 2 *",
            "it never comes: no month that it names has such a day of the month (here: \
             0 0 >>30<< 2 *)",
        ),
        (
            "0 0 31 4,6,9,11 *",
            "it never comes: no month that it names has such a day of the month (here: \
             0 0 >>31<< 4,6,9,11 *)",
        ),
    ];
    for (text, expected) in cases {
        let refused = CronExpression::parse(text).expect_err(text);
        assert_eq!(refused.to_string(), format!("cron expression \"{text}\": {expected}"));
    }
    // One of the two suffices, so it comes on Mondays.
    assert!(CronExpression::parse("0 0 30 2 mon").is_ok());
}
