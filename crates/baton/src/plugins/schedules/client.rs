//! Schedules from outside the leader: what stands in the store, and what people change there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton_core::ids::{BootId, Namespace};
use baton_core::schedule::page::{PAGES_MAX, Page, WriterId};
use baton_core::schedule::scheduler::PageWrite;
use baton_core::schedule::{EditRefused, Entry, InvalidSchedule, RunId};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError};

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
    /// No process id could be drawn.
    #[error("the system has no random numbers ({0})")]
    Random(String),
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
        let (store, namespace) = (node.store.clone(), node.namespace.clone());
        let pages = Pages { store, namespace, timeout: node.settings.request_timeout };
        Self { pages, boot: node.boot, own: Some(node.jobs.clone()) }
    }

    /// All schedules, by name, as they stand in the store.
    pub async fn all(&self) -> Result<BTreeMap<String, Entry>, ScheduleError> {
        let mut entries = BTreeMap::new();
        for number in 0..PAGES_MAX {
            let Some((_, page)) = self.pages.read(number).await? else { break };
            let named = page.entries.into_iter().map(|it| (it.name().to_owned(), it));
            entries.extend(named);
        }
        Ok(entries)
    }

    /// The schedule of this name.
    pub async fn get(&self, name: &str) -> Result<Entry, ScheduleError> {
        let unknown = EditRefused::Unknown { name: name.to_owned() };
        self.all().await?.remove(name).ok_or_else(|| unknown.into())
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
        let mut unanswered: Option<(WriterId, T)> = None;
        for tried in 1..=TRIES_MAX {
            let (number, version, mut page) = self.page_of(name).await?;
            if let Some((_, made)) = unanswered.take().filter(|(by, _)| *by == page.writer) {
                self.hint().await;
                return Ok(made);
            }
            let unknown = EditRefused::Unknown { name: name.to_owned() };
            let entry = page.entry_mut(name).ok_or(unknown)?;
            let made = edit(entry, SystemClock.wall_ms())?;
            let number_of_edit = EDITS.fetch_add(1, Ordering::Relaxed);
            page.writer = WriterId { boot: self.boot, number: number_of_edit };
            match self.pages.write((number, version), &page, None).await? {
                PageWrite::Written(_) => {
                    self.hint().await;
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

    /// The page that has this schedule: its number, the version of its document, and the page.
    async fn page_of(&self, name: &str) -> Result<(usize, u64, Page), ScheduleError> {
        for number in 0..PAGES_MAX {
            let Some((version, page)) = self.pages.read(number).await? else { break };
            if page.entry(name).is_some() {
                return Ok((number, version, page));
            }
        }
        Err(EditRefused::Unknown { name: name.to_owned() }.into())
    }

    /// Tells the leader to look. It looks every few seconds without this.
    async fn hint(&self) {
        if let Some(own) = &self.own {
            own.edited.notify_one();
        }
        let Pages { store, namespace, .. } = &self.pages;
        let look: Result<_, StoreError> = store.inspect(namespace).await;
        let holder = look.ok().and_then(|it| it.lease).and_then(|lease| lease.holder);
        if let Some(address) = holder.and_then(|holder| holder.lifeline) {
            // It may be lost.
            let _ = lifeline::send_topic(&address, namespace, TOPIC).await;
        }
    }
}
