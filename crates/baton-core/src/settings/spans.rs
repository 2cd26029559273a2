//! The spans that relations tie together, and the relations as data, for deriving one from another.

use std::time::Duration;

use super::Settings;
use crate::election::takeover::RANKS;

/// A length of time in nanoseconds, wide enough for any sum of settings.
pub type Nanos = u128;

/// Parts per million.
pub const PPM: Nanos = 1_000_000;

/// The least that a span may be that time is spent in.
pub const SMALLEST: Duration = Duration::from_millis(10);

/// The most that a lease may last.
pub const LARGEST_LEASE: Duration = Duration::from_secs(24 * 3600);

macro_rules! spans {
    ($($span:ident $field:ident $least:expr),+ $(,)?) => {
        /// A setting that is a length of time and stands in a relation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Span { $(#[doc = stringify!($field)] $span),+ }

        impl Span {
            /// Each comes after those that it must be at least as long as.
            pub const ALL: &[Self] = &[$(Self::$span),+];

            /// Its name in files, flags and messages.
            pub fn name(self) -> &'static str {
                match self { $(Self::$span => stringify!($field)),+ }
            }

            /// Its value.
            pub fn of(self, settings: &Settings) -> Nanos {
                match self { $(Self::$span => settings.$field.as_nanos()),+ }
            }

            /// Sets its value.
            pub fn set(self, settings: &mut Settings, value: Nanos) {
                match self { $(Self::$span => settings.$field = duration(value)),+ }
            }

            /// The least that it may be, whatever the others are.
            pub fn least(self) -> Nanos {
                let least: Duration = match self { $(Self::$span => $least),+ };
                least.as_nanos()
            }
        }
    };
}

spans! {
    HeartbeatJitter heartbeat_jitter Duration::ZERO,
    RequestTimeout request_timeout SMALLEST,
    SafetyMargin safety_margin Duration::ZERO,
    StopGrace stop_grace SMALLEST,
    StartupJitterMin startup_jitter_min Duration::ZERO,
    StartupJitterMax startup_jitter_max Duration::ZERO,
    TakeoverDelay takeover_delay Duration::ZERO,
    TakeoverStagger takeover_stagger Duration::ZERO,
    HeartbeatInterval heartbeat_interval SMALLEST,
    LeaseTimeout lease_timeout SMALLEST,
    WorkerTimeout worker_timeout Duration::ZERO,
    DeadNodeTimeout dead_node_timeout Duration::ZERO,
    MinEpochDuration min_epoch_duration Duration::ZERO,
    MaxEpochDuration max_epoch_duration Duration::ZERO,
    ElectionInterval election_interval SMALLEST,
}

impl Span {
    /// The most that it may be, whatever the others are.
    pub fn most(self) -> Nanos {
        match self {
            Self::LeaseTimeout => LARGEST_LEASE.as_nanos(),
            _ => Duration::MAX.as_nanos(),
        }
    }
}

/// `upper` must be at least the sum of `lowers`, each times its factor.
pub struct Relation {
    /// Its form.
    pub kind: RelationKind,
    /// What must be long enough.
    pub upper: Span,
    /// What it must have room for.
    pub lowers: &'static [(u32, Span)],
}

/// The forms that a relation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// The message begins with `upper`, which is too short.
    AtLeast,
    /// The message begins with `lowers`, which are too long.
    AtMost,
    /// The trust window: `upper` is shortened by the drift of clocks first.
    Window,
}

const fn at_least(upper: Span, lowers: &'static [(u32, Span)]) -> Relation {
    Relation { kind: RelationKind::AtLeast, upper, lowers }
}

const fn at_most(lowers: &'static [(u32, Span)], upper: Span) -> Relation {
    Relation { kind: RelationKind::AtMost, upper, lowers }
}

use Span::*;

/// What `Settings::check` demands of spans, in its order. No span is above itself, however far one
/// follows them.
pub const RELATIONS: &[Relation] = &[
    at_most(&[(2, HeartbeatInterval)], LeaseTimeout),
    at_most(&[(2, HeartbeatJitter)], HeartbeatInterval),
    at_most(&[(1, RequestTimeout)], HeartbeatInterval),
    // A beat, a failed renewal and one more try must fit before the soft deadline.
    Relation {
        kind: RelationKind::Window,
        upper: LeaseTimeout,
        lowers: &[
            (1, HeartbeatInterval),
            (1, HeartbeatJitter),
            (1, RequestTimeout),
            (1, SafetyMargin),
            (1, StopGrace),
        ],
    },
    at_least(WorkerTimeout, &[(2, HeartbeatInterval)]),
    at_least(DeadNodeTimeout, &[(1, WorkerTimeout)]),
    at_least(StartupJitterMax, &[(1, StartupJitterMin)]),
    at_most(&[(1, StartupJitterMax)], HeartbeatInterval),
    at_least(MaxEpochDuration, &[(1, MinEpochDuration)]),
    at_least(MinEpochDuration, &[(1, LeaseTimeout)]),
    // All successors have had their turn within one beat of the expiry.
    at_most(&[(2, TakeoverDelay), (2 * RANKS, TakeoverStagger)], HeartbeatInterval),
];

/// A span less the drift of these parts per million, rounded as [`LeaseTerms`] rounds it.
///
/// [`LeaseTerms`]: crate::lease::LeaseTerms
pub fn less_drift(span: Nanos, drift_ppm: u32) -> Nanos {
    span - span.saturating_mul(drift_ppm.into()).div_ceil(PPM).min(span)
}

/// As a length of time; what no length of time can be becomes the longest.
pub fn duration(nanos: Nanos) -> Duration {
    let seconds = u64::try_from(nanos / 1_000_000_000);
    seconds.map_or(Duration::MAX, |s| Duration::new(s, (nanos % 1_000_000_000) as u32))
}
