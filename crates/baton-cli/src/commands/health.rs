//! `baton health`: how does the cluster do? One verdict with its reasons, and a code for scripts.
//!
//! Judged afresh from the store, by the rules that the leader's own plugin uses: it works when
//! no node leads, too.

use baton::plugins::health::{Health, Limits, Liveness, NodeHealth, Role, Verdict, judge};
use baton::plugins::health::{Reason, look_closely};
use baton_core::ids::Namespace;
use serde::Serialize;

use crate::config::HealthFlags;
use crate::error::{CommandError, Exit};
use crate::open_store::OpenStore;
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table, labelled, wrapped};
use crate::output::times::span_ms;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Number of live nodes that may lead, the leader included, below which the cluster counts as
    /// degraded.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    candidates_min: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: HealthFlags,
}

#[derive(Serialize)]
struct Report<'a> {
    namespace: &'a Namespace,
    url: String,
    #[serde(flatten)]
    health: &'a Health,
    sentences: Vec<String>,
}

pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let opened = OpenStore::to_read(&arguments.limits.0).await?;
    let candidates_min = arguments.candidates_min;
    let limits = Limits { candidates_min, ..Limits::of(&opened.config.settings) };
    let facts = opened.ask(look_closely(&*opened.store, opened.namespace(), &limits)).await?;
    let health = judge(&facts, &limits);
    let report = Report {
        namespace: opened.namespace(),
        url: opened.config.store.to_string(),
        health: &health,
        sentences: health.reasons.iter().map(Reason::to_string).collect(),
    };
    stdout::json_or_text(arguments.json, &report, || render(&report, stdout::width()));
    Ok(match health.verdict {
        Verdict::Healthy => Exit::DONE,
        Verdict::Degraded => Exit::WARNED,
        Verdict::Critical => Exit::FAILED,
    })
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Healthy => Tone::Good,
        Verdict::Degraded => Tone::Warn,
        Verdict::Critical => Tone::Bad,
    }
}

fn render(report: &Report<'_>, width: Option<usize>) -> String {
    let Report { namespace, url, health, sentences } = report;
    let mut text = format!("{}\n", tone(health.verdict).paint(health.verdict.word()));
    for (reason, sentence) in health.reasons.iter().zip(sentences) {
        let lines = wrapped(sentence, width.unwrap_or(80).saturating_sub(2));
        for (at, line) in lines.iter().enumerate() {
            let mark = if at == 0 { "- " } else { "  " };
            text.push_str(&tone(reason.verdict()).paint(&format!("{mark}{line}")));
            text.push('\n');
        }
    }
    text.push('\n');
    let mut line =
        |label: &str, value: &str| text.push_str(&labelled(label, value, Tone::Plain, width));
    line("namespace", namespace.as_str());
    let took = match health.store.took_ms {
        0 => "less than 1ms".to_owned(),
        ms => span_ms(ms),
    };
    line("store", &format!("{url}, slowest answer {took}"));
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
    let Some(node) = &leader.node else { return "none".to_owned() };
    let so_far = leader.term_ms.map_or(String::new(), |ms| format!(", for {}", span_ms(ms)));
    let left = match (leader.lease_left_ms, leader.lease_timeout_ms) {
        (Some(left), Some(all)) => format!(", {} left of {}", span_ms(left), span_ms(all)),
        _ => String::new(),
    };
    format!("{node}, epoch {}{so_far}{left}", leader.epoch)
}

fn table(nodes: &[NodeHealth]) -> Table {
    let mut table = Table::new(&["NODE", "ROLE", "STATE", ">BEAT", ">LOAD"]);
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
