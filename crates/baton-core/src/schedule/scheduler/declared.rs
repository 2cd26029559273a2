//! The schedules that a node has work for.

use super::{ENTRIES_MAX, InvalidSchedule, PAGES_MAX, Schedule, Schedules};

/// The schedules that a node declares, by name. When it leads, they are what is due; those of the
/// pages that are not among them are not.
#[derive(Clone, Debug, Default)]
pub struct Declared(pub(super) Schedules);

impl Declared {
    /// Adds a schedule. Each name can be used once.
    pub fn add(&mut self, schedule: Schedule) -> Result<(), InvalidSchedule> {
        let name = schedule.definition.name.clone();
        if self.0.contains_key(&name) {
            return Err(InvalidSchedule::Twice { name });
        }
        let (count, most) = (self.0.len() + 1, ENTRIES_MAX * PAGES_MAX);
        if count > most {
            return Err(InvalidSchedule::TooMany { count, most });
        }
        self.0.insert(name, schedule);
        Ok(())
    }

    /// Adds a schedule, or puts it in the place of the one of its name.
    pub fn set(&mut self, schedule: Schedule) -> Result<(), InvalidSchedule> {
        self.0.remove(&schedule.definition.name);
        self.add(schedule)
    }

    /// Removes a schedule. False if there is none of this name.
    pub fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    /// The schedule of this name.
    pub fn get(&self, name: &str) -> Option<&Schedule> {
        self.0.get(name)
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Schedule> {
        self.0.values()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
