//! Building a node: its identity, its settings, and its work as a leader.

use std::collections::BTreeMap;
#[cfg(feature = "http")]
use std::fmt::Debug;
#[cfg(feature = "http")]
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};

use baton_core::ids::{InvalidName, Namespace, NodeId};
use baton_core::protocol::NodeProfile;
use baton_core::settings::{Profile, Settings};
use baton_core::{Core, Identity};
use baton_store::Store;
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::Count;
use tokio::sync::watch;

use crate::drive::{Host, NodeTask, Watchdog, WorkRuntime};
use crate::error::BuildError;
use crate::event::{EventSender, Events};
use crate::lifeline::LifelineConfig;
use crate::node::{LeavesOnDrop, Node};
use crate::observe::NodeCounts;
#[cfg(feature = "http")]
use crate::observe::http::Endpoint;
#[cfg(feature = "otel")]
use crate::observe::otel::Telemetry;
use crate::partitions::{self, PartitionSetup};
use crate::plugin::{Plugin, PluginSet};
use crate::plugins::schedules::{self, Jobs, ScheduledJob};
use crate::random;
use crate::service::Service;
use crate::shared::Shared;

/// The host that a node runs on.
pub(crate) enum HostChoice {
    /// A thread of its own, with this store.
    New { store: Arc<dyn Store>, lifeline: LifelineConfig },
    /// The thread of another node, whose endpoint it shares unless it is given one.
    Existing {
        host: Arc<Host>,
        #[cfg(feature = "http")]
        endpoint: Option<Arc<Endpoint>>,
    },
}

/// Builds a [`Node`]. Everything but the store has a default.
#[must_use = "a node takes part once it is built"]
pub struct NodeBuilder {
    host_choice: HostChoice,
    namespace: Option<Result<Namespace, InvalidName>>,
    id: Option<Result<NodeId, InvalidName>>,
    settings: Settings,
    labels: BTreeMap<String, String>,
    version: String,
    plugins: Vec<Arc<dyn Plugin>>,
    services: Vec<Arc<dyn Service>>,
    jobs: Vec<ScheduledJob>,
    schedule_store: Option<Arc<dyn Store>>,
    pub(crate) partitions: PartitionSetup,
    runtime: Option<tokio::runtime::Handle>,
    abort_on_overrun: bool,
    #[cfg(feature = "http")]
    endpoint: Option<Result<SocketAddr, BuildError>>,
    #[cfg(feature = "http")]
    endpoint_hosts: Vec<String>,
    #[cfg(feature = "otel")]
    telemetry: Option<Telemetry>,
}

impl NodeBuilder {
    pub(crate) fn beside(node: &Node) -> Self {
        let builder = Self::on(HostChoice::Existing {
            host: node.host.clone(),
            #[cfg(feature = "http")]
            endpoint: node.endpoint.clone(),
        });
        let profile = &node.shared.profile;
        Self {
            id: Some(Ok(node.id().clone())),
            settings: node.settings(),
            labels: profile.labels.clone(),
            version: profile.version.clone(),
            ..builder
        }
    }

    pub(crate) fn on(host_choice: HostChoice) -> Self {
        Self {
            host_choice,
            namespace: None,
            id: None,
            settings: Settings::default(),
            labels: BTreeMap::new(),
            version: String::new(),
            plugins: Vec::new(),
            services: Vec::new(),
            jobs: Vec::new(),
            schedule_store: None,
            partitions: PartitionSetup::default(),
            runtime: None,
            abort_on_overrun: false,
            #[cfg(feature = "http")]
            endpoint: None,
            #[cfg(feature = "http")]
            endpoint_hosts: Vec::new(),
            #[cfg(feature = "otel")]
            telemetry: None,
        }
    }

    /// The namespace, as a [`Namespace`] or as text; `default` unless given. The nodes of one
    /// namespace elect one leader. Text that is no valid name is refused by [`build`](Self::build).
    pub fn namespace<N>(mut self, namespace: N) -> Self
    where
        N: TryInto<Namespace, Error: Into<InvalidName>>,
    {
        self.namespace = Some(namespace.try_into().map_err(Into::into));
        self
    }

    /// The node's name, as a [`NodeId`] or as text; unless given, one is generated that sorts by
    /// the time of the start. Text that is no valid name is refused by [`build`](Self::build).
    pub fn id<I>(mut self, id: I) -> Self
    where
        I: TryInto<NodeId, Error: Into<InvalidName>>,
    {
        self.id = Some(id.try_into().map_err(Into::into));
        self
    }

    /// All settings at once.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The settings of a profile.
    pub fn profile(self, profile: Profile) -> Self {
        self.settings(profile.settings())
    }

    /// Changes some settings.
    pub fn tune(mut self, tune: impl FnOnce(&mut Settings)) -> Self {
        tune(&mut self.settings);
        self
    }

    /// A label that other nodes see.
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// The version of the service, for people.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// How the lifeline listens. A node [beside](Node::beside) another shares its lifeline.
    pub fn lifeline(mut self, config: LifelineConfig) -> Self {
        if let HostChoice::New { lifeline, .. } = &mut self.host_choice {
            *lifeline = config;
        }
        self
    }

    /// Adds work that this node does while it leads. Plugins start in the order they are added.
    pub fn plugin(mut self, plugin: impl Plugin) -> Self {
        self.plugins.push(Arc::new(plugin));
        self
    }

    /// Work for every node, whether it leads or not. Services start with the node.
    pub fn service(mut self, service: impl Service) -> Self {
        self.services.push(Arc::new(service));
        self
    }

    /// Adds work that runs once for each slot of a schedule, on the leader. What is wrong with a
    /// schedule is refused by [`build`](Self::build).
    pub fn schedule(mut self, job: ScheduledJob) -> Self {
        self.jobs.push(job);
        self
    }

    /// Another handle on the node's store for the schedules, so that many schedules and the beats
    /// do not share a connection.
    pub fn schedule_store(mut self, store: Arc<dyn Store>) -> Self {
        self.schedule_store = Some(store);
        self
    }

    /// The runtime that plugins and services run on. Unless given, the node starts one of its own
    /// with the first of them.
    pub fn runtime(mut self, runtime: tokio::runtime::Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Aborts the process when work goes on past the hard deadline, instead of only reporting it.
    pub fn abort_on_overrun(mut self) -> Self {
        self.abort_on_overrun = true;
        self
    }

    /// Answers over HTTP at this address, such as `"127.0.0.1:9090"`: `/metrics`, `/livez`,
    /// `/readyz`, `/leader`, which is 200 only while this node leads, and `/follower`. Port 0 takes
    /// a free one: see [`Node::metrics_endpoint`]. The name of a host is looked up by this call,
    /// and its first address is used. What is no address is refused by [`build`](Self::build).
    ///
    /// Every program that reaches the address may read: use the loopback interface or a private
    /// network. A node [beside](Node::beside) another shares its endpoint unless it is given one.
    #[cfg(feature = "http")]
    pub fn metrics(mut self, address: impl ToSocketAddrs + Debug) -> Self {
        let none = || std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
        let first = address.to_socket_addrs().and_then(|mut all| all.next().ok_or_else(none));
        let refused =
            |source| BuildError::EndpointAddress { given: format!("{address:?}"), source };
        self.endpoint = Some(first.map_err(refused));
        self
    }

    /// Further host names that requests to the endpoint of [`metrics`](Self::metrics) may have.
    /// Addresses and `localhost` need none; a request by any other name is refused, so that a web
    /// page cannot read the endpoint through a name that it makes resolve to this machine.
    #[cfg(feature = "http")]
    pub fn metrics_hosts(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.endpoint_hosts = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sends traces and metrics there, from the node's start on.
    #[cfg(feature = "otel")]
    pub fn telemetry(mut self, telemetry: Telemetry) -> Self {
        self.telemetry = Some(telemetry);
        self
    }

    /// Starts the node. It takes part at once, and leads when it is elected.
    pub fn build(self) -> Result<Node, BuildError> {
        self.build_with_events().map(|(node, _)| node)
    }

    /// Starts the node, and returns its events from the first on too.
    pub fn build_with_events(mut self) -> Result<(Node, Events), BuildError> {
        self.settings.check()?;
        let id = self.id.take().transpose()?.map_or_else(random::node_id, Ok)?;
        let namespace = self.namespace.take().unwrap_or_else(|| Namespace::new("default"))?;
        #[cfg(feature = "http")]
        let endpoint = match (self.endpoint.take(), &self.host_choice) {
            (Some(address), _) => {
                let hosts = std::mem::take(&mut self.endpoint_hosts);
                Some(Arc::new(Endpoint::serve(address?, hosts)?))
            }
            (None, HostChoice::Existing { endpoint, .. }) => endpoint.clone(),
            (None, HostChoice::New { .. }) => None,
        };
        let host = match &self.host_choice {
            HostChoice::New { store, lifeline } => {
                // Single-instance mode has no successors to keep a line to.
                let off = LifelineConfig::off();
                let lifeline = if self.settings.enabled { lifeline } else { &off };
                Host::start(store.clone(), lifeline, self.runtime.clone())?
            }
            HostChoice::Existing { host, .. } => host.clone(),
        };
        let abort_on_overrun = self.abort_on_overrun;
        let (shared, core) = self.shared(&host, namespace, id)?;
        let task = NodeTask::new(core, shared.clone(), abort_on_overrun);
        let events = shared.events.subscribe();
        shared.report_if_unwatched(&[]);
        if !host.inbox.start(task) {
            return Err(BuildError::Gone);
        }
        #[cfg(feature = "http")]
        if let Some(endpoint) = &endpoint {
            endpoint.add(&shared);
        }
        let node = Node {
            _leaves_on_drop: Arc::new(LeavesOnDrop(shared.clone())),
            shared,
            host,
            #[cfg(feature = "http")]
            endpoint,
        };
        Ok((node, events))
    }

    /// What every thread sees of the node, and its core.
    fn shared(
        self,
        host: &Host,
        namespace: Namespace,
        id: NodeId,
    ) -> Result<(Arc<Shared>, Core), BuildError> {
        let profile = Arc::new(NodeProfile {
            priority: self.settings.priority,
            labels: self.labels,
            lifeline: host.lifeline.as_ref().map(|lifeline| lifeline.advertised.clone()),
            version: self.version,
        });
        let me = Identity { id: id.clone(), boot: host.boot, profile: profile.clone() };
        let watchdog = Watchdog::new(&self.settings, SystemClock.now());
        let settings = Arc::new(self.settings);
        let core = Core::new(me, settings.clone(), random::seed()?)?;
        let counts = Arc::<NodeCounts>::default();
        let logs = host.logs.clone();
        let events = EventSender::new(namespace.clone(), id.clone(), counts.clone(), logs);
        let observer = None;
        #[cfg(feature = "otel")]
        let (events, observer) = match &self.telemetry {
            Some(telemetry) => telemetry.trace(events, (&namespace, &id)),
            None => (events, observer),
        };
        let clock = Arc::new(SystemClock);
        let counted = Arc::new(Count::around(host.store.clone(), clock, observer));
        let own = self.runtime.map(|it| WorkRuntime::new(Some(it)));
        let runtime = own.unwrap_or_else(|| host.work.clone());
        let plugins = PluginSet::new(runtime, settings.clone());
        self.plugins.into_iter().try_for_each(|plugin| plugins.add(plugin))?;
        self.services.into_iter().try_for_each(|it| plugins.add_service(it).map(drop))?;
        let records: Arc<dyn Store> = match settings.enabled {
            true => counted.clone(),
            false => Arc::new(baton_drivers::memory()),
        };
        let jobs = Arc::new(Jobs::new(self.schedule_store.filter(|_| settings.enabled)));
        if !self.jobs.is_empty() {
            jobs.add(self.jobs)?;
            schedules::host(&plugins, &jobs)?;
        }
        let partitions = partitions::host(&plugins, self.partitions)?;
        let shared = Arc::new(Shared {
            task_id: host.next_task_id(),
            events,
            plugins: Arc::new(plugins),
            jobs,
            partitions,
            namespace,
            id,
            boot: host.boot,
            profile,
            settings,
            store: counted.clone(),
            records,
            counted,
            counts,
            inbox: host.inbox.clone(),
            reports: host.reports.clone(),
            fence: Mutex::new(core.snapshot().fence),
            snapshot: watch::channel(Arc::new(core.snapshot())).0,
            readings: watch::channel(None).0,
            term: watch::channel(None).0,
            departed: watch::channel(None).0,
            leaves_by: OnceLock::new(),
            leads_until: AtomicU64::new(0),
            watchdog,
            lifelines: Mutex::default(),
            is_unwatched: AtomicBool::new(false),
            store_error: Mutex::default(),
        });
        #[cfg(feature = "otel")]
        if let Some(telemetry) = &self.telemetry {
            telemetry.measure(&shared);
        }
        Ok((shared, core))
    }
}

impl std::fmt::Debug for NodeBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeBuilder")
            .field("id", &self.id)
            .field("namespace", &self.namespace)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
