//! A snapshot for people: a few lines, then a table that fits into 80 columns.

use baton_core::ids::NodeId;
use baton_core::protocol::HandoverKind;

use super::{LeaderChange, MemberState, Snapshot, State};
use crate::output::style::Tone;
use crate::output::table::{Cell, LABEL, Table, labelled, wrapped};
use crate::output::times::{gap, span_ms, utc};

/// Number of successors that are named; the others are counted.
const SUCCESSORS_SHOWN: usize = 3;

/// Largest width of the sentence about a crash.
const CRASH_ROOM_MAX: usize = 67;

/// The snapshot as text of at most this width.
pub fn render(snapshot: &Snapshot, width: Option<usize>) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: &str, tone: Tone| {
        text.push_str(&labelled(label, value, tone, width));
    };
    line("namespace", snapshot.namespace.as_str(), Tone::Plain);
    line("store", &snapshot.store, Tone::Plain);
    let (leads, tone) = leads(snapshot);
    line("leader", &leads, tone);
    if let Some(leader) = &snapshot.coordinator {
        let all = span_ms(leader.lease_timeout_ms);
        let lease = match leader.lease_left_ms {
            Some(left) => format!("{} left of {all}", span_ms(left)),
            None => format!("{all}, measured by each node that watches it"),
        };
        line("lease", &lease, Tone::Plain);
        line("successors", &successors(snapshot), Tone::Plain);
        if let Some(crash) = &snapshot.crash {
            let room = width.map_or(CRASH_ROOM_MAX, |width| width.saturating_sub(LABEL));
            let lines = wrapped(&crash.of(&leader.node), room.min(CRASH_ROOM_MAX));
            for (at, part) in lines.iter().enumerate() {
                line(if at == 0 { "crash" } else { "" }, part, Tone::Warn);
            }
        }
    }
    if let Some(wish) = &snapshot.asked {
        line("asked", &asked(wish), Tone::Warn);
    }
    if let Some(change) = &snapshot.last_change {
        line("last change", &last_change(change), Tone::Plain);
    }
    text.push('\n');
    if snapshot.members.is_empty() {
        text.push_str("no node is registered\n");
        return text;
    }
    text.push_str(&members(&snapshot.members).render(width));
    text
}

fn leads(snapshot: &Snapshot) -> (String, Tone) {
    let epoch = snapshot.epoch;
    match (&snapshot.coordinator, &snapshot.lapsed) {
        (Some(leader), _) => {
            let since = leader.since_ms.map_or(String::new(), |since| {
                let so_far = span_ms(snapshot.at_ms.saturating_sub(since));
                format!(", for {so_far} since {}", utc(since))
            });
            (format!("{}, epoch {epoch}{since}", leader.node), Tone::Good)
        }
        (None, Some(node)) => {
            (format!("none: the lease of {node} (epoch {epoch}) has expired"), Tone::Bad)
        }
        (None, None) if epoch == 0 => ("none yet".to_owned(), Tone::Warn),
        (None, None) => (format!("none: epoch {epoch} was given up"), Tone::Bad),
    }
}

fn successors(snapshot: &Snapshot) -> String {
    let names = &snapshot.successors;
    let shown: Vec<&str> = names.iter().take(SUCCESSORS_SHOWN).map(NodeId::as_str).collect();
    match names.len() {
        0 => "none".to_owned(),
        count if count > SUCCESSORS_SHOWN => {
            format!("{} and {} more", shown.join(", "), count - SUCCESSORS_SHOWN)
        }
        _ => shown.join(", "),
    }
}

/// What the leader is asked.
pub(super) fn asked(wish: &HandoverKind) -> String {
    match wish {
        HandoverKind::Resign => "to resign".to_owned(),
        HandoverKind::Transfer(to) => format!("to hand over to {to}"),
    }
}

fn last_change(change: &LeaderChange) -> String {
    let at = utc(change.at_ms);
    let why = change.why.map_or(String::new(), |end| format!(", {end}"));
    let most = change.gap_at_most_ms;
    let gap =
        change.gap_ms.map_or(String::new(), |ms| format!(", {} without a leader", gap(ms, most)));
    match (&change.from, &change.to) {
        (Some(from), Some(to)) => format!("{at}: {from} → {to}{why}{gap}"),
        (None, Some(to)) => format!("{at}: {to}, the first"),
        (Some(from), None) => format!("{at}: {from} → none{why}"),
        (None, None) => at,
    }
}

fn members(members: &[MemberState]) -> Table {
    let mut table = Table::new(&["NODE", "STATE", ">LOAD", ">BEAT", "VERSION", "LIFELINE"]);
    for member in members {
        let tone = match member.state {
            State::Leader => Tone::Good,
            State::Silent => Tone::Bad,
            State::Draining => Tone::Warn,
            State::Candidate => Tone::Plain,
            State::Observer => Tone::Faint,
        };
        let version = if member.version.is_empty() { "-" } else { &member.version };
        table.row([
            Cell::new(member.node.as_str(), tone),
            Cell::new(member.state.to_string(), tone),
            member.load.to_string().into(),
            member.silent_ms.map_or_else(|| "-".to_owned(), span_ms).into(),
            version.into(),
            member.lifeline.as_deref().map_or("-", dialled).into(),
        ]);
    }
    table
}

/// Where a lifeline is dialled: the port alone on this machine, never the network's own name.
fn dialled(lifeline: &str) -> &str {
    let address = lifeline.split_once('@').map_or(lifeline, |(address, _)| address);
    match address.strip_prefix("127.0.0.1") {
        Some(port) if port.starts_with(':') => port,
        _ => address,
    }
}
