//! A server as tests see it: one that was started for them, or one that the environment names.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::external::ExternalServer;
use super::kind::Kind;
use super::started::{Options, StartedServer};
use crate::error::TestbedError;

/// A server of a test's own. Killed with -9 when it is dropped, and its temporary folder removed.
///
/// If the environment names one, that is used instead, and nothing can be done to it but to
/// connect: everything else is [`TestbedError::NotOurs`].
pub struct Server {
    kind: Kind,
    origin: Origin,
}

enum Origin {
    Started(Box<StartedServer>),
    External(ExternalServer),
}

impl Server {
    /// Starts one, and waits until it answers. Installs it if it is missing and that is allowed.
    pub async fn start(kind: Kind) -> Result<Self, TestbedError> {
        let origin = match ExternalServer::by_environment(kind)? {
            Some(named) => Origin::External(named),
            None => {
                Origin::Started(Box::new(StartedServer::start(kind, Options::default()).await?))
            }
        };
        Ok(Self { kind, origin })
    }

    /// Starts one with wishes, which only one of our own can fulfil: the environment is not asked.
    pub async fn start_with(kind: Kind, options: Options) -> Result<Self, TestbedError> {
        let ours = StartedServer::start(kind, options).await?;
        Ok(Self { kind, origin: Origin::Started(Box::new(ours)) })
    }

    /// Which server it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What baton opens.
    pub fn url(&self) -> String {
        self.url_at(self.address())
    }

    /// The same, with a proxy at another address in between.
    pub fn url_at(&self, address: SocketAddr) -> String {
        match &self.origin {
            Origin::Started(_) => self.kind.url(address),
            Origin::External(named) => named.url_at(address),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        match &self.origin {
            Origin::Started(ours) => ours.address(),
            Origin::External(named) => named.address,
        }
    }

    /// Where its data lies.
    pub fn folder(&self) -> Result<&Path, TestbedError> {
        self.started().map(StartedServer::folder)
    }

    /// Its process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.started().ok().and_then(|ours| ours.pid().ok())
    }

    /// Kills it and its children with -9, and waits until they are gone.
    pub async fn kill(&self) -> Result<(), TestbedError> {
        self.started()?.kill();
        Ok(())
    }

    /// Stops it as its manual says, and waits until it is gone.
    pub async fn stop(&self) -> Result<(), TestbedError> {
        self.started()?.stop().await;
        Ok(())
    }

    /// Starts it at the same port with the same data, and waits until it answers.
    pub async fn start_again(&self) -> Result<(), TestbedError> {
        self.started()?.start_again().await
    }

    /// Stops time for it and all its children, with SIGSTOP.
    pub fn pause(&self) -> Result<(), TestbedError> {
        self.started()?.pause()
    }

    /// Lets it go on.
    pub fn resume(&self) -> Result<(), TestbedError> {
        self.started()?.resume()
    }

    /// Steps its wall clock by this many seconds. Needs [`Options::faketime`].
    pub fn step_clock(&self, seconds: i64) -> Result<(), TestbedError> {
        self.started()?.step_clock(seconds)
    }

    /// The processor time that it and its children have used, in hundredths of a second.
    pub fn cpu(&self) -> Result<Duration, TestbedError> {
        self.started()?.cpu()
    }

    fn started(&self) -> Result<&StartedServer, TestbedError> {
        match &self.origin {
            Origin::Started(ours) => Ok(ours),
            Origin::External(named) => Err(TestbedError::NotOurs { variable: named.variable }),
        }
    }
}
