//! What was not given follows from what was given: for every setting alone, and for every two.

use std::collections::BTreeSet;
use std::time::Duration;

use super::spans::Span;
use super::{Derived, InvalidSettings, Profile, Settings, show_span};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Values that follow, in milliseconds.
type Expected = &'static [(Span, u64)];

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn given(profile: Profile, values: &[(Span, Duration)]) -> Result<Derived, InvalidSettings> {
    let base = profile.settings();
    let mut settings = base.clone();
    for (span, value) in values {
        span.set(&mut settings, value.as_nanos());
    }
    settings.derive(&base, |name| values.iter().any(|(span, _)| span.name() == name))
}

/// What must hold of settings, stated apart from the table by which they are derived and checked.
fn assert_sound(settings: &Settings) {
    let s = settings;
    assert!(s.lease_timeout >= 2 * s.heartbeat_interval, "{s:?}");
    assert!(s.heartbeat_interval >= 2 * s.heartbeat_jitter, "{s:?}");
    assert!(s.heartbeat_interval >= s.request_timeout.max(s.startup_jitter_max), "{s:?}");
    assert!(s.startup_jitter_max >= s.startup_jitter_min, "{s:?}");
    assert!(s.worker_timeout >= 2 * s.heartbeat_interval, "{s:?}");
    assert!(s.dead_node_timeout >= s.worker_timeout, "{s:?}");
    assert!(s.max_epoch_duration >= s.min_epoch_duration, "{s:?}");
    assert!(s.min_epoch_duration >= s.lease_timeout, "{s:?}");
    let turns = s.takeover_delay + 8 * s.takeover_stagger;
    assert!(s.heartbeat_interval >= 2 * turns, "{s:?}");
    let beats = s.heartbeat_interval + s.heartbeat_jitter + s.request_timeout;
    assert!(s.lease_terms().trusted_span() >= beats + s.stop_grace, "{s:?}");
    assert_eq!(s.check(), Ok(()));
}

/// The values that a span may have by itself: with the smallest and the largest of the others.
fn range(span: Span) -> (Duration, Duration) {
    match span {
        Span::LeaseTimeout | Span::MinEpochDuration | Span::MaxEpochDuration => (ms(31), DAY),
        Span::WorkerTimeout | Span::DeadNodeTimeout => (ms(20), DAY * 365),
        Span::HeartbeatInterval | Span::RequestTimeout => (ms(10), DAY / 3),
        Span::StopGrace => (ms(10), DAY / 2),
        Span::ElectionInterval => (ms(10), DAY * 365),
        Span::TakeoverStagger => (ms(0), DAY / 40),
        _ => (ms(0), DAY / 5),
    }
}

/// Values from one end of a range to the other, with odd nanoseconds among them.
fn values(span: Span) -> Vec<Duration> {
    let (least, most) = range(span);
    let steps = (0..36).map(|power| Duration::from_nanos((1_000_007 << power) / 3));
    let between = steps.filter(|value| (least..most).contains(value));
    [least, most].into_iter().chain(between).collect()
}

#[test]
fn any_one_setting_within_its_range_is_enough() {
    for profile in Profile::ALL {
        for &span in Span::ALL {
            for value in values(span) {
                let what = format!("{profile}, {} = {}", span.name(), show_span(value));
                let derived = given(profile, &[(span, value)]).expect(&what);
                assert_eq!(span.of(&derived.settings), value.as_nanos());
                assert_sound(&derived.settings);
                let causes: BTreeSet<_> = derived.causes.values().flatten().copied().collect();
                assert!(causes.iter().all(|name| *name == span.name()), "{causes:?}");
            }
        }
    }
}

#[test]
fn any_two_settings_hold_or_are_named_with_both_values() {
    for (&one, &two) in Span::ALL.iter().flat_map(|one| Span::ALL.iter().map(move |two| (one, two)))
    {
        for (first, second) in values(one)
            .into_iter()
            .flat_map(|first| values(two).into_iter().map(move |x| (first, x)))
        {
            if one >= two {
                continue;
            }
            match given(Profile::Default, &[(one, first), (two, second)]) {
                Ok(derived) => {
                    assert_eq!(one.of(&derived.settings), first.as_nanos());
                    assert_eq!(two.of(&derived.settings), second.as_nanos());
                    assert_sound(&derived.settings);
                }
                Err(problem) => {
                    let problem = problem.to_string();
                    for (span, value) in [(one, first), (two, second)] {
                        let named = format!("{} ({})", span.name(), show_span(value));
                        assert!(problem.contains(&named), "{named}: {problem}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_lease_alone_takes_the_others_along_in_proportion() {
    let derived = given(Profile::Default, &[(Span::LeaseTimeout, ms(6_000))]).expect("it follows");
    let expected = Settings {
        lease_timeout: ms(6_000),
        heartbeat_interval: ms(2_000),
        heartbeat_jitter: ms(400),
        request_timeout: ms(800),
        safety_margin: ms(100),
        stop_grace: ms(800),
        worker_timeout: ms(8_000),
        dead_node_timeout: ms(12_000),
        startup_jitter_max: ms(2_000),
        election_interval: ms(2_000),
        takeover_delay: ms(400),
        takeover_stagger: ms(40),
        ..Settings::default()
    };
    assert_eq!(derived.settings, expected);
    assert_eq!(derived.causes["request_timeout"], ["lease_timeout"]);
    assert_eq!(derived.causes.get("min_epoch_duration"), None);
}

#[test]
fn a_longer_lease_leaves_requests_and_stops_as_short_as_they_were() {
    let derived = given(Profile::Default, &[(Span::LeaseTimeout, ms(90_000))]).expect("it follows");
    let settings = derived.settings;
    assert_eq!((settings.heartbeat_interval, settings.worker_timeout), (ms(30_000), ms(120_000)));
    assert_eq!((settings.request_timeout, settings.stop_grace), (ms(2_000), ms(2_000)));
    assert_eq!(settings.min_epoch_duration, ms(90_000), "as long as the lease");
}

#[test]
fn any_other_setting_moves_the_rest_no_further_than_it_must() {
    let cases: [(Span, u64, Expected); 7] = [
        (Span::StopGrace, 5_000, &[(Span::LeaseTimeout, 15_000), (Span::RequestTimeout, 2_000)]),
        (Span::StopGrace, 9_000, &[(Span::LeaseTimeout, 17_425), (Span::RequestTimeout, 2_000)]),
        (Span::RequestTimeout, 6_000, &[(Span::HeartbeatInterval, 6_000)]),
        (
            Span::WorkerTimeout,
            4_000,
            &[(Span::HeartbeatInterval, 2_000), (Span::LeaseTimeout, 6_000)],
        ),
        (
            Span::TakeoverDelay,
            4_000,
            &[(Span::HeartbeatInterval, 9_600), (Span::TakeoverStagger, 100)],
        ),
        (
            Span::MinEpochDuration,
            3_000,
            &[(Span::LeaseTimeout, 3_000), (Span::HeartbeatInterval, 1_000)],
        ),
        (
            Span::StartupJitterMin,
            8_000,
            &[(Span::StartupJitterMax, 8_000), (Span::LeaseTimeout, 24_000)],
        ),
    ];
    for (span, value, expected) in cases {
        let derived = given(Profile::Default, &[(span, ms(value))]).expect("it follows");
        for (other, expected) in expected {
            let found = other.of(&derived.settings);
            assert_eq!(found, ms(*expected).as_nanos(), "{} by {}", other.name(), span.name());
        }
    }
}

#[test]
fn what_two_given_settings_leave_is_shared() {
    let values = [(Span::LeaseTimeout, ms(5_000)), (Span::StopGrace, ms(3_000))];
    let derived = given(Profile::Default, &values).expect("both fit");
    assert_eq!(derived.settings.heartbeat_interval, ms(1_166));
    assert_eq!(derived.settings.request_timeout, ms(466));
    assert_eq!(derived.causes["heartbeat_interval"], ["lease_timeout", "stop_grace"]);
    assert_eq!(derived.causes["worker_timeout"], ["lease_timeout", "stop_grace"]);
}

#[test]
fn a_contradiction_names_what_was_given_although_a_third_setting_is_between() {
    let cases: [(&[(Span, u64)], &str); 5] = [
        (
            &[(Span::HeartbeatInterval, 8_000), (Span::LeaseTimeout, 15_000)],
            "lease_timeout (15s) must be at least 16s because of heartbeat_interval (8s)",
        ),
        (
            &[(Span::RequestTimeout, 5_000), (Span::WorkerTimeout, 6_000)],
            "worker_timeout (6s) must be at least 10s because of request_timeout (5s)",
        ),
        (
            &[(Span::TakeoverDelay, 500), (Span::MaxEpochDuration, 1_000)],
            "max_epoch_duration (1s) must be at least 2s because of takeover_delay (500ms)",
        ),
        (
            &[
                (Span::LeaseTimeout, 10_000),
                (Span::HeartbeatInterval, 4_000),
                (Span::RequestTimeout, 3_000),
                (Span::StopGrace, 3_000),
            ],
            "lease_timeout (10s) must be at least 10s 101ms 10us 102ns because of \
             heartbeat_interval (4s), request_timeout (3s) and stop_grace (3s)",
        ),
        (
            &[(Span::HeartbeatInterval, 13 * 3_600_000)],
            "lease_timeout (at most 1day) must be at least 1day 2h because of \
             heartbeat_interval (13h)",
        ),
    ];
    for (values, expected) in cases {
        let values: Vec<_> = values.iter().map(|(span, value)| (*span, ms(*value))).collect();
        let problem = given(Profile::Default, &values).expect_err(expected);
        assert_eq!(problem.to_string(), expected);
    }
}

#[test]
fn a_large_drift_is_made_room_for_and_named() {
    let base = Profile::ShortLease.settings();
    let settings = Settings { clock_drift_max: 0.2, ..base.clone() };
    let derived = settings.derive(&base, |name| name == "clock_drift_max").expect("it follows");
    assert_eq!(derived.settings.lease_timeout, ms(10_938));
    assert_eq!(derived.causes["lease_timeout"], ["clock_drift_max"]);
    let tight = Settings { clock_drift_max: 0.2, lease_timeout: ms(35), ..base.clone() };
    let problem = tight.derive(&base, |name| matches!(name, "clock_drift_max" | "lease_timeout"));
    assert_eq!(
        problem.expect_err("no room").to_string(),
        "lease_timeout (35ms) must be at least 37ms 500us because of clock_drift_max (0.2)"
    );
}

#[test]
fn nothing_given_is_the_profile_and_a_value_out_of_range_is_refused_as_such() {
    for profile in Profile::ALL {
        let derived = given(profile, &[]).expect("profiles are sound");
        assert_eq!((derived.settings, derived.causes.len()), (profile.settings(), 0));
    }
    let problem = Profile::Fast.with(|settings| settings.lease_timeout = ms(1)).expect_err("short");
    assert_eq!(
        problem.to_string(),
        "lease_timeout (1ms) must be at least the smallest span (10ms)"
    );
}
