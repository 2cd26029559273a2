//! Named starting points. A profile is the defaults with a few values replaced.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Policy, Settings};

/// A named set of settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// A 15 s lease, a beat every 5 s, one second of cold start.
    #[default]
    Default,
    /// A 10 s lease renewed every 5 s.
    Helix,
    /// First come, first served; checks every 5 s, takes over after 1 s.
    ServiceRadar,
    /// Watches 15 s and prepares 5 s at a cold start.
    S3db,
    /// A 30 s lease renewed every 10 s.
    Orchestrix,
    /// Fails over in about 3 s without proof of death, for three times the store operations.
    Fast,
    /// A quarter of the store operations, for failovers of about a minute.
    Frugal,
}

/// No profile has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("profile {0:?} is unknown; choose one of {names}", names = Profile::names())]
pub struct UnknownProfile(pub String);

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 7] = [
        Self::Default,
        Self::Helix,
        Self::ServiceRadar,
        Self::S3db,
        Self::Orchestrix,
        Self::Fast,
        Self::Frugal,
    ];

    /// Its name in files, flags and the environment.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Helix => "helix",
            Self::ServiceRadar => "serviceradar",
            Self::S3db => "s3db",
            Self::Orchestrix => "orchestrix",
            Self::Fast => "fast",
            Self::Frugal => "frugal",
        }
    }

    fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The settings it stands for.
    pub fn settings(self) -> Settings {
        let s = Duration::from_secs;
        let ms = Duration::from_millis;
        let base = Settings::default();
        match self {
            Self::Default => base,
            Self::Helix => Settings {
                lease_timeout: s(10),
                heartbeat_interval: s(5),
                request_timeout: ms(1_500),
                stop_grace: s(1),
                ..base
            },
            Self::ServiceRadar => Settings { policy: Policy::Incumbent, ..base },
            Self::S3db => Settings {
                cold_start_observation_window: s(15),
                cold_start_preparation_delay: s(5),
                ..base
            },
            Self::Orchestrix => Settings {
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
            .find(|profile| profile.name() == name)
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
            "profile \"quick\" is unknown; choose one of default, helix, serviceradar, s3db, \
             orchestrix, fast, frugal"
        );
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
