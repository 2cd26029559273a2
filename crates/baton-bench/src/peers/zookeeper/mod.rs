//! ZooKeeper's lock, as its manual describes it: every client makes an ephemeral, numbered node.
//! The lowest number has the lock, and every other client watches the number before its own.
//!
//! ```text
//!   lock: create, children, watch the one before ──► wire: frames of the protocol ──► server
//! ```
//!
//! A session outlives its connection by the time that was agreed on; only a client that closes its
//! session ends it at once.

mod wire;

use async_trait::async_trait;

use super::lock::{Lock, TTL};
use crate::error::BenchError;
use wire::{RequestBody, Session};

const CREATE: i32 = 1;
const EXISTS: i32 = 3;
const CHILDREN: i32 = 8;
const CLOSE: i32 = -11;

const PERSISTENT: i32 = 0;
const EPHEMERAL_NUMBERED: i32 = 3;

const NO_NODE: i32 = -101;
const NODE_EXISTS: i32 = -110;

/// All rights, for every client.
const ALL_RIGHTS: i32 = 31;

/// A session, and the lock's node.
pub struct ZookeeperLock {
    session: Session,
    parent: String,
}

impl ZookeeperLock {
    /// Opens a session of its own.
    pub async fn connect(url: &str, parent: String) -> Result<Self, BenchError> {
        let server = url.trim_start_matches("zookeeper://");
        let session = Session::begin(server, TTL).await?;
        Ok(Self { session, parent })
    }

    /// Makes a node; `None` if there is one of that name.
    async fn create(&mut self, path: &str, flags: i32) -> Result<Option<String>, BenchError> {
        let body = RequestBody::default().text(path).number(0).number(1).number(ALL_RIGHTS);
        let body = body.text("world").text("anyone").number(flags);
        let mut reply = self.session.ask(CREATE, body).await?;
        match reply.problem {
            0 => Ok(Some(reply.text()?)),
            NODE_EXISTS => Ok(None),
            problem => Err(refused("create", problem)),
        }
    }

    /// The names of all sessions that want the lock, by number.
    async fn queue(&mut self) -> Result<Vec<String>, BenchError> {
        let body = RequestBody::default().text(&self.parent).flag(false);
        let mut reply = self.session.ask(CHILDREN, body).await?;
        if reply.problem != 0 {
            return Err(refused("children", reply.problem));
        }
        let count = reply.number()?;
        let mut names = (0..count).map(|_| reply.text()).collect::<Result<Vec<_>, _>>()?;
        names.sort();
        Ok(names)
    }

    /// Is the node there? If it is, its end sets the watch off.
    async fn watch(&mut self, path: &str) -> Result<bool, BenchError> {
        let reply = self.session.ask(EXISTS, RequestBody::default().text(path).flag(true)).await?;
        match reply.problem {
            0 => Ok(true),
            NO_NODE => Ok(false),
            problem => Err(refused("exists", problem)),
        }
    }
}

fn refused(what: &'static str, problem: i32) -> BenchError {
    BenchError::Answer { what, answer: format!("error {problem}") }
}

#[async_trait]
impl Lock for ZookeeperLock {
    async fn acquire(&mut self) -> Result<(), BenchError> {
        let parent = self.parent.clone();
        self.create(&parent, PERSISTENT).await?;
        let own = self.create(&format!("{parent}/n-"), EPHEMERAL_NUMBERED).await?;
        let own = own.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        loop {
            let queue = self.queue().await?;
            let before = queue.iter().rfind(|name| name.as_str() < own);
            let Some(before) = before else { return Ok(()) };
            let before = format!("{parent}/{before}");
            if self.watch(&before).await? {
                self.session.wait_for_watch(TTL / 3).await?;
            }
        }
    }

    async fn renew(&mut self) -> Result<(), BenchError> {
        self.session.ping().await
    }

    async fn release(&mut self) -> Result<(), BenchError> {
        self.session.ask(CLOSE, RequestBody::default()).await.map(drop)
    }
}
