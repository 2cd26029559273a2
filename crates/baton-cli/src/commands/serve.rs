//! `baton serve`: a node without work of its own. It registers, may lead, and prints what happens.

use std::pin::pin;

use baton::{Departure, Event, Events, LateNotice, Node, NodeBuilder, Stamped};

use crate::config::{Config, NodeFlags};
use crate::error::{CommandError, Exit};
#[cfg(target_os = "linux")]
use crate::guard::reap_orphans;
use crate::output::log::{self, Format, Level};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::times::{span, utc_ms};
use crate::serve_plugins::add_serve_plugins;
use crate::{crash_notice, node, open_store};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    node: NodeFlags,
    /// Print each event as a line of JSON.
    #[arg(long)]
    json: bool,
    /// Print routine events as well, such as beats.
    #[arg(long)]
    verbose: bool,
}

pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let config = open_store::load_node(&arguments.node.0)?;
    let store = node::store(&config).await?;
    let telemetry = node::Telemetry::of(&config)?;
    let builder = telemetry.attach(node::builder(&config, store.clone()));
    let builder = add_serve_plugins(builder, &config)?;
    let builder = add_task_lists(builder, &config).await?;
    let (builder, guards) = schedules::add(builder, &config).await?;
    let (node, mut events) = builder.build_with_events()?;
    guards.serve(&node);
    let notice = crash_notice::of_this_node(&config, Some(node.id()), &*store).await;
    node::introduce(&node, notice.as_ref(), Level::Info);
    let is_announced = false;
    let mut printer =
        EventPrinter { node: &node, config: &config, arguments, notice, is_announced };
    let departure = tokio::select! {
        biased;
        departure = take_part(&node, &mut events, &mut printer) => departure?,
        never = reap_orphans() => match never {},
    };
    guards.close().await;
    departed(&node, departure)
}

/// The `[[task_list]]` tables of the file. The node owns no partitions: while it leads it
/// coordinates those of the namespace, also of lists that it does not declare.
async fn add_task_lists(
    builder: NodeBuilder,
    config: &Config,
) -> Result<NodeBuilder, CommandError> {
    if !config.settings.enabled {
        // No other node shares the store of a node that leads alone.
        return Ok(builder);
    }
    let mut builder = builder.coordinate_partitions();
    if !config.task_lists.is_empty() {
        // Documents of many partitions must not keep the beats waiting.
        builder = builder.partition_store(open_store::open(&config.store).await?);
    }
    let lists = config.task_lists.iter().map(|table| table.list.clone());
    Ok(lists.fold(builder, NodeBuilder::task_list))
}

/// The `[[schedule]]` tables of the file. Their commands need the guard, which Linux alone has.
#[cfg(target_os = "linux")]
mod schedules {
    use std::sync::Arc;

    use baton::NodeBuilder;
    use baton::plugins::schedules::ScheduledJob;

    use crate::config::Config;
    use crate::error::CommandError;
    use crate::guard::GuardPool;
    use crate::open_store;
    use crate::scheduled_command::ScheduledCommand;

    pub async fn add(
        mut builder: NodeBuilder,
        config: &Config,
    ) -> Result<(NodeBuilder, Arc<GuardPool>), CommandError> {
        let guards = Arc::<GuardPool>::default();
        // Pages of many schedules must not keep the beats waiting. A node that leads alone has a
        // store of its own, which cannot be opened twice.
        if !config.schedules.is_empty() && config.settings.enabled {
            builder = builder.schedule_store(open_store::open(&config.store).await?);
        }
        for table in &config.schedules {
            let command = ScheduledCommand {
                command: table.command.clone(),
                namespace: config.namespace.clone(),
                store: config.store.without_secrets(),
                guards: guards.clone(),
                stop_grace: config.settings.stop_grace,
            };
            builder = builder.schedule(ScheduledJob::new(table.definition.clone(), command));
        }
        Ok((builder, guards))
    }
}

/// Elsewhere a file with schedules is refused.
#[cfg(not(target_os = "linux"))]
mod schedules {
    use baton::{Node, NodeBuilder};

    use crate::config::{Config, ConfigError};
    use crate::error::CommandError;

    pub struct NoGuards;

    impl NoGuards {
        pub fn serve(&self, _: &Node) {}

        pub async fn close(&self) {}
    }

    pub async fn add(
        builder: NodeBuilder,
        config: &Config,
    ) -> Result<(NodeBuilder, NoGuards), CommandError> {
        let Some(table) = config.schedules.first() else { return Ok((builder, NoGuards)) };
        let missing = "needs Linux, for the guard that stops the command; on this system use the \
                       library";
        Err(ConfigError::refused(&table.place, &missing).into())
    }
}

/// Process 1 of a container is Linux's.
#[cfg(not(target_os = "linux"))]
async fn reap_orphans() -> std::convert::Infallible {
    std::future::pending().await
}

/// Prints events until the node has left, and then those still in the queue.
async fn take_part(
    node: &Node,
    events: &mut Events,
    printer: &mut EventPrinter<'_>,
) -> Result<Departure, CommandError> {
    let mut leaving = pin!(node.until_signalled());
    let departure = loop {
        tokio::select! {
            biased;
            // First, so that a signal is handled before an event is printed.
            departure = &mut leaving => break departure,
            Some(event) = events.next() => printer.print(&event),
        }
    };
    loop {
        tokio::select! {
            biased;
            Some(event) = events.next() => printer.print(&event),
            () = std::future::ready(()) => break,
        }
    }
    departure.map_err(CommandError::system("no signals"))
}

/// Prints events, after a line that names the node.
struct EventPrinter<'a> {
    node: &'a Node,
    config: &'a Config,
    arguments: &'a Arguments,
    /// The warning of the start that a crash would be noticed late.
    notice: Option<LateNotice>,
    is_announced: bool,
}

impl EventPrinter<'_> {
    fn print(&mut self, stamped: &Stamped) {
        let event = &stamped.event;
        if log::is_routine(event) && !self.arguments.verbose {
            return;
        }
        let is_said =
            matches!(event, Event::LifelineUnwatched(it) if self.notice.as_ref() == Some(it));
        // A process that is not let in has nothing to say but the error it ends with.
        let is_let_in = !matches!(event, Event::NodeIdTaken { .. });
        if is_let_in && !log::is_routine(event) {
            self.announce();
        }
        let logged = log::format() == Format::Json;
        if logged {
            log::event(stamped);
        }
        if self.arguments.json {
            stdout::json_line(stamped);
        } else if is_let_in && !logged && !is_said {
            let at = utc_ms(stamped.at_ms);
            stdout::line(&format!("{at} {}", Tone::of(event).paint(&event.to_string())));
        }
        if matches!(event, Event::StoreRejected)
            && let Some(problem) = self.node.last_store_error()
        {
            log::error(&problem.to_string());
        }
    }

    fn announce(&mut self) {
        if std::mem::replace(&mut self.is_announced, true) {
            return;
        }
        let (id, namespace) = (self.node.id(), self.node.namespace());
        let store = &self.config.store;
        log::info(&format!("node {id} takes part in namespace {namespace} at {store}"));
    }
}

/// The message of a node that exits without having left.
pub fn unfinished(node: &Node) -> String {
    let (id, grace) = (node.id(), span(node.settings().stop_grace));
    format!(
        "node {id} exits without having left: its work or the store took longer than stop_grace \
         ({grace}) and one second; its lease and its record will expire"
    )
}

/// The exit of the process after its node has left.
pub fn departed(node: &Node, departure: Departure) -> Result<Exit, CommandError> {
    match departure {
        Departure::Left => Ok(Exit::DONE),
        Departure::Unfinished => {
            log::warn(&unfinished(node));
            Ok(Exit::DONE)
        }
        Departure::IdTaken { .. } => Err(CommandError::IdTaken { id: node.id().clone() }),
        Departure::Superseded { .. } => Err(CommandError::Superseded { id: node.id().clone() }),
        _ => Err(CommandError::Broken { id: node.id().clone() }),
    }
}
