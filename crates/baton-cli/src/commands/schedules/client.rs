//! The schedules of an open store.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::plugins::schedules::{EditRefused, Entry, PagesError, ScheduleError, Schedules};
use baton_store::clock::{Clock, SystemClock};

use super::StoreArguments;
use super::standing::Now;
use crate::config::nearest;
use crate::error::CommandError;
use crate::open_store::OpenStore;

/// Time limit of one request to the store, for a person who waits for the answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

pub struct SchedulesClient {
    pub opened: OpenStore,
    schedules: Schedules,
}

impl SchedulesClient {
    pub async fn to_read(arguments: &StoreArguments) -> Result<Self, CommandError> {
        Self::of(arguments.open_to_read().await?)
    }

    pub async fn to_write(arguments: &StoreArguments) -> Result<Self, CommandError> {
        Self::of(arguments.open_to_write().await?)
    }

    fn of(opened: OpenStore) -> Result<Self, CommandError> {
        let (store, namespace) = (opened.store.clone(), opened.namespace().clone());
        let schedules = Schedules::new(store, namespace, REQUEST_TIMEOUT);
        Ok(Self { schedules: schedules.map_err(CommandError::Schedule)?, opened })
    }

    /// All schedules by name.
    pub async fn all(&self) -> Result<BTreeMap<String, Entry>, CommandError> {
        self.schedules.all().await.map_err(|problem| self.error(problem))
    }

    /// The schedule of this name.
    pub async fn get(&self, name: &str) -> Result<Entry, CommandError> {
        let mut all = self.all().await?;
        all.remove(name).ok_or_else(|| self.unknown(name, &all))
    }

    /// Changes a schedule.
    pub async fn edit<'a, T, F>(
        &'a self,
        name: &'a str,
        edit: impl FnOnce(&'a Schedules, &'a str) -> F,
    ) -> Result<T, CommandError>
    where
        F: Future<Output = Result<T, ScheduleError>>,
    {
        match edit(&self.schedules, name).await {
            Ok(done) => Ok(done),
            Err(ScheduleError::Refused(EditRefused::Unknown { .. })) => {
                Err(self.unknown(name, &self.all().await?))
            }
            Err(problem) => Err(self.error(problem)),
        }
    }

    /// What schedules are compared with.
    pub async fn now(&self) -> Result<Now, CommandError> {
        let lease = self.opened.lease().await?;
        let led = lease.and_then(|lease| lease.leader().map(|_| lease.version.epoch));
        Ok(Now { ms: SystemClock.wall_ms(), led })
    }

    fn unknown(&self, name: &str, all: &BTreeMap<String, Entry>) -> CommandError {
        let remedy = match nearest(name, all.keys().map(String::as_str)) {
            Some(alike) => format!("did you mean {alike}?"),
            None if all.is_empty() => format!("it has none yet: {}", Self::HOW_TO_DECLARE),
            None => "`baton schedules list` shows all".to_owned(),
        };
        let namespace = self.opened.namespace().clone();
        CommandError::NoSchedule { name: name.to_owned(), namespace, remedy }
    }

    fn error(&self, problem: ScheduleError) -> CommandError {
        match problem {
            ScheduleError::Pages(PagesError::Store(problem)) => self.opened.error(problem),
            problem => CommandError::Schedule(problem),
        }
    }

    /// The rest of a sentence that says that there is no schedule.
    pub const HOW_TO_DECLARE: &str = "declare one in a [[schedule]] table of the file for `baton \
                                      serve`, or with NodeBuilder::schedule";
}
