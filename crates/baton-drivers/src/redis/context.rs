//! Every call becomes one script, sent once.

use std::sync::Arc;

use ::redis::{RedisResult, Value};
use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_core::protocol::{Outcome, Reply, Request};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{
    Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, HintStream, Inspection,
    StoreError,
};

use super::config::RedisConfig;
use super::connect::{Dialer, Link, within};
use super::error::{self, NoLink};
use super::hints::Listeners;
use super::lease::{push_release, snapshot};
use super::line::{Line, Mark, Seen};
use super::reply::Pieces;
use super::schema::Names;
use super::script::{Arguments, Step, Steps};
use super::{NAME, beat, examine, history, registry, rights};
use crate::reader::Access;
use crate::refusal::Refusal;
use crate::service::Engine;

/// A store in a Redis server.
pub(super) struct Redis {
    pub(super) line: Line,
    pub(super) names: Names,
    pub(super) steps: Steps,
    seen: Seen,
    listeners: Listeners,
}

impl Redis {
    /// Connects, and makes sure that this user may run what the steps run, if they are to write.
    pub(super) async fn open(config: RedisConfig, access: Access) -> Result<Self, Refusal> {
        let (place, timeout) = (config.place(), config.timeout);
        let refused = |problem: NoLink| problem.refusal(place.clone());
        let names = Names::new(&config);
        let dialer = Arc::new(Dialer::new(config).map_err(refused)?);
        let link = Arc::new(dialer.dial(None).await.map_err(refused)?);
        let steps = Steps::new();
        if access == Access::Write {
            let checked = within(timeout, rights::check(&link, &steps, &names)).await;
            let late = || Err(NoLink::Unreachable("it does not answer EVAL".to_owned()));
            checked.unwrap_or_else(late).map_err(refused)?;
        }
        Ok(Self {
            listeners: Listeners::new(Arc::clone(&dialer)),
            line: Line::new(dialer, link),
            names,
            steps,
            seen: Seen::default(),
        })
    }

    /// Runs a step, once.
    pub(super) async fn run(
        &self,
        namespace: &Namespace,
        step: &Step,
        own: Arguments,
    ) -> Result<Pieces, StoreError> {
        self.run_on(namespace, step, &self.names.keys(namespace), own).await
    }

    /// Runs a step on these keys, once.
    pub(super) async fn run_on(
        &self,
        namespace: &Namespace,
        step: &Step,
        keys: &[String],
        own: Arguments,
    ) -> Result<Pieces, StoreError> {
        let timeout = self.line.timeout();
        let began = SystemClock.now();
        let link = self.line.link().await?;
        let mut arguments = Arguments::default();
        let seen = self.seen.of(namespace);
        let syncs = self.line.dialer.config().syncs;
        arguments.maybe(syncs.then(|| seen.mark_us.to_string()));
        arguments.number(seen.lineage.0);
        arguments.push(namespace.as_str());
        arguments.append(own);
        let left = timeout.saturating_sub(SystemClock.now().since(began));
        let answer = within(left, send(&link, step, keys, &arguments)).await;
        let problem = match answer {
            Some(Ok(answer)) => return Pieces::of(step.name, answer),
            Some(Err(problem)) if !error::is_broken(&problem) => error::failed(&problem),
            Some(Err(problem)) => {
                self.line.part_with(&link);
                error::failed(&problem)
            }
            None => {
                self.line.part_with(&link);
                let detail = format!("no answer in {} ms", timeout.as_millis());
                StoreError::Unknown { detail }
            }
        };
        Err(problem)
    }

    /// Runs a step that may write, and notes the lineage it took place in.
    pub(super) async fn write(
        &self,
        namespace: &Namespace,
        step: &Step,
        own: Arguments,
    ) -> Result<Pieces, StoreError> {
        let mut pieces = self.run(namespace, step, own).await?;
        self.note(namespace, &mut pieces)?;
        Ok(pieces)
    }

    /// Notes the lineage that a step took place in.
    pub(super) fn note(
        &self,
        namespace: &Namespace,
        pieces: &mut Pieces,
    ) -> Result<(), StoreError> {
        self.seen.note(namespace, Mark { lineage: pieces.lineage()?, mark_us: 0 });
        Ok(())
    }

    async fn perform(&self, namespace: &Namespace, request: Request) -> Result<Reply, StoreError> {
        let mut own = Arguments::default();
        let step = match &request {
            Request::Beat(request) => {
                beat::push(&mut own, request);
                let pieces = self.run(namespace, &self.steps.beat, own).await?;
                let (reply, mark_us) = beat::reply(namespace, pieces)?;
                self.seen.note(namespace, Mark { lineage: reply.lineage, mark_us });
                return Ok(Reply::Beat(reply));
            }
            Request::ReadMembers => {
                let mut pieces = self.run(namespace, &self.steps.members, own).await?;
                let now_us = pieces.parsed()?;
                let members = registry::members(namespace, now_us, &pieces.pairs()?);
                return members.map(Reply::Members);
            }
            Request::PublishView { fence, view } => {
                own.number(fence.0);
                own.number(view.version.epoch.0);
                own.number(view.version.number);
                own.push(serde_json::to_vec(view).expect("a view is plain data"));
                &self.steps.publish_view
            }
            Request::Release(release) => {
                push_release(&mut own, release);
                &self.steps.release
            }
            Request::Leave { node, boot } => {
                own.push(node.as_str());
                own.push(boot.to_string());
                &self.steps.leave
            }
            Request::Ask { epoch, ask } => {
                own.number(epoch.0);
                own.push(serde_json::to_vec(ask).expect("an ask is plain data"));
                &self.steps.ask
            }
        };
        if let Some(hint) = request.hint_when_applied() {
            own.push(self.names.channel(namespace));
            own.push(serde_json::to_vec(&hint).expect("a hint is plain data"));
        }
        let mut pieces = self.write(namespace, step, own).await?;
        let outcome: Option<Outcome> = pieces.maybe_outcome()?;
        outcome.map(Reply::Done).ok_or_else(|| pieces.strange("its outcome"))
    }

    async fn inspect(&self, namespace: &Namespace) -> Result<Inspection, StoreError> {
        let mut pieces = self.run(namespace, &self.steps.inspect, Arguments::default()).await?;
        let lineage = pieces.lineage()?;
        let now_us = pieces.parsed()?;
        let view = pieces.maybe_text()?.map(|body| serde_json::from_str(&body)).transpose();
        let view = view.map_err(|problem| beat::spoilt_view(namespace, &problem))?;
        Ok(Inspection { lease: snapshot(namespace, now_us, pieces.pairs()?)?, lineage, view })
    }
}

/// One round trip; two if the server has not seen this script since it started, in which case the
/// first certainly did nothing.
pub(super) async fn send(
    link: &Link,
    step: &Step,
    keys: &[String],
    arguments: &Arguments,
) -> RedisResult<Value> {
    let mut connection = link.connection.clone();
    let answer = step.by_name(keys, arguments).query_async(&mut connection).await;
    match answer {
        Err(problem) if problem.code() == Some("NOSCRIPT") => {
            step.by_text(keys, arguments).query_async(&mut connection).await
        }
        answer => answer,
    }
}

#[async_trait]
impl Engine for Redis {
    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            class: Class::AsyncReplicated,
            expiry: ExpiryClock::Store,
            capabilities: [
                Capability::Push,
                Capability::MemberAge,
                Capability::Lineage,
                Capability::Counters,
            ]
            .into(),
        }
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        match call {
            Call::Core(request) => self.perform(namespace, request).await.map(Answer::Core),
            Call::Inspect => self.inspect(namespace).await.map(Answer::Inspected),
            Call::ReadDocument { name } => {
                self.read_document(namespace, name).await.map(Answer::Document)
            }
            Call::WriteDocument { name, body, precondition, fence } => {
                let write = self.write_document(namespace, name, body, precondition, fence);
                write.await.map(Answer::Written)
            }
            Call::Prune { fence, prune } => {
                self.prune(namespace, fence, &prune).await.map(Answer::Pruned)
            }
            Call::History { limit: 0 } => Ok(Answer::History(Vec::new())),
            Call::History { limit } => {
                let limit = u64::try_from(limit).unwrap_or(u64::MAX);
                let mut own = Arguments::default();
                own.number(limit.min(history::KEPT));
                let mut pieces = self.run(namespace, &self.steps.history, own).await?;
                history::terms(namespace, &pieces.list()?).map(Answer::History)
            }
            Call::Counters(call) => self.count(namespace, call).await.map(Answer::Counters),
        }
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        self.listeners.listen(self.names.channel(namespace)).await
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        examine::examine(self).await
    }
}
