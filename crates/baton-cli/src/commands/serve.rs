//! `baton serve`: a node without work of its own. It registers, may lead, and prints what happens.

use std::pin::pin;

use baton::{Departure, Events, Node, Stamped};

use crate::config::NodeFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::sentence::{is_routine, sentence, tone};
use crate::output::times::utc_ms;
use crate::output::{json, say};
use crate::{node, place};

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
    let config = place::load(&arguments.node.0)?.checked()?;
    let store = node::store(&config)?;
    super::block_on(async {
        let node = node::builder(&config, store).build()?;
        let mut events = node.events();
        say::aside(&format!(
            "node {} takes part in namespace {} at {}",
            node.id(),
            node.namespace(),
            config.store
        ));
        let departure = take_part(&node, &mut events, arguments).await?;
        departed(&node, departure)
    })
}

/// Prints events until the node has left, and then what is still unsaid.
async fn take_part(
    node: &Node,
    events: &mut Events,
    arguments: &Arguments,
) -> Result<Departure, CommandError> {
    let mut leaving = pin!(node.until_signalled());
    let departure = loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => tell(&event, node, arguments),
            departure = &mut leaving => break departure,
        }
    };
    loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => tell(&event, node, arguments),
            () = std::future::ready(()) => break,
        }
    }
    departure.map_err(|problem| CommandError::System { what: "no signals", problem })
}

fn tell(stamped: &Stamped, node: &Node, arguments: &Arguments) {
    let event = &stamped.event;
    if is_routine(event) && !arguments.verbose {
        return;
    }
    if arguments.json {
        json::line(stamped);
    } else {
        let at = utc_ms(stamped.at_ms);
        say::line(&format!("{at} {}", tone(event).paint(&sentence(event))));
    }
    if matches!(event, baton::Event::StoreRejected)
        && let Some(problem) = node.last_store_error()
    {
        say::aside(&problem.to_string());
    }
}

/// What a node's end means for the process.
pub fn departed(node: &Node, departure: Departure) -> Result<Exit, CommandError> {
    match departure {
        Departure::Left => Ok(Exit::Done),
        Departure::IdTaken { .. } => Err(CommandError::IdTaken { id: node.id().clone() }),
        Departure::Superseded { .. } => Err(CommandError::Superseded { id: node.id().clone() }),
    }
}
