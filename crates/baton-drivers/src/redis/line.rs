//! What a handle keeps from call to call: its connection, and how far it saw.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use baton_core::ids::{Lineage, Namespace};
use baton_store::StoreError;

use super::connect::{Dialer, Link, within};
use super::error::NoLink;

/// The connection. One that broke is thrown away, and the next call makes another.
pub(super) struct Line {
    pub(super) dialer: Arc<Dialer>,
    link: Mutex<Option<Arc<Link>>>,
    /// Held by the one call that connects, while the others wait for what it gets.
    dialing: tokio::sync::Mutex<()>,
}

impl Line {
    pub(super) fn new(dialer: Arc<Dialer>, link: Arc<Link>) -> Self {
        Self { dialer, link: Mutex::new(Some(link)), dialing: tokio::sync::Mutex::default() }
    }

    /// One that connects when it is first needed.
    pub(super) fn unconnected(dialer: Arc<Dialer>) -> Self {
        Self { dialer, link: Mutex::default(), dialing: tokio::sync::Mutex::default() }
    }

    /// How long a call may take.
    pub(super) fn timeout(&self) -> Duration {
        self.dialer.config().timeout
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Link>>> {
        self.link.lock().expect("nothing panics while it is held")
    }

    fn open_link(&self) -> Option<Arc<Link>> {
        self.lock().clone().filter(|link| !link.is_closed())
    }

    /// The connection, made anew if it is known to be closed. Nothing was sent if there is none.
    pub(super) async fn link(&self) -> Result<Arc<Link>, StoreError> {
        if let Some(link) = self.open_link() {
            return Ok(link);
        }
        let made = within(self.timeout(), self.connect()).await;
        let late = || Err(NoLink::Unreachable("another call is still connecting".to_owned()));
        made.unwrap_or_else(late).map_err(|problem| problem.in_use(self.dialer.config().place()))
    }

    async fn connect(&self) -> Result<Arc<Link>, NoLink> {
        let _turn = self.dialing.lock().await;
        if let Some(link) = self.open_link() {
            return Ok(link);
        }
        let link = Arc::new(self.dialer.dial(None).await?);
        *self.lock() = Some(Arc::clone(&link));
        Ok(link)
    }

    /// Throws this connection away, unless another has taken its place.
    pub(super) fn part_with(&self, broken: &Arc<Link>) {
        let mut link = self.lock();
        if link.as_ref().is_some_and(|link| Arc::ptr_eq(link, broken)) {
            *link = None;
        }
    }
}

/// How far a namespace's history went, as far as a handle saw.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    /// The highest lineage.
    pub(super) lineage: Lineage,
    /// The time of the latest beat by the server's clock, in microseconds.
    pub(super) mark_us: u64,
}

impl Mark {
    /// Nothing was seen.
    const NONE: Self = Self { lineage: Lineage(0), mark_us: 0 };
}

/// The same of each namespace.
#[derive(Default)]
pub(super) struct Seen(Mutex<BTreeMap<Namespace, Mark>>);

impl Seen {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Namespace, Mark>> {
        self.0.lock().expect("nothing panics while it is held")
    }

    pub(super) fn of(&self, namespace: &Namespace) -> Mark {
        self.lock().get(namespace).copied().unwrap_or(Mark::NONE)
    }

    pub(super) fn note(&self, namespace: &Namespace, mark: Mark) {
        let mut seen = self.lock();
        match seen.get_mut(namespace) {
            Some(known) => {
                known.lineage = known.lineage.max(mark.lineage);
                known.mark_us = known.mark_us.max(mark.mark_us);
            }
            None => drop(seen.insert(namespace.clone(), mark)),
        }
    }
}
