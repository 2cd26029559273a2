//! Time zones by name: the system's, or the ones compiled in where the system has none.

use baton_core::schedule::{Definition, InvalidSchedule, Schedule, UnknownZone};
use jiff::tz::{TimeZone, db};

/// How many letters may differ for a name to be suggested.
const DIFFERENCES_MAX: usize = 3;

/// Checks a definition and makes it ready to be used, with this machine's time zones.
pub fn resolve(definition: Definition) -> Result<Schedule, InvalidSchedule> {
    definition.resolve(&time_zone)
}

/// The time zone of this name.
pub fn time_zone(name: &str) -> Result<TimeZone, UnknownZone> {
    if name.eq_ignore_ascii_case("utc") {
        return Ok(TimeZone::UTC);
    }
    #[expect(clippy::disallowed_methods, reason = "this is where zones come from")]
    let found = TimeZone::get(name);
    found.map_err(|_| UnknownZone { nearest: nearest(name) })
}

/// The name that differs least: of the whole, or of the part after the last slash.
fn nearest(name: &str) -> Option<String> {
    let wanted = name.to_ascii_lowercase();
    let distance = |known: &str| {
        let known = known.to_ascii_lowercase();
        let city = known.rsplit('/').next().unwrap_or(&known);
        strsim::osa_distance(&wanted, &known).min(strsim::osa_distance(&wanted, city))
    };
    let known = db().available().map(|known| (distance(known.as_str()), known.to_string()));
    known.min().filter(|(distance, _)| *distance <= DIFFERENCES_MAX).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_have_names_and_misspelt_ones_are_suggested() {
        assert!(time_zone("Europe/Berlin").is_ok());
        assert_eq!(time_zone("utc"), Ok(TimeZone::UTC));
        let nearest = |name| time_zone(name).expect_err("unknown").nearest;
        assert_eq!(nearest("Europe/Berln").as_deref(), Some("Europe/Berlin"));
        assert_eq!(nearest("berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(nearest("Middle-earth/Bag End"), None);
    }
}
