//! The schedules of an open store.

use baton::plugins::schedules::{
    EditRefused, PagesError, ScheduleError, Schedules, StoredSchedule,
};
use baton_core::ids::{Namespace, NodeId};
use baton_core::protocol::LeaseSnapshot;
use baton_store::clock::{Clock, SystemClock};

use super::StoreArguments;
use super::standing::Now;
use crate::commands::REQUEST_TIMEOUT;
use crate::config::nearest;
use crate::error::CommandError;
use crate::open_store::OpenStore;

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

    /// All schedules, by name: those of the namespace, and those with nodes of their own.
    pub async fn all(&self) -> Result<Vec<StoredSchedule>, CommandError> {
        self.schedules.all().await.map_err(|problem| self.error(problem))
    }

    /// The schedule of this name.
    pub async fn get(&self, name: &str) -> Result<StoredSchedule, CommandError> {
        match self.schedules.get(name).await {
            Ok(stored) => Ok(stored),
            Err(problem) => Err(self.told(name, problem).await?),
        }
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
            Err(problem) => Err(self.told(name, problem).await?),
        }
    }

    /// The error of a command, with advice for a name that is unknown.
    async fn told(&self, name: &str, problem: ScheduleError) -> Result<CommandError, CommandError> {
        Ok(match problem {
            ScheduleError::Refused(EditRefused::Unknown { .. }) => {
                self.unknown(name, &self.all().await?)
            }
            problem => self.error(problem),
        })
    }

    /// What the schedules of a namespace are compared with.
    pub async fn now(&self, namespace: &Namespace) -> Result<Now, CommandError> {
        let lease = self.lease(namespace).await?;
        let led = lease.and_then(|lease| lease.leader().map(|_| lease.version.epoch));
        Ok(Now { ms: SystemClock.wall_ms(), led })
    }

    /// The node that runs the schedules of a namespace, if one leads there.
    pub async fn leader(&self, namespace: &Namespace) -> Result<Option<NodeId>, CommandError> {
        let lease = self.lease(namespace).await?;
        Ok(lease.and_then(|lease| lease.leader().map(|holder| holder.node.clone())))
    }

    async fn lease(&self, namespace: &Namespace) -> Result<Option<LeaseSnapshot>, CommandError> {
        Ok(self.opened.ask(self.opened.store.inspect(namespace)).await?.lease)
    }

    fn unknown(&self, name: &str, all: &[StoredSchedule]) -> CommandError {
        let remedy = match nearest(name, all.iter().map(|stored| stored.entry.name())) {
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
