//! `baton history`: the terms, the newest first.

use baton_core::protocol::TermRecord;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};
use crate::output::times::{gap, span_ms, utc, utc_end, utc_ms};

use super::StoreArguments;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    store: StoreArguments,
    /// Number of terms to show, the newest first.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    limit: u32,
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

pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let opened = arguments.store.open_to_read().await?;
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let terms = opened.ask(opened.store.history(opened.namespace(), limit)).await?;
    // The history closes a term only when the next one begins.
    let is_led = opened.lease().await?.is_some_and(|lease| lease.leader().is_some());
    let now_ms = SystemClock.wall_ms();
    let data: Vec<Term> = terms.iter().map(|term| as_json(term, now_ms)).collect();
    stdout::json_or_text(arguments.store.json, &data, || match terms.is_empty() {
        true => format!("no node has led namespace {} yet\n", opened.namespace()),
        false => table(&terms, now_ms, is_led).render(stdout::width()),
    });
    Ok(Exit::DONE)
}

fn length_ms(term: &TermRecord, now_ms: u64) -> u64 {
    term.ended.map_or(now_ms, |(at, _)| at).saturating_sub(term.began_ms)
}

fn as_json(term: &TermRecord, now_ms: u64) -> Term {
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

fn table(terms: &[TermRecord], now_ms: u64, is_led: bool) -> Table {
    let mut table = Table::new(&[">EPOCH", "NODE", "FROM", "TO", ">LENGTH", ">GAP", "ENDED"]);
    for term in terms {
        let ended = term.ended;
        let (tone, word) = match ended {
            None if is_led => (Tone::Good, "leads".to_owned()),
            None => (Tone::Bad, "lease expired".to_owned()),
            Some((_, end)) => (Tone::Plain, end.to_string()),
        };
        let is_known = is_led || ended.is_some();
        let length = if is_known { span_ms(length_ms(term, now_ms)) } else { "?".to_owned() };
        table.row([
            term.epoch.to_string().into(),
            Cell::new(term.node.as_str(), tone),
            utc(term.began_ms).into(),
            ended
                .map_or_else(
                    || if is_led { "now" } else { "?" }.to_owned(),
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
