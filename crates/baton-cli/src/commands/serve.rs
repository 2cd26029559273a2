//! `baton serve`: a node without work of its own. It registers, may lead, and prints what happens.

use std::pin::pin;

use baton::{Departure, Event, Events, LateNotice, Node, Stamped};

use crate::config::{Config, NodeFlags};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::guard::reap_orphans;
use crate::housekeeping::housekeeping;
use crate::output::log::{self, Format, Level};
use crate::output::sentence::{is_routine, sentence, tone};
use crate::output::times::{span, utc_ms};
use crate::output::{json, say};
use crate::telemetry::Telemetry;
use crate::{node, notice, place};

/// Who, where, and how.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    node: NodeFlags,
    /// Print JSON, a line for each event.
    #[arg(long)]
    json: bool,
    /// Print routine events too: every beat, every check.
    #[arg(long)]
    verbose: bool,
}

/// Takes part until SIGTERM or SIGINT.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let config = place::load_node(&arguments.node.0)?;
    super::block_on(async {
        let store = node::store(&config).await?;
        let telemetry = Telemetry::of(&config)?;
        let builder = telemetry.told(node::builder(&config, store.clone()));
        let builder = housekeeping(builder, &config)?;
        let (node, mut events) = builder.build_with_events()?;
        let notice = notice::of_this_node(&config, Some(node.id()), &*store).await;
        node::introduce(&node, notice.as_ref(), Level::Info);
        let is_announced = false;
        let mut teller = Teller { node: &node, config: &config, arguments, notice, is_announced };
        let departure = tokio::select! {
            biased;
            departure = take_part(&node, &mut events, &mut teller) => departure?,
            never = reap_orphans() => match never {},
        };
        departed(&node, departure)
    })
}

/// Prints events until the node has left, and then what is still unsaid.
async fn take_part(
    node: &Node,
    events: &mut Events,
    teller: &mut Teller<'_>,
) -> Result<Departure, CommandError> {
    let mut leaving = pin!(node.until_signalled());
    let departure = loop {
        tokio::select! {
            biased;
            // First, so that a signal is minded before anything is told.
            departure = &mut leaving => break departure,
            Some(event) = events.next() => teller.tell(&event),
        }
    };
    loop {
        tokio::select! {
            biased;
            Some(event) = events.next() => teller.tell(&event),
            () = std::future::ready(()) => break,
        }
    }
    departure.map_err(|problem| CommandError::System { what: "no signals", problem })
}

/// Tells what happens, and says first who it happens to.
struct Teller<'a> {
    node: &'a Node,
    config: &'a Config,
    arguments: &'a Arguments,
    /// What was said at the start of how late a crash would be noticed.
    notice: Option<LateNotice>,
    is_announced: bool,
}

impl Teller<'_> {
    fn tell(&mut self, stamped: &Stamped) {
        let event = &stamped.event;
        if is_routine(event) && !self.arguments.verbose {
            return;
        }
        let is_said =
            matches!(event, Event::LifelineUnwatched(it) if self.notice.as_ref() == Some(it));
        // A process that is not let in has nothing to say but the error it ends with.
        let is_let_in = !matches!(event, Event::NodeIdTaken { .. });
        if is_let_in && !is_routine(event) {
            self.announce();
        }
        let logged = log::format() == Format::Json;
        if logged {
            log::event(stamped);
        }
        if self.arguments.json {
            json::line(stamped);
        } else if is_let_in && !logged && !is_said {
            let at = utc_ms(stamped.at_ms);
            say::line(&format!("{at} {}", tone(event).paint(&sentence(event))));
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

/// What is said of a node that ends without having left.
pub fn unfinished(node: &Node) -> String {
    let (id, grace) = (node.id(), span(node.settings().stop_grace));
    format!(
        "node {id} ends without having left: its work or the store took longer than stop_grace \
         ({grace}) and a second; what is not released runs out by itself"
    )
}

/// What a node's end means for the process.
pub fn departed(node: &Node, departure: Departure) -> Result<Exit, CommandError> {
    match departure {
        Departure::Left => Ok(Exit::Done),
        Departure::Unfinished => {
            log::warn(&unfinished(node));
            Ok(Exit::Done)
        }
        Departure::IdTaken { .. } => Err(CommandError::IdTaken { id: node.id().clone() }),
        Departure::Broken => Err(CommandError::Broken { id: node.id().clone() }),
        Departure::Superseded { .. } => Err(CommandError::Superseded { id: node.id().clone() }),
    }
}
