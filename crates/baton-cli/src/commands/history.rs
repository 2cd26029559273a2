//! `baton history`: the terms, the newest first.

use std::time::Duration;

use baton_core::protocol::{Expiry, LeaseSnapshot, TermRecord};
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use crate::config::PlaceFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::style::Tone;
use crate::output::table::{Cell, Lean, Table};
use crate::output::times::{gap, span_ms, utc, utc_end, utc_ms};
use crate::output::{json, say};
use crate::place::Place;
use crate::snapshot::term_end;

/// Where to look, and how far back.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    place: PlaceFlags,
    /// How many terms to show, the newest first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Term {
    epoch: u64,
    node: String,
    boot: String,
    from: String,
    to: Option<String>,
    length_ms: u64,
    ended: Option<baton_core::protocol::TermEnd>,
    gap_ms: Option<u64>,
    gap_at_most_ms: Option<u64>,
}

/// Looks once.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let place = Place::to_look_at(&arguments.place.0).await?;
        let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
        let terms = place.store.history(place.namespace(), limit).await;
        let terms = terms.map_err(|problem| place.trouble(problem))?;
        let seen = place.store.inspect(place.namespace()).await;
        let seen = seen.map_err(|problem| place.trouble(problem))?;
        let lasts = seen.lease.as_ref().is_some_and(lasts);
        let now_ms = SystemClock.wall_ms();
        if arguments.json {
            json::document(&terms.iter().map(|term| told(term, now_ms)).collect::<Vec<_>>());
        } else if terms.is_empty() {
            say::line(&format!("no node has led namespace {} yet", place.namespace()));
        } else {
            say::text(&table(&terms, now_ms, lasts).render(say::width()));
        }
        Ok(Exit::Done)
    })
}

fn length_ms(term: &TermRecord, now_ms: u64) -> u64 {
    term.ended.map_or(now_ms, |(at, _)| at).saturating_sub(term.began_ms)
}

fn told(term: &TermRecord, now_ms: u64) -> Term {
    Term {
        epoch: term.epoch.0,
        node: term.node.to_string(),
        boot: term.boot.to_string(),
        from: utc_ms(term.began_ms),
        to: term.ended.map(|(at, _)| utc_ms(at)),
        length_ms: length_ms(term, now_ms),
        ended: term.ended.map(|(_, end)| end),
        gap_ms: term.gap_ms,
        gap_at_most_ms: term.gap_at_most_ms,
    }
}

/// Is somebody's lease not over? The history closes a term only when the next one begins.
fn lasts(lease: &LeaseSnapshot) -> bool {
    lease.holder.is_some() && lease.expiry != Expiry::Left(Duration::ZERO)
}

fn table(terms: &[TermRecord], now_ms: u64, lasts: bool) -> Table {
    let mut table = Table::new(&[
        ("EPOCH", Lean::Right),
        ("NODE", Lean::Left),
        ("FROM", Lean::Left),
        ("TO", Lean::Left),
        ("LENGTH", Lean::Right),
        ("GAP", Lean::Right),
        ("ENDED", Lean::Left),
    ]);
    for term in terms {
        let ended = term.ended;
        let (tone, word) = match ended {
            None if lasts => (Tone::Good, "leads"),
            None => (Tone::Bad, "lease is over"),
            Some((_, end)) => (Tone::Plain, term_end(end)),
        };
        let is_known = lasts || ended.is_some();
        let length = if is_known { span_ms(length_ms(term, now_ms)) } else { "?".to_owned() };
        table.row([
            term.epoch.to_string().into(),
            Cell::new(term.node.as_str(), tone),
            utc(term.began_ms).into(),
            ended
                .map_or_else(
                    || if lasts { "now" } else { "?" }.to_owned(),
                    |(at, _)| utc_end(term.began_ms, at),
                )
                .into(),
            length.into(),
            term.gap_ms.map_or_else(|| "-".to_owned(), |ms| gap(ms, term.gap_at_most_ms)).into(),
            Cell::new(word, tone),
        ]);
    }
    table
}
