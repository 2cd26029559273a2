//! Named starting points. A profile is the defaults with a few values replaced, and its name says
//! what they are for. Four of them have an older name too, which is read and never written.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Policy, Settings};

/// A named set of settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Profile {
    /// Most services: a 15 s lease, a beat every 5 s, one second of cold start.
    #[default]
    Default,
    /// Fails over in about 3 s without proof of death, for five times the store operations.
    Fast,
    /// A quarter of the store operations, for failovers of about a minute.
    Frugal,
    /// Notices a lost host after 10 s for the load of the default: a 10 s lease, a beat every 5 s.
    #[serde(alias = "helix")]
    ShortLease,
    /// Rides out a store that is away for longer, with half the load: a 30 s lease, a beat every
    /// 10 s.
    #[serde(alias = "orchestrix")]
    LongLease,
    /// The node that was there first leads, whatever its id.
    #[serde(alias = "serviceradar")]
    FirstCome,
    /// Fleets that start slowly and together: watches 15 s and prepares 5 s at a cold start.
    #[serde(alias = "s3db")]
    SlowStart,
}

/// No profile has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("profile {0:?} is unknown; choose one of {names}", names = Profile::names())]
pub struct UnknownProfile(pub String);

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 7] = [
        Self::Default,
        Self::Fast,
        Self::Frugal,
        Self::ShortLease,
        Self::LongLease,
        Self::FirstCome,
        Self::SlowStart,
    ];

    /// Its name in files, flags and the environment.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Fast => "fast",
            Self::Frugal => "frugal",
            Self::ShortLease => "short-lease",
            Self::LongLease => "long-lease",
            Self::FirstCome => "first-come",
            Self::SlowStart => "slow-start",
        }
    }

    /// Its older name, if it has one, which is read in the same places.
    pub fn alias(self) -> Option<&'static str> {
        match self {
            Self::Default | Self::Fast | Self::Frugal => None,
            Self::ShortLease => Some("helix"),
            Self::LongLease => Some("orchestrix"),
            Self::FirstCome => Some("serviceradar"),
            Self::SlowStart => Some("s3db"),
        }
    }

    fn names() -> String {
        let shown = |profile: Self| match profile.alias() {
            Some(alias) => format!("{profile} (or {alias})"),
            None => profile.to_string(),
        };
        Self::ALL.map(shown).join(", ")
    }

    /// The settings it stands for.
    pub fn settings(self) -> Settings {
        let s = Duration::from_secs;
        let ms = Duration::from_millis;
        let base = Settings::default();
        match self {
            Self::Default => base,
            Self::ShortLease => Settings {
                lease_timeout: s(10),
                heartbeat_interval: s(5),
                request_timeout: ms(1_500),
                stop_grace: s(1),
                ..base
            },
            Self::FirstCome => Settings { policy: Policy::Incumbent, ..base },
            Self::SlowStart => Settings {
                cold_start_observation_window: s(15),
                cold_start_preparation_delay: s(5),
                ..base
            },
            Self::LongLease => Settings {
                lease_timeout: s(30),
                heartbeat_interval: s(10),
                worker_timeout: s(30),
                ..base
            },
            Self::Fast => Settings {
                lease_timeout: s(3),
                heartbeat_interval: s(1),
                heartbeat_jitter: ms(100),
                request_timeout: ms(500),
                safety_margin: ms(100),
                stop_grace: ms(500),
                worker_timeout: s(4),
                dead_node_timeout: s(6),
                startup_jitter_max: s(1),
                election_interval: s(1),
                takeover_delay: ms(200),
                takeover_stagger: ms(25),
                ..base
            },
            Self::Frugal => Settings {
                lease_timeout: s(60),
                heartbeat_interval: s(20),
                heartbeat_jitter: s(4),
                request_timeout: s(5),
                worker_timeout: s(80),
                dead_node_timeout: s(120),
                startup_jitter_max: s(20),
                election_interval: s(20),
                ..base
            },
        }
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;
    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == name || profile.alias() == Some(name))
            .ok_or_else(|| UnknownProfile(name.to_owned()))
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_free_of_contradictions_and_found_by_its_name() {
        for profile in Profile::ALL {
            assert_eq!(profile.settings().check(), Ok(()), "{profile}");
            assert_eq!(profile.name().parse(), Ok(profile));
        }
    }

    #[test]
    fn an_unknown_profile_is_refused_with_the_known_ones() {
        let message = "quick".parse::<Profile>().expect_err("unknown").to_string();
        assert_eq!(
            message,
            "profile \"quick\" is unknown; choose one of default, fast, frugal, \
             short-lease (or helix), long-lease (or orchestrix), first-come (or serviceradar), \
             slow-start (or s3db)"
        );
    }

    #[test]
    fn an_older_name_is_read_everywhere_and_written_nowhere() {
        #[derive(Serialize, Deserialize)]
        struct File {
            profile: Profile,
        }
        for alias in ["helix", "serviceradar", "s3db", "orchestrix"] {
            let profile: Profile = alias.parse().expect("it is still read");
            assert_ne!(profile.name(), alias);
            let file: File = toml::from_str(&format!("profile = '{alias}'")).expect("here too");
            assert_eq!(file.profile, profile);
            let written = toml::to_string(&file).expect("plain data");
            assert_eq!(written, format!("profile = \"{}\"\n", profile.name()));
        }
    }

    #[test]
    fn settings_survive_a_round_trip_through_toml() {
        for profile in Profile::ALL {
            let text = toml::to_string(&profile.settings()).expect("plain data");
            let read: Settings = toml::from_str(&text).expect("what was written");
            assert_eq!(read, profile.settings());
        }
    }

    #[test]
    fn a_misspelt_setting_or_span_is_refused_by_name() {
        let unknown = toml::from_str::<Settings>("leese_timeout = '5s'").expect_err("misspelt");
        assert!(unknown.to_string().contains("leese_timeout"), "{unknown}");
        let span = toml::from_str::<Settings>("lease_timeout = '5 parsecs'").expect_err("no span");
        assert!(span.to_string().contains("\"5 parsecs\" is not a length of time"), "{span}");
    }
}
