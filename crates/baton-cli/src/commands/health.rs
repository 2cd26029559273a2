//! `baton health`: how does the cluster do? One verdict with its reasons, and a code for scripts.
//!
//! Judged afresh from the store, by the rules that the leader's own plugin uses: it works when
//! no node leads, too.

use baton::plugins::health::{Health, Limits, Liveness, NodeHealth, Role, Verdict, judge};
use baton::plugins::health::{Reason, look_closely};
use baton_core::ids::Namespace;
use serde::Serialize;

use crate::config::LimitFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::style::Tone;
use crate::output::table::{Cell, Lean, Table, cut};
use crate::output::times::span_ms;
use crate::output::wrap::wrapped;
use crate::output::{json, say};
use crate::place::Place;

/// How far the values stand from the left.
const LABEL: usize = 13;

/// Where to look, and what is enough.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The least number of live nodes that may lead, the leader among them.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    candidates_min: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: LimitFlags,
}

#[derive(Serialize)]
struct Report<'a> {
    namespace: &'a Namespace,
    url: String,
    #[serde(flatten)]
    health: &'a Health,
    sentences: Vec<String>,
}

/// Looks, judges, and ends with a code that tells the verdict.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let place = Place::to_look_at(&arguments.limits.0).await?;
        let candidates_min = arguments.candidates_min;
        let limits = Limits { candidates_min, ..Limits::of(&place.config.settings) };
        let facts = look_closely(&*place.store, place.namespace(), &limits).await;
        let health = judge(&facts.map_err(|problem| place.trouble(problem))?, &limits);
        if arguments.json {
            json::document(&Report {
                namespace: place.namespace(),
                url: place.config.store.to_string(),
                health: &health,
                sentences: health.reasons.iter().map(Reason::to_string).collect(),
            });
        } else {
            let url = place.config.store.to_string();
            say::text(&render(place.namespace(), &url, &health, say::width()));
        }
        Ok(match health.verdict {
            Verdict::Healthy => Exit::Done,
            Verdict::Degraded => Exit::Warned,
            Verdict::Critical => Exit::Failed,
        })
    })
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Healthy => Tone::Good,
        Verdict::Degraded => Tone::Warn,
        Verdict::Critical => Tone::Bad,
    }
}

fn render(namespace: &Namespace, url: &str, health: &Health, width: Option<usize>) -> String {
    let mut text = format!("{}\n", tone(health.verdict).paint(health.verdict.word()));
    for reason in &health.reasons {
        let lines = wrapped(&reason.to_string(), width.unwrap_or(80).saturating_sub(2));
        for (at, line) in lines.iter().enumerate() {
            let mark = if at == 0 { "- " } else { "  " };
            text.push_str(&tone(reason.verdict()).paint(&format!("{mark}{line}")));
            text.push('\n');
        }
    }
    text.push('\n');
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(LABEL));
    let mut line = |label: &str, value: &str| {
        let label = Tone::Faint.paint(&format!("{label:<LABEL$}"));
        text.push_str(&format!("{label}{}\n", cut(value, room)));
    };
    line("namespace", namespace.as_str());
    let took = match health.store.took_ms {
        0 => "less than 1ms".to_owned(),
        ms => span_ms(ms),
    };
    line("store", &format!("{url}, an answer took {took}"));
    line("leader", &leader(health));
    let counts = &health.counts;
    let (live, may) = (counts.live, counts.candidates);
    line("nodes", &format!("{} registered, {live} live, {may} may lead", counts.registered));
    if !health.nodes.is_empty() {
        text.push('\n');
        text.push_str(&table(&health.nodes).render(width));
    }
    text
}

fn leader(health: &Health) -> String {
    let leader = &health.leader;
    let Some(node) = &leader.node else { return "nobody".to_owned() };
    let so_far = leader.term_ms.map_or(String::new(), |ms| format!(", for {}", span_ms(ms)));
    let left = match (leader.lease_left_ms, leader.lease_timeout_ms) {
        (Some(left), Some(all)) => format!(", {} left of {}", span_ms(left), span_ms(all)),
        _ => String::new(),
    };
    format!("{node}, epoch {}{so_far}{left}", leader.epoch)
}

fn table(nodes: &[NodeHealth]) -> Table {
    let mut table = Table::new(&[
        ("NODE", Lean::Left),
        ("ROLE", Lean::Left),
        ("STATE", Lean::Left),
        ("BEAT", Lean::Right),
        ("LOAD", Lean::Right),
    ]);
    for node in nodes {
        let tone = match (node.liveness, node.role) {
            (Liveness::Dead | Liveness::Silent, _) => Tone::Bad,
            (Liveness::Late | Liveness::Unseen, _) => Tone::Warn,
            (Liveness::Live, Role::Leader) => Tone::Good,
            (Liveness::Live, Role::Draining) => Tone::Warn,
            (Liveness::Live, Role::Observer) => Tone::Faint,
            (Liveness::Live, Role::Candidate) => Tone::Plain,
        };
        table.row([
            Cell::new(node.node.as_str(), tone),
            Cell::new(node.role.word(), tone),
            Cell::new(node.liveness.word(), tone),
            node.silent_ms.map_or_else(|| "-".to_owned(), span_ms).into(),
            node.load.to_string().into(),
        ]);
    }
    table
}
