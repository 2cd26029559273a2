//! The listening side: a greeting for every process that dials, hints from those that can sign.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::LifelineConfig;
use super::address::{self, Address};
use super::key::Key;
use super::wire::{self, LifelineHint};
use crate::drive::Inbox;
use crate::error::BuildError;

/// Hints taken from one connection. A peer has one to tell and goes.
const HINTS_MAX: usize = 16;

/// Hints of a kind taken in one second, from all connections together. Only signed ones are
/// counted, so that a flood from elsewhere leaves all of it to the other nodes. When partitions
/// move, every node of a large cluster tells the leader twice within a moment.
const HINTS_A_SECOND: u32 = 500;

const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A process's lifeline. The listening socket stays open for as long as anything of it lives.
pub(crate) struct Lifeline {
    pub(crate) listener: TcpListener,
    boot: BootId,
    key: Key,
    /// The address that others dial, with the key.
    pub(crate) advertised: Arc<str>,
    connections_max: usize,
}

impl Lifeline {
    /// Listens; `None` if it is switched off.
    pub(crate) fn listen(
        config: &LifelineConfig,
        boot: BootId,
    ) -> Result<Option<Self>, BuildError> {
        if !config.enabled {
            return Ok(None);
        }
        let bind = address::canonical(config.bind);
        let mut advertised = config.advertise.map_or(bind, address::canonical);
        if advertised.ip().is_unspecified() {
            return Err(BuildError::Unadvertised(advertised));
        }
        let refused = |source| BuildError::Lifeline { address: bind, source };
        let listener = TcpListener::bind(bind).map_err(refused)?;
        let bound = listener.local_addr().map_err(refused)?;
        if advertised.port() == 0 {
            advertised.set_port(bound.port());
        }
        let key = Key::draw()?;
        let advertised = Arc::from(key.published_with(&Address::advertised(advertised, bound)));
        let connections_max = config.connections_max;
        Ok(Some(Self { listener, boot, key, advertised, connections_max }))
    }

    /// The listening socket again: while any copy of it is open, no dial is refused.
    pub(crate) fn descriptor(&self) -> std::io::Result<OwnedFd> {
        Ok(OwnedFd::from(self.listener.try_clone()?))
    }

    /// Answers every node that dials, until it is dropped.
    pub(crate) fn serve(
        &self,
        inbox: Arc<Inbox>,
    ) -> std::io::Result<impl Future<Output = ()> + use<>> {
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        let (boot, connections_max) = (self.boot, self.connections_max);
        let hints = HintReceiver { inbox, key: self.key, budget: Arc::default() };
        Ok(async move {
            let listener = tokio::net::TcpListener::from_std(listener)
                .expect("it is a listening socket that does not block");
            let mut connections = JoinSet::new();
            loop {
                let pause = || SystemClock.sleep(ACCEPT_AGAIN_AFTER);
                let (stream, _) = accepted(|| listener.accept(), pause).await;
                while connections.try_join_next().is_some() {}
                let kept = connections.len() < connections_max;
                connections.spawn(converse(stream, boot, kept, hints.clone()));
            }
        })
    }
}

/// The next connection. A failed accept is the peer's trouble, or a shortage of descriptors that
/// passes: the socket still listens, and until the next attempt the kernel keeps whatever dials. To
/// attempt it again at once would take a whole core, for the connection that waits stays there.
async fn accepted<T, A, P>(attempt: impl Fn() -> A, pause: impl Fn() -> P) -> T
where
    A: Future<Output = std::io::Result<T>>,
    P: Future<Output = ()>,
{
    loop {
        match attempt().await {
            Ok(connection) => return connection,
            Err(_) => pause().await,
        }
    }
}

async fn converse(mut stream: TcpStream, boot: BootId, kept: bool, hints: HintReceiver) {
    let greeted = stream.write_all(wire::greeting(boot).as_bytes()).await;
    if greeted.is_err() || !kept {
        return;
    }
    let mut reader = BufReader::new(stream);
    let mut count = 0;
    while let Ok(Some(line)) = wire::line(&mut reader).await {
        let Some((namespace, hint)) = wire::parse_hint(hints.key, &line) else { return };
        count += 1;
        let (budget, now) = (&hints.budget, SystemClock.now());
        match hint {
            _ if count > HINTS_MAX => return,
            LifelineHint::Core(hint) if budget.core.allows(now) => {
                hints.inbox.hint_all(&namespace, &hint);
            }
            LifelineHint::Service { topic } if budget.services.allows(now) => {
                hints.inbox.hint_services(&namespace, &topic);
            }
            LifelineHint::Core(_) | LifelineHint::Service { .. } => return,
        }
    }
}

/// Where hints go that are signed with the key.
#[derive(Clone)]
struct HintReceiver {
    inbox: Arc<Inbox>,
    key: Key,
    budget: Arc<HintBudgets>,
}

/// What is taken in a second, however many connections bring it. The services have a budget of
/// their own: no flood of theirs takes anything from the node's.
#[derive(Default)]
struct HintBudgets {
    core: HintBudget,
    services: HintBudget,
}

#[derive(Default)]
struct HintBudget(Mutex<(Moment, u32)>);

impl HintBudget {
    fn allows(&self, now: Moment) -> bool {
        let mut spent = self.0.lock().expect("no holder panics");
        if now.since(spent.0) >= Duration::from_secs(1) {
            *spent = (now, 0);
        }
        spent.1 += 1;
        spent.1 <= HINTS_A_SECOND
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::ready;
    use std::io;

    use super::*;

    #[tokio::test]
    async fn after_a_failed_accept_comes_a_pause_before_the_next() {
        let steps = RefCell::new(Vec::new());
        let attempt = || {
            steps.borrow_mut().push("accept");
            ready(match steps.borrow().len() {
                7.. => Ok("connection"),
                _ => Err(io::Error::other("no descriptors are left")),
            })
        };
        let pause = async || steps.borrow_mut().push("pause");
        assert_eq!(accepted(attempt, pause).await, "connection");
        let one = ["accept", "pause"];
        assert_eq!(steps.into_inner(), [&one[..], &one, &one, &["accept"]].concat());
    }

    #[test]
    fn hints_beyond_the_budget_of_a_second_are_dropped() {
        let budget = HintBudget::default();
        let at = |ms: u64| Moment::from_micros(10_000_000 + ms * 1_000);
        let allowed = (0..800).filter(|ms| budget.allows(at(*ms))).count();
        assert_eq!(allowed, 500);
        assert!(budget.allows(at(1_001)));
    }
}
