//! `baton counters`: count from a script, and read what was counted.
//!
//! ```text
//!   add, sub, set ──► change   one durable append each
//!   get, list     ──► show     consolidated, pending, and the sum of both
//!   consolidate   ──► change   asks the leader, and waits
//! ```

mod change;
mod show;

use std::time::Duration;

use baton::plugins::counters::{CountError, Counters, CountersConfig};

use crate::config::PlaceFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::place::Place;

/// What to do.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Add to a counter.
    Add(change::Arguments),
    /// Take from a counter.
    Sub(change::Arguments),
    /// Set a counter.
    Set(change::Arguments),
    /// Show counters: consolidated, pending, and both together.
    Get(show::Get),
    /// Show all counters, or those whose name begins so.
    List(show::List),
    /// Ask the leader to consolidate now.
    Consolidate(change::Consolidate),
}

/// Where, and how to print.
#[derive(Debug, clap::Args)]
struct Shared {
    #[command(flatten)]
    place: PlaceFlags,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Counts, or reads.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        match &arguments.what {
            What::Add(it) => it.add().await,
            What::Sub(it) => it.sub().await,
            What::Set(it) => it.set().await,
            What::Get(it) => it.run().await,
            What::List(it) => it.run().await,
            What::Consolidate(it) => it.run().await,
        }
    })
}

/// The counters of a store that exists.
struct Desk {
    place: Place,
    counters: Counters,
}

impl Desk {
    /// To read what was counted.
    async fn to_look_at(shared: &Shared) -> Result<Self, CommandError> {
        Ok(Self::at(Place::to_look_at(&shared.place.0).await?, Duration::ZERO))
    }

    /// To count.
    async fn to_change(shared: &Shared, deadline: Duration) -> Result<Self, CommandError> {
        Ok(Self::at(Place::to_change(&shared.place.0).await?, deadline))
    }

    fn at(place: Place, deadline: Duration) -> Self {
        // One change is not worth waiting for company.
        let config = CountersConfig::default().tune(|it| {
            it.linger = Duration::ZERO;
            it.deadline = deadline;
        });
        let (store, namespace) = (place.store.clone(), place.namespace().clone());
        let counters = Counters::with_config(store, namespace, config);
        Self { place, counters }
    }

    fn trouble(&self, problem: CountError) -> CommandError {
        match problem {
            CountError::Store(problem) => self.place.trouble(problem),
            problem => CommandError::Count(problem),
        }
    }
}
