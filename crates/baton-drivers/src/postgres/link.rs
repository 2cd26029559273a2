//! The one connection of a handle: made when it is needed, thrown away when it is broken or slow.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex};
use std::task::Poll;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use tokio::sync::Mutex;
use tokio_postgres::types::PgLsn;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::NAME;
use super::config::PostgresConfig;
use super::connect::{Link, connect};
use super::error;
use super::hints::Ears;
use super::rehearsal::rehearse;
use crate::driver::SeenLeases;
use crate::reader::Access;
use crate::refusal::Refusal;

/// Waits for the work, but not longer than this.
pub(super) async fn within<F: Future>(span: Duration, work: F) -> Option<F::Output> {
    let (mut work, mut over) = (pin!(work), pin!(SystemClock.sleep(span)));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => over.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// The furthest that this handle has seen the data get. Behind that, it has gone back.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) lineage: u64,
    pub(super) lsn: PgLsn,
}

/// What the calls and the listening of one handle share.
pub(super) struct Links {
    pub(super) config: PostgresConfig,
    pub(super) access: Access,
    pub(super) names: String,
    pub(super) ears: Arc<Ears>,
    tls: MakeRustlsConnect,
    present: Mutex<Option<Arc<Link>>>,
    last_host: StdMutex<usize>,
    seen: StdMutex<Seen>,
    pub(super) leases: SeenLeases,
    /// Is the schema known to be there?
    is_ready: AtomicBool,
}

impl Links {
    pub(super) fn new(config: PostgresConfig, tls: MakeRustlsConnect, access: Access) -> Self {
        let seen = Seen { lineage: 0, lsn: PgLsn::from(0) };
        Self {
            names: config.names(),
            config,
            access,
            ears: Arc::new(Ears::default()),
            tls,
            present: Mutex::default(),
            last_host: StdMutex::new(0),
            seen: StdMutex::new(seen),
            leases: SeenLeases::default(),
            is_ready: AtomicBool::new(false),
        }
    }

    /// The connection, made anew if need be. Whoever listens listens there too.
    pub(super) async fn link(&self) -> Result<Arc<Link>, Refusal> {
        let mut present = self.present.lock().await;
        if let Some(link) = present.as_ref().filter(|link| !link.client.is_closed()) {
            return Ok(Arc::clone(link));
        }
        *present = None;
        let last = *self.last_host.lock().expect("no holder panics");
        let link = Arc::new(connect(&self.config, self.access, &self.tls, &self.ears, last).await?);
        *self.last_host.lock().expect("no holder panics") = link.host;
        let rejoined = self.ears.rejoin(&link.client, &self.names).await;
        rejoined.map_err(|problem| error::refused(&self.config, self.config.place(), &problem))?;
        if self.is_ready.load(Ordering::Relaxed) {
            rehearse(&link.client, &self.names).await;
        }
        *present = Some(Arc::clone(&link));
        Ok(link)
    }

    /// The same, but not later than this.
    pub(super) async fn link_within(&self, span: Duration) -> Result<Arc<Link>, Refusal> {
        within(span, self.link()).await.unwrap_or_else(|| {
            let detail = format!("no answer within {} ms", span.as_millis());
            Err(Refusal::Unreachable { store: NAME, place: self.config.place(), detail })
        })
    }

    /// The schema is there: this session and all that follow can be made ready for use.
    pub(super) async fn ready(&self, link: &Link) {
        self.is_ready.store(true, Ordering::Relaxed);
        rehearse(&link.client, &self.names).await;
    }

    /// Nobody uses this connection from now on. Whoever still waits on it may go on waiting.
    pub(super) async fn discard(&self, link: &Arc<Link>) {
        let mut present = self.present.lock().await;
        if present.as_ref().is_some_and(|found| Arc::ptr_eq(found, link)) {
            *present = None;
            self.ears.lost();
        }
    }

    /// Is this the connection that calls go over now?
    pub(super) async fn is_present(&self, link: &Arc<Link>) -> bool {
        self.present.lock().await.as_ref().is_some_and(|found| Arc::ptr_eq(found, link))
    }

    /// The furthest that was seen.
    pub(super) fn seen(&self) -> Seen {
        *self.seen.lock().expect("no holder panics")
    }

    /// A reply showed this. Positions are comparable within a lineage only.
    pub(super) fn saw(&self, lineage: u64, lsn: PgLsn) {
        let mut seen = self.seen.lock().expect("no holder panics");
        if lineage > seen.lineage || (lineage == seen.lineage && lsn > seen.lsn) {
            *seen = Seen { lineage, lsn };
        }
    }
}
