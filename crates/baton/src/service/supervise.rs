//! Supervises the services of a node, from its start until it leaves. It runs on the node's own
//! thread, the services on threads of their own.

use std::sync::Arc;

use baton_core::Input;
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use super::{Progress, RegisteredService, ServiceContext};
use crate::drive::Message;
use crate::plugin::{Caller, Purpose, Restarts};
use crate::shared::Shared;

/// Starts every service that is added, and returns when the services were told to stop and all have
/// ended.
pub(crate) async fn supervise(node: Arc<Shared>) -> Message {
    let plugins = &node.plugins;
    let mut added = plugins.services_added();
    let mut running = JoinSet::new();
    while !plugins.services_life.has_ended() {
        added.mark_unchanged();
        for service in plugins.services() {
            let is_new = *service.progress.borrow() == Progress::New;
            if is_new {
                service.progress.send_replace(Progress::Running);
                running.spawn(keep_running(node.clone(), service));
            }
        }
        tokio::select! {
            biased;
            _ = plugins.services_life.ended() => {}
            changed = added.changed() => changed.expect("the set has a sender"),
            Some(_) = running.join_next() => {}
        }
    }
    while running.join_next().await.is_some() {}
    Message::Input { node: node.task, input: Input::ServicesRun(false) }
}

struct Ends(Arc<RegisteredService>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.progress.send_replace(Progress::Ended);
    }
}

/// Runs a service, again and again after failures, until it ends, is to stop, or gives up.
async fn keep_running(node: Arc<Shared>, service: Arc<RegisteredService>) {
    let ends = Ends(service);
    let service = &ends.0;
    let stats = &service.registered.stats;
    let mut restarts = Restarts::new(service.registered.restart);
    let caller = Caller {
        node: &node,
        registered: &service.registered,
        life: &service.life,
        runtime: node.plugins.runtime(),
        epoch: None,
    };
    while !service.life.has_ended() {
        stats.working(SystemClock.wall_ms());
        let (work, context) = (service.service.clone(), ServiceContext::new(&node, service));
        let call = async move { work.run(&context).await };
        let (run, outcome) = caller.call(Purpose::Work, None, call).await;
        match outcome {
            Ok(()) => {
                stats.worked(run);
                break;
            }
            Err(_) if service.life.has_ended() => break,
            Err(failure) => {
                // It ran well for a while: the next pause is a short one again.
                if run.took() > service.registered.restart.backoff_max {
                    restarts.worked();
                }
                let pause = caller.pause_after(run, &failure, Purpose::Work, &mut restarts);
                if pause.await.is_err() {
                    return;
                }
            }
        }
    }
    stats.stopped();
}
