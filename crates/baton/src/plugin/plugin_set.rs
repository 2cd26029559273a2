//! The plugins and services of a node, in the order they were registered.

use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use baton_core::settings::Settings;
use baton_core::time::Moment;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::Plugin;
use super::caller::Registered;
use super::stats::{PluginReport, PluginStats, WorkKind};
use crate::drive::WorkRuntime;
use crate::error::BuildError;
use crate::service::{NewService, RegisteredService, Service};
use crate::term::Lifetime;

const NAME_MAX: usize = 100;

/// Why a plugin or a service was not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPluginName {
    /// Give it a name that can be part of a document's.
    #[error(
        "plugin name {name:?} is {length} bytes long; \
         1 to {NAME_MAX} letters, digits, '-', '_' and '.' are allowed"
    )]
    Unfit {
        /// What it is called.
        name: String,
        /// How long that is.
        length: usize,
    },
    /// Give one of the two another name.
    #[error("plugin name {name:?} is taken by another plugin of this node")]
    Taken {
        /// What it is called.
        name: String,
    },
}

/// A plugin, and all that is asked of it once.
pub(super) struct RegisteredPlugin {
    pub(super) registered: Arc<Registered>,
    pub(super) plugin: Arc<dyn Plugin>,
    pub(super) first_work_after: Duration,
    pub(super) start_timeout: Duration,
    pub(super) work_timeout: Option<Duration>,
}

#[derive(Default)]
struct Members {
    plugins: Vec<Arc<RegisteredPlugin>>,
    services: Vec<Arc<RegisteredService>>,
    new_services: Vec<NewService>,
    /// What is reported of discarded plugins.
    discarded: Vec<Arc<Registered>>,
}

impl Members {
    fn registered(&self) -> impl Iterator<Item = &Registered> {
        let plugins = self.plugins.iter().map(|it| &it.registered);
        let plugins = self.discarded.iter().chain(plugins).map(|it| &**it);
        plugins.chain(self.services.iter().map(|it| &it.registered))
    }
}

pub(crate) struct PluginSet {
    members: Mutex<Members>,
    count: watch::Sender<usize>,
    /// Counts the services that were ever added.
    services_added: watch::Sender<u64>,
    /// Ends when the services are to stop.
    pub(crate) services_life: Lifetime,
    /// Counts what is worth publishing at once.
    news: watch::Sender<u64>,
    /// Where they run: started with the first of them.
    work: WorkRuntime,
    settings: Arc<Settings>,
}

impl PluginSet {
    pub(crate) fn new(work: WorkRuntime, settings: Arc<Settings>) -> Self {
        Self {
            members: Mutex::default(),
            count: watch::channel(0).0,
            services_added: watch::channel(0).0,
            services_life: Lifetime::default(),
            news: watch::channel(0).0,
            work,
            settings,
        }
    }

    /// Adds a plugin; if a term runs, it starts at once.
    pub(crate) fn add(&self, plugin: Arc<dyn Plugin>) -> Result<(), BuildError> {
        let (name, interval) = (plugin.name().to_owned(), plugin.work_interval());
        let stats = PluginStats::new(&name, WorkKind::Plugin, interval, self.news.clone());
        let plugin = RegisteredPlugin {
            registered: Arc::new(Registered { name, restart: plugin.restart_policy(), stats }),
            first_work_after: plugin.first_work_after(&self.settings),
            start_timeout: plugin.start_timeout(),
            work_timeout: plugin.work_timeout(),
            plugin,
        };
        let mut members = self.members();
        self.accept(&members, &plugin.registered.name)?;
        members.plugins.push(Arc::new(plugin));
        self.count.send_replace(members.plugins.len());
        Ok(())
    }

    /// Adds a service; if the node runs, it starts at once.
    pub(crate) fn add_service(
        &self,
        service: Arc<dyn Service>,
    ) -> Result<Arc<RegisteredService>, BuildError> {
        let name = service.name().to_owned();
        let stats = PluginStats::new(&name, WorkKind::Service, Duration::ZERO, self.news.clone());
        let registered = Registered { name, restart: service.restart_policy(), stats };
        let mut members = self.members();
        self.accept(&members, &registered.name)?;
        let registered = Arc::new(RegisteredService::new(registered));
        members.services.push(registered.clone());
        members.new_services.push((registered.clone(), service));
        self.services_added.send_modify(|count| *count += 1);
        Ok(registered)
    }

    /// Is this name a new and valid one? Starts the threads that the first of them needs.
    fn accept(&self, members: &Members, name: &str) -> Result<(), BuildError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let (length, name) = (name.len(), name.to_owned());
        if name.is_empty() || length > NAME_MAX || !name.chars().all(allowed) {
            return Err(InvalidPluginName::Unfit { length, name }.into());
        }
        if members.registered().any(|it| it.name == name) {
            return Err(InvalidPluginName::Taken { name }.into());
        }
        self.work.handle()?;
        Ok(())
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().expect("no holder panics")
    }

    pub(super) fn from(&self, first: usize) -> Vec<Arc<RegisteredPlugin>> {
        self.members().plugins.iter().skip(first).cloned().collect()
    }

    pub(super) async fn more_than(&self, known: usize) {
        let mut count = self.count.subscribe();
        let more = count.wait_for(|count| *count > known).await;
        more.expect("the sender lives as long as the set it is asked of");
    }

    pub(crate) fn services(&self) -> Vec<Arc<RegisteredService>> {
        self.members().services.clone()
    }

    /// The services that were added since this was last asked.
    pub(crate) fn take_new_services(&self) -> Vec<NewService> {
        take(&mut self.members().new_services)
    }

    pub(crate) fn services_added(&self) -> watch::Receiver<u64> {
        self.services_added.subscribe()
    }

    /// A service has stopped for good, and its name is free again.
    pub(crate) fn remove_service(&self, service: &Arc<RegisteredService>) {
        self.members().services.retain(|it| !Arc::ptr_eq(it, service));
    }

    /// The services are to stop by then. Returns whether any of them runs.
    pub(crate) fn stop_services(&self, by: Moment) -> bool {
        self.services_life.end(by);
        let services = self.services();
        services.iter().for_each(|service| service.life.end(by));
        services.iter().any(|service| service.is_running())
    }

    pub(crate) fn hint(&self, topic: &str) {
        let members = self.members();
        let service = members.services.iter().find(|it| it.registered.name == topic);
        service.into_iter().for_each(|service| service.hinted.notify_one());
    }

    /// Signals what is worth publishing at once.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// What each did so far: the plugins, then the services.
    pub(crate) fn reports(&self) -> Vec<PluginReport> {
        self.members().registered().map(|it| it.stats.report()).collect()
    }

    /// Drops the plugins, and the services that never ran, of a node that is leaving and begins no
    /// further term. They may hold the node or its last term, which would then never end. What is
    /// reported of them stays.
    pub(crate) fn discard(&self) {
        let mut members = self.members();
        let (plugins, services) = (take(&mut members.plugins), take(&mut members.new_services));
        members.discarded.extend(plugins.iter().map(|it| it.registered.clone()));
        drop(members);
        // Not on the caller's thread, which is the node's: it runs no code of theirs.
        if !(plugins.is_empty() && services.is_empty())
            && let Ok(runtime) = self.work.handle()
        {
            runtime.spawn(async move { drop((plugins, services)) });
        }
    }

    pub(crate) fn prepare(&self) {
        for plugin in self.from(0) {
            self.runtime().spawn(async move { plugin.plugin.prepare().await });
        }
    }

    /// Where plugins and services run. For the node's own thread, which ends after the last of
    /// them.
    pub(crate) fn runtime(&self) -> Handle {
        self.work.handle().expect("it was started with the first plugin or service")
    }
}
