//! `baton watch`: a live view on a terminal, a line for each change anywhere else.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use baton_core::protocol::Failure;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use crate::config::PlaceFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::live::Live;
use crate::output::style::Tone;
use crate::output::table::cut;
use crate::output::times::utc_ms;
use crate::output::{json, say};
use crate::place::Place;
use crate::snapshot::{Change, Snapshot, changes, first, render};

/// So many past changes stand under the live view.
const RECENT: usize = 8;

/// Where to look, and for how long.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    place: PlaceFlags,
    /// How often to look.
    #[arg(long, value_name = "SPAN", default_value = "500ms", value_parser = super::span)]
    interval: Duration,
    /// End after this time.
    #[arg(long, value_name = "SPAN", value_parser = super::span)]
    r#for: Option<Duration>,
    /// End after this number of changes.
    #[arg(long, value_name = "N")]
    changes: Option<u64>,
    /// Print JSON, a line for each change.
    #[arg(long)]
    json: bool,
}

/// Watches until told to stop.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let place = Place::to_look_at(&arguments.place.0).await?;
        let mut watch = Watch::new(arguments);
        let ends_at = arguments.r#for.map(|span| SystemClock.now() + span);
        let mut interrupted = pin!(super::interrupted());
        // From here on a signal ends the watch, even during the first look.
        tokio::select! {
            biased;
            done = &mut interrupted => return done.map(|()| Exit::Done),
            () = std::future::ready(()) => {}
        }
        loop {
            watch.take_in(place.snapshot().await)?;
            let left = ends_at.map(|at: Moment| at.since(SystemClock.now()));
            if watch.has_seen_enough || left.is_some_and(|left| left.is_zero()) {
                return Ok(Exit::Done);
            }
            let pause = left.map_or(watch.interval, |left| left.min(watch.interval));
            tokio::select! {
                done = &mut interrupted => return done.map(|()| Exit::Done),
                () = SystemClock.sleep(pause) => {}
            }
        }
    })
}

/// A change as it is printed.
#[derive(Serialize)]
struct Told<'a> {
    at_ms: u64,
    #[serde(flatten)]
    change: &'a Change,
}

enum Screen {
    Json,
    Lines,
    Live { live: Live, recent: VecDeque<String> },
}

struct Watch {
    screen: Screen,
    interval: Duration,
    changes_left: Option<u64>,
    before: Option<Snapshot>,
    store_lost: bool,
    has_seen_enough: bool,
}

impl Watch {
    fn new(arguments: &Arguments) -> Self {
        let screen = match arguments.json {
            true => Screen::Json,
            false if say::is_terminal() => {
                Screen::Live { live: Live::default(), recent: VecDeque::new() }
            }
            false => Screen::Lines,
        };
        Self {
            screen,
            interval: arguments.interval.max(Duration::from_millis(10)),
            changes_left: arguments.changes,
            before: None,
            store_lost: false,
            has_seen_enough: arguments.changes == Some(0),
        }
    }

    /// Takes a look in. A store that is away for a while does not end the watch.
    fn take_in(&mut self, looked: Result<Snapshot, CommandError>) -> Result<(), CommandError> {
        match looked {
            Ok(after) => self.see(after),
            Err(CommandError::Store { problem, .. })
                if self.before.is_some() && problem.failure() != Failure::Rejected =>
            {
                if !self.store_lost {
                    self.store_lost = true;
                    self.tell(&Change::StoreLost { problem: problem.to_string() });
                }
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    fn see(&mut self, after: Snapshot) {
        if std::mem::take(&mut self.store_lost) {
            self.tell(&Change::StoreBack);
        }
        match self.before.take() {
            None => self.show(&first(&after)),
            Some(before) => {
                for change in changes(&before, &after) {
                    self.tell(&change);
                }
            }
        }
        if let Screen::Live { live, recent } = &mut self.screen {
            let width = say::width();
            let mut text = render(&after, width);
            text.push('\n');
            for line in recent.iter() {
                text.push_str(&Tone::Faint.paint(&cut(line, width.unwrap_or(80))));
                text.push('\n');
            }
            live.draw(&text);
        }
        self.before = Some(after);
    }

    /// Tells a change that counts.
    fn tell(&mut self, change: &Change) {
        if self.has_seen_enough {
            return;
        }
        self.show(change);
        if let Some(left) = &mut self.changes_left {
            *left = left.saturating_sub(1);
            self.has_seen_enough = *left == 0;
        }
    }

    fn show(&mut self, change: &Change) {
        let at_ms = SystemClock.wall_ms();
        let line = || format!("{} {change}", utc_ms(at_ms));
        match &mut self.screen {
            Screen::Json => json::line(&Told { at_ms, change }),
            Screen::Lines => say::line(&line()),
            Screen::Live { recent, .. } => {
                recent.truncate(RECENT - 1);
                recent.push_front(line());
            }
        }
    }
}
