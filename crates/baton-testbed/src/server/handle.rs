//! A server as tests see it: one that was started for them, or one that the environment names.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::kind::Kind;
use super::named::Named;
use super::ours::{Options, Ours};
use crate::error::TestbedError;

/// A server of a test's own. Killed with -9 when it is dropped, and its temporary folder removed.
///
/// If the environment names one, that is used instead, and nothing can be done to it but to
/// connect: everything else is [`TestbedError::NotOurs`].
pub struct Server {
    kind: Kind,
    whose: Whose,
}

enum Whose {
    Ours(Box<Ours>),
    Named(Named),
}

impl Server {
    /// Starts one, and waits until it answers. Installs it if it is missing and that is allowed.
    pub async fn start(kind: Kind) -> Result<Self, TestbedError> {
        let whose = match Named::by_environment(kind)? {
            Some(named) => Whose::Named(named),
            None => Whose::Ours(Box::new(Ours::start(kind, Options::default()).await?)),
        };
        Ok(Self { kind, whose })
    }

    /// Starts one with wishes, which only one of our own can fulfil: the environment is not asked.
    pub async fn start_with(kind: Kind, options: Options) -> Result<Self, TestbedError> {
        let ours = Ours::start(kind, options).await?;
        Ok(Self { kind, whose: Whose::Ours(Box::new(ours)) })
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
        match &self.whose {
            Whose::Ours(_) => self.kind.url(address),
            Whose::Named(named) => named.url_at(address),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        match &self.whose {
            Whose::Ours(ours) => ours.address(),
            Whose::Named(named) => named.address,
        }
    }

    /// Where its data lies.
    pub fn folder(&self) -> Result<&Path, TestbedError> {
        self.ours().map(Ours::folder)
    }

    /// Its process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.ours().ok().and_then(|ours| ours.pid().ok())
    }

    /// Kills it and its children with -9, and waits until they are gone.
    pub async fn kill(&self) -> Result<(), TestbedError> {
        self.ours()?.kill();
        Ok(())
    }

    /// Stops it as its manual says, and waits until it is gone.
    pub async fn stop(&self) -> Result<(), TestbedError> {
        self.ours()?.stop().await;
        Ok(())
    }

    /// Starts it at the same port with the same data, and waits until it answers.
    pub async fn start_again(&self) -> Result<(), TestbedError> {
        self.ours()?.start_again().await
    }

    /// Stops time for it and all its children, with SIGSTOP.
    pub fn pause(&self) -> Result<(), TestbedError> {
        self.ours()?.pause()
    }

    /// Lets it go on.
    pub fn resume(&self) -> Result<(), TestbedError> {
        self.ours()?.resume()
    }

    /// Steps its wall clock by this many seconds. Needs [`Options::faketime`].
    pub fn step_clock(&self, seconds: i64) -> Result<(), TestbedError> {
        self.ours()?.step_clock(seconds)
    }

    /// The processor time that it and its children have used, in hundredths of a second.
    pub fn cpu(&self) -> Result<Duration, TestbedError> {
        self.ours()?.cpu()
    }

    fn ours(&self) -> Result<&Ours, TestbedError> {
        match &self.whose {
            Whose::Ours(ours) => Ok(ours),
            Whose::Named(named) => Err(TestbedError::NotOurs { variable: named.variable }),
        }
    }
}
