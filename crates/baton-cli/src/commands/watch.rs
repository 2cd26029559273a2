//! `baton watch`: a live view on a terminal, a line for each change anywhere else.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use baton_core::protocol::Failure;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use crate::error::{CommandError, Exit};
use crate::output::live::LiveRegion;
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::cut;
use crate::output::times::utc_ms;
use crate::snapshot::{Change, Snapshot, changes, first, render};

use super::StoreArguments;

/// Number of past changes under the live view.
const RECENT_MAX: usize = 8;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Time between two reads of the store.
    #[arg(
        long, value_name = "DURATION", default_value = "500ms", value_parser = super::duration
    )]
    interval: Duration,
    /// Exit after this time; by default watch until interrupted.
    #[arg(long, value_name = "DURATION", value_parser = super::duration)]
    r#for: Option<Duration>,
    /// Exit after this number of changes.
    #[arg(long, value_name = "COUNT")]
    changes: Option<u64>,
    #[command(flatten)]
    store: StoreArguments,
}

pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let opened = arguments.store.open_to_read().await?;
    let mut watch = Watch::new(arguments);
    let ends_at = arguments.r#for.map(|span| SystemClock.now() + span);
    let mut interrupted = pin!(super::interrupted());
    // From here on a signal ends the watch, even during the first read.
    tokio::select! {
        biased;
        done = &mut interrupted => return done.map(|()| Exit::DONE),
        () = std::future::ready(()) => {}
    }
    loop {
        watch.handle(opened.snapshot().await)?;
        let left = ends_at.map(|at: Moment| at.since(SystemClock.now()));
        if watch.is_done || left.is_some_and(|left| left.is_zero()) {
            return Ok(Exit::DONE);
        }
        let pause = left.map_or(watch.interval, |left| left.min(watch.interval));
        tokio::select! {
            done = &mut interrupted => return done.map(|()| Exit::DONE),
            () = SystemClock.sleep(pause) => {}
        }
    }
}

#[derive(Serialize)]
struct ChangeLine<'a> {
    at_ms: u64,
    #[serde(flatten)]
    change: &'a Change,
}

enum Screen {
    Json,
    Lines,
    Live { live: LiveRegion, recent: VecDeque<String> },
}

struct Watch {
    screen: Screen,
    interval: Duration,
    changes_left: Option<u64>,
    before: Option<Snapshot>,
    store_lost: bool,
    is_done: bool,
}

impl Watch {
    fn new(arguments: &Arguments) -> Self {
        let screen = match arguments.store.json {
            true => Screen::Json,
            false if stdout::is_terminal() => {
                Screen::Live { live: LiveRegion::default(), recent: VecDeque::new() }
            }
            false => Screen::Lines,
        };
        Self {
            screen,
            interval: arguments.interval.max(Duration::from_millis(10)),
            changes_left: arguments.changes,
            before: None,
            store_lost: false,
            is_done: arguments.changes == Some(0),
        }
    }

    /// A store that does not answer for a while does not end the watch.
    fn handle(&mut self, read: Result<Snapshot, CommandError>) -> Result<(), CommandError> {
        match read {
            Ok(after) => self.handle_snapshot(after),
            Err(CommandError::Store { problem, .. })
                if self.before.is_some() && problem.failure() != Failure::Rejected =>
            {
                if !self.store_lost {
                    self.store_lost = true;
                    self.report(&Change::StoreLost { problem: problem.to_string() });
                }
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    fn handle_snapshot(&mut self, after: Snapshot) {
        if std::mem::take(&mut self.store_lost) {
            self.report(&Change::StoreBack);
        }
        match self.before.take() {
            None => self.show(&first(&after)),
            Some(before) => {
                for change in changes(&before, &after) {
                    self.report(&change);
                }
            }
        }
        if let Screen::Live { live, recent } = &mut self.screen {
            let width = stdout::width();
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

    /// Shows a change that counts towards --changes.
    fn report(&mut self, change: &Change) {
        if self.is_done {
            return;
        }
        self.show(change);
        if let Some(left) = &mut self.changes_left {
            *left = left.saturating_sub(1);
            self.is_done = *left == 0;
        }
    }

    fn show(&mut self, change: &Change) {
        let at_ms = SystemClock.wall_ms();
        let line = || format!("{} {change}", utc_ms(at_ms));
        match &mut self.screen {
            Screen::Json => stdout::json_line(&ChangeLine { at_ms, change }),
            Screen::Lines => stdout::line(&line()),
            Screen::Live { recent, .. } => {
                recent.truncate(RECENT_MAX - 1);
                recent.push_front(line());
            }
        }
    }
}
