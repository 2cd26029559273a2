//! `baton run --cron`: a node whose only work is one schedule, which runs a command.

use std::sync::Arc;

use baton::plugins::schedules::{Definition, ScheduledJob, own_namespace};
use baton::{Departure, Event, Events, Node, Stamped};

use super::Arguments;
use super::term::{Request, Signals};
use crate::commands::serve::departed;
use crate::error::{CommandError, Exit};
use crate::guard::{GuardPool, reap_orphans};
use crate::output::log::{self, Level};
use crate::scheduled_command::ScheduledCommand;
use crate::{crash_notice, node, open_store};

/// Runs the command once for each slot, whenever this node leads, until a signal comes.
pub async fn run(arguments: &Arguments, definition: Definition) -> Result<Exit, CommandError> {
    let mut config = open_store::load_node(&arguments.node.0)?;
    // Before the store is opened: it may take long to say what is wrong with it.
    let schedule = baton::plugins::schedules::resolve(definition.clone());
    schedule.map_err(|invalid| CommandError::Schedule(invalid.into()))?;
    let given = config.namespace.clone();
    // Schedules of other commands have other nodes: one leader could not run them all.
    config.namespace = own_namespace(&given, &definition.name)
        .map_err(|invalid| CommandError::Schedule(invalid.into()))?;
    let mut signals = Signals::listen().map_err(CommandError::system("no signals"))?;
    let store = node::store(&config).await?;
    let telemetry = node::Telemetry::of(&config)?;
    let guards = Arc::<GuardPool>::default();
    let command = ScheduledCommand {
        command: arguments.command.clone(),
        namespace: given,
        store: config.store.without_secrets(),
        guards: guards.clone(),
        stop_grace: config.settings.stop_grace,
    };
    let builder = telemetry.attach(node::builder(&config, store.clone()));
    let builder = builder.schedule(ScheduledJob::new(definition, command));
    let (node, mut events) = builder.build_with_events()?;
    guards.serve(&node);
    let least = if arguments.quiet { Level::Error } else { Level::Info };
    let notice = crash_notice::of_this_node(&config, Some(node.id()), &*store).await;
    node::introduce(&node, notice.as_ref(), least);
    let departure = tokio::select! {
        biased;
        departure = until_stopped(&node, &mut signals) => departure,
        () = tell(&node, &mut events, least) => unreachable!("it goes on for ever"),
        never = reap_orphans() => match never {},
    };
    while let Some(stamped) = events.try_next() {
        say(&stamped, least);
    }
    guards.close().await;
    departed(&node, departure)
}

/// Logs what happens to the schedule and to leadership, as it happens.
async fn tell(node: &Node, events: &mut Events, least: Level) {
    if least <= Level::Info {
        log::info(&format!("node {} stands by", node.id()));
    }
    while let Some(stamped) = events.next().await {
        say(&stamped, least);
        if let Event::StoreRejected | Event::BreakerOpen { .. } = stamped.event {
            let problem = node.last_store_error();
            problem.iter().for_each(|problem| log::error(&problem.to_string()));
        }
    }
    std::future::pending::<()>().await;
}

/// Waits for a signal to end, and leaves. The others have no command to go to: several may run, or
/// none.
async fn until_stopped(node: &Node, signals: &mut Signals) -> Departure {
    loop {
        tokio::select! {
            asked = signals.next() => if asked == Request::Stop {
                return node.leave().await;
            },
            departure = node.left() => return departure,
        }
    }
}

fn say(stamped: &Stamped, least: Level) {
    if log::format() == log::Format::Json {
        return log::event_from(stamped, least);
    }
    let event = &stamped.event;
    let is_worth_a_line = matches!(
        event,
        Event::ScheduleStarted { .. }
            | Event::ScheduleEnded { .. }
            | Event::ScheduleMissed { .. }
            | Event::CoordinatorPromoted { .. }
            | Event::CoordinatorDemoted { .. }
            | Event::PluginFailed { .. }
    );
    if !is_worth_a_line || event.level() < least {
        return;
    }
    match event.level() {
        Level::Debug | Level::Info => log::info(&event.to_string()),
        Level::Warn => log::warn(&event.to_string()),
        Level::Error => log::error(&event.to_string()),
    }
}
