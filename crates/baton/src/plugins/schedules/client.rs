//! Schedules from outside the leader: what stands in the store, and what people change there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton_core::ids::{BootId, Namespace};
use baton_core::schedule::own_namespace::{before_own_namespaces, is_own_namespace};
use baton_core::schedule::page::{PAGES_MAX, Page, WriterId};
use baton_core::schedule::scheduler::PageWrite;
use baton_core::schedule::{Claimant, EditRefused, Entry, InvalidSchedule, RunId};
use baton_store::Store;
use baton_store::clock::{Clock, SystemClock};

use super::hint::TOPIC;
use super::jobs::Jobs;
use super::pages::{Pages, PagesError};
use super::zones;
use crate::lifeline;
use crate::random;
use crate::shared::Shared;

/// How often an edit is made again when another change was faster.
const TRIES_MAX: u32 = 64;

/// The longest pause between two tries, in milliseconds.
const PAUSE_MAX_MS: u64 = 50;

/// How many namespaces are listed in one request.
const NAMESPACES_AT_ONCE: u32 = 200;

static EDITS: AtomicU64 = AtomicU64::new(1);

/// Why a schedule was not read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Not possible as the schedule stands.
    #[error(transparent)]
    Refused(#[from] EditRefused),
    /// What the store has of it is of no use here, for instance because of its time zone.
    #[error(transparent)]
    Invalid(#[from] InvalidSchedule),
    /// A page could not be read or written.
    #[error(transparent)]
    Pages(#[from] PagesError),
    /// Try again later.
    #[error("schedule {name} was not changed: other changes were faster {tries} times")]
    Contended {
        /// The name.
        name: String,
        /// How often it was tried.
        tries: u32,
    },
    /// Name the namespace of the one that is meant.
    #[error(
        "two schedules are named {name}: one in namespace {}, one in {}; name one with --namespace",
        namespaces[0], namespaces[1]
    )]
    Ambiguous {
        /// The name.
        name: String,
        /// Where they are.
        namespaces: [Namespace; 2],
    },
    /// No process id could be drawn.
    #[error("the system has no random numbers ({0})")]
    Random(String),
}

/// A schedule as it stands in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSchedule {
    /// The namespace whose leader runs it: the one that was asked about, or one of its own.
    pub namespace: Namespace,
    /// All that is kept of it.
    pub entry: Entry,
}

/// The schedules of a namespace, for any process: it need not be a node.
#[derive(Clone)]
pub struct Schedules {
    pages: Pages,
    boot: BootId,
    /// Those of this process's own node, which may be the leader.
    own: Option<Arc<Jobs>>,
}

impl std::fmt::Debug for Schedules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedules").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl Schedules {
    /// The schedules of a namespace in this store. A request may take as long as given.
    pub fn new(
        store: Arc<dyn Store>,
        namespace: Namespace,
        timeout: Duration,
    ) -> Result<Self, ScheduleError> {
        let boot = random::fresh_boot().map_err(|it| ScheduleError::Random(it.to_string()))?;
        Ok(Self { pages: Pages { store, namespace, timeout }, boot, own: None })
    }

    pub(crate) fn of(node: &Shared) -> Self {
        let (store, namespace) = (node.records.clone(), node.namespace.clone());
        let pages = Pages { store, namespace, timeout: node.settings.request_timeout };
        Self { pages, boot: node.boot, own: Some(node.jobs.clone()) }
    }

    /// All schedules, as they stand in the store: those of the namespace, and those that have
    /// nodes of their own in it.
    pub async fn all(&self) -> Result<Vec<StoredSchedule>, ScheduleError> {
        let mut all = self.stored_in(&self.pages.namespace).await?;
        for namespace in self.own_namespaces().await? {
            all.extend(self.stored_in(&namespace).await?);
        }
        all.sort_by(|one, other| one.entry.name().cmp(other.entry.name()));
        Ok(all)
    }

    async fn stored_in(&self, namespace: &Namespace) -> Result<Vec<StoredSchedule>, ScheduleError> {
        let pages = Pages { namespace: namespace.clone(), ..self.pages.clone() };
        let mut stored = Vec::new();
        for number in 0..PAGES_MAX {
            let Some((_, page)) = pages.read(number).await? else { break };
            let of = |entry| StoredSchedule { namespace: namespace.clone(), entry };
            stored.extend(page.entries.into_iter().map(of));
        }
        Ok(stored)
    }

    /// The namespaces of schedules that have nodes of their own.
    async fn own_namespaces(&self) -> Result<Vec<Namespace>, ScheduleError> {
        let Pages { store, namespace, .. } = &self.pages;
        let mut own = Vec::new();
        let mut after = before_own_namespaces(namespace);
        while let Some(last) = after.take() {
            let next = store.namespaces(namespace, Some(last), NAMESPACES_AT_ONCE);
            let next = self.pages.in_time(next).await.map_err(PagesError::from)?;
            let count = next.len();
            let found = next.into_iter().take_while(|it| is_own_namespace(namespace, it));
            let before = own.len();
            own.extend(found);
            if own.len() - before == count && count == NAMESPACES_AT_ONCE as usize {
                after = own.last().cloned();
            }
        }
        Ok(own)
    }

    /// The schedule of this name.
    pub async fn get(&self, name: &str) -> Result<StoredSchedule, ScheduleError> {
        let mut named = self.all().await?;
        named.retain(|stored| stored.entry.name() == name);
        match (named.pop(), named.pop()) {
            (Some(stored), None) => Ok(stored),
            (Some(one), Some(other)) => Err(ScheduleError::Ambiguous {
                name: name.to_owned(),
                namespaces: [other.namespace, one.namespace],
            }),
            (None, _) => Err(EditRefused::Unknown { name: name.to_owned() }.into()),
        }
    }

    /// Stops slots from being due, until it is resumed. What runs goes on.
    pub async fn pause(&self, name: &str) -> Result<(), ScheduleError> {
        self.edit(name, |entry, now_ms| Ok(entry.pause(now_ms)?)).await
    }

    /// Lets slots be due again, from now on.
    pub async fn resume(&self, name: &str) -> Result<(), ScheduleError> {
        self.edit(name, |entry, now_ms| {
            let schedule = zones::resolve(entry.definition.clone())?;
            Ok(entry.resume(&schedule, now_ms)?)
        })
        .await
    }

    /// Asks the leader for a run now, beside the slots, and names it.
    pub async fn run(&self, name: &str) -> Result<RunId, ScheduleError> {
        self.edit(name, |entry, now_ms| Ok(entry.request(now_ms)?)).await
    }

    /// Changes a schedule where it stands, and tells the leader to look. An edit without an answer
    /// is read back before it is made again.
    async fn edit<T: Clone>(
        &self,
        name: &str,
        mut edit: impl FnMut(&mut Entry, u64) -> Result<T, ScheduleError>,
    ) -> Result<T, ScheduleError> {
        let namespace = self.get(name).await?.namespace;
        let pages = Pages { namespace, ..self.pages.clone() };
        let mut unanswered: Option<(WriterId, T)> = None;
        for tried in 1..=TRIES_MAX {
            let (number, version, mut page) = page_of(&pages, name).await?;
            let unknown = EditRefused::Unknown { name: name.to_owned() };
            let entry = page.entry_mut(name).ok_or(unknown)?;
            if let Some((_, made)) =
                unanswered.take().filter(|(by, _)| entry.edited_by == Some(*by))
            {
                self.hint(&pages.namespace).await;
                return Ok(made);
            }
            let made = edit(entry, SystemClock.wall_ms())?;
            let number_of_edit = EDITS.fetch_add(1, Ordering::Relaxed);
            let writer =
                WriterId { boot: self.boot, claimant: Claimant::default(), number: number_of_edit };
            entry.edited_by = Some(writer);
            page.writer = writer;
            match pages.write((number, version), &page, None).await? {
                PageWrite::Written(_) => {
                    self.hint(&pages.namespace).await;
                    return Ok(made);
                }
                PageWrite::Unknown => unanswered = Some((page.writer, made)),
                PageWrite::Conflict | PageWrite::Fenced | PageWrite::Failed => {}
            }
            let pause_ms = (u64::from(tried) * 3).min(PAUSE_MAX_MS);
            SystemClock.sleep(Duration::from_millis(pause_ms)).await;
        }
        Err(ScheduleError::Contended { name: name.to_owned(), tries: TRIES_MAX })
    }

    /// Tells the leader to look. It looks every few seconds without this.
    async fn hint(&self, namespace: &Namespace) {
        if let Some(own) = &self.own {
            own.edited.notify_one();
        }
        let look = self.pages.in_time(self.pages.store.inspect(namespace)).await;
        lifeline::hint_leader(look, namespace, TOPIC).await;
    }
}

/// The page that has this schedule: its number, the version of its document, and the page.
async fn page_of(pages: &Pages, name: &str) -> Result<(usize, u64, Page), ScheduleError> {
    for number in 0..PAGES_MAX {
        let Some((version, page)) = pages.read(number).await? else { break };
        if page.entry(name).is_some() {
            return Ok((number, version, page));
        }
    }
    Err(EditRefused::Unknown { name: name.to_owned() }.into())
}
