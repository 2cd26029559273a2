//! A plugin from a closure.

use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;

use super::restart::RestartPolicy;
use super::{Plugin, PluginError};
use crate::leadership::Leadership;

/// Work that is done every so often, by the leader alone.
///
/// ```
/// # use std::time::Duration;
/// use baton::{Node, every};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let report = every("report", Duration::from_secs(60), |term| async move {
///     println!("epoch {} reports", term.epoch());
///     Ok(())
/// });
/// let node = Node::builder(baton::open("sqlite://app.db").await?).plugin(report).build()?;
/// # node.leave().await;
/// # Ok(())
/// # }
/// ```
pub fn every<F, Work>(name: impl Into<String>, interval: Duration, work: F) -> Every<F>
where
    F: Fn(Leadership) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<(), PluginError>> + Send + 'static,
{
    let restart = RestartPolicy::default();
    Every { name: name.into(), interval, timeout: None, restart, work }
}

/// What [`every`] makes.
#[derive(Debug)]
#[must_use = "a plugin works once a node has it"]
pub struct Every<F> {
    name: String,
    interval: Duration,
    timeout: Option<Duration>,
    restart: RestartPolicy,
    work: F,
}

impl<F> Every<F> {
    /// How long one call may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How often and how fast it is started again after a failure.
    pub fn restart(mut self, policy: RestartPolicy) -> Self {
        self.restart = policy;
        self
    }
}

#[async_trait]
impl<F, Work> Plugin for Every<F>
where
    F: Fn(Leadership) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<(), PluginError>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn work_interval(&self) -> Duration {
        self.interval
    }

    fn work_timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn restart_policy(&self) -> RestartPolicy {
        self.restart
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        (self.work)(term.clone()).await
    }
}
