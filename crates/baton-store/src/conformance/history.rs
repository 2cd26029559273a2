//! The term history: every term that began, the newest first, and how it ended.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Outcome, ReleaseReason, TermEnd, TermRecord};
use baton_core::time::whole_ms;

use super::case::{CaseError, Check, cases, holds, present, same};
use super::stage::Stage;

cases! { "history":
    a_term_is_open_while_it_lasts,
    a_release_closes_the_term_with_its_reason,
    a_takeover_closes_the_term_before,
    a_term_that_was_not_released_ends_with_its_lease_at_the_latest,
    a_release_that_comes_after_the_lease_does_not_lengthen_the_term,
    the_gap_is_the_time_without_a_coordinator,
    the_newest_come_first_up_to_the_limit,
}

fn end(term: &TermRecord) -> Option<TermEnd> {
    term.ended.map(|(_, end)| end)
}

async fn a_term_is_open_while_it_lasts(stage: &Stage<'_>) -> Check {
    same("before any", stage.terms().await?, vec![])?;
    let (mut holder, held) = stage.holder("a").await?;
    let opened = stage.last_term().await?;
    same("the epoch", opened.epoch, Epoch(1))?;
    let who = (&opened.node, opened.boot);
    same("who", who, (holder.id(), holder.boot()))?;
    same("the end", opened.ended, None)?;
    same("the gap before the first", opened.gap_ms, None)?;
    holds("the start", &opened.began_ms, "a time", opened.began_ms > 0)?;

    stage.peer("b").await.look_and_claim(Claim::Vacant).await?;
    holder.renew(held).await?;
    let refused = holder.release(held, None, ReleaseReason::Resigned).await?;
    same("a release of what was held", refused, Outcome::Conflict)?;
    same("the terms", stage.terms().await?, vec![opened])
}

async fn a_release_closes_the_term_with_its_reason(stage: &Stage<'_>) -> Check {
    let reasons = [
        ReleaseReason::Shutdown,
        ReleaseReason::Resigned,
        ReleaseReason::Transferred,
        ReleaseReason::Preempted,
        ReleaseReason::PluginsFailed,
        ReleaseReason::NotEligible,
        ReleaseReason::WindowClosed,
    ];
    let mut peer = stage.peer("a").await;
    for reason in reasons {
        let held = peer.take(Claim::Vacant).await?;
        same("the release", peer.release(held, None, reason).await?, Outcome::Applied)?;
        let last = stage.last_term().await?;
        same("the epoch", last.epoch, held.epoch)?;
        same("the end", end(&last), Some(TermEnd::Released(reason)))?;
    }
    same("the terms so far", stage.terms().await?.len(), reasons.len())
}

async fn a_takeover_closes_the_term_before(stage: &Stage<'_>) -> Check {
    let (first, _) = stage.holder("a").await?;
    let boot = first.boot();
    stage.bury(&first).await?;
    stage.peer("b").await.take(Claim::Dead { boot }).await?;
    stage.expire().await;
    stage.peer("c").await.take(Claim::Expired).await?;
    let terms = stage.terms().await?;
    let ends: Vec<_> = terms.iter().map(end).collect();
    let wanted = vec![None, Some(TermEnd::Expired), Some(TermEnd::ProvedDead)];
    same("the ends, the newest first", ends, wanted)?;
    let names: Vec<_> = terms.iter().map(|term| term.node.as_str()).collect();
    same("who, the newest first", names, vec!["c", "b", "a"])
}

/// The term took no longer than its lease, which was never renewed.
fn ended_with_its_lease(stage: &Stage<'_>, term: &TermRecord) -> Check {
    let (ended_ms, _) = present("the end of the term", term.ended)?;
    let length_ms = ended_ms.saturating_sub(term.began_ms);
    // Stamps are whole milliseconds.
    let most_ms = whole_ms(stage.settings.ttl) + 1;
    let wanted = format!("at most {most_ms} ms");
    holds("the length of the term", &length_ms, &wanted, length_ms <= most_ms)
}

/// All processes dead for a while, then one starts; and a holder that is paused until its lease has
/// run out, and long after.
async fn a_term_that_was_not_released_ends_with_its_lease_at_the_latest(
    stage: &Stage<'_>,
) -> Check {
    let outage = stage.settings.ttl * 3 / 2 + stage.settings.lateness;
    let (first, _) = stage.holder("a").await?;
    let boot = first.boot();
    stage.bury(&first).await?;
    stage.pass(outage).await;
    stage.peer("b").await.take(Claim::Dead { boot }).await?;
    stage.pass(outage).await;
    stage.peer("c").await.take(Claim::Expired).await?;

    let terms = stage.terms().await?;
    same("the terms", terms.len(), 3)?;
    for pair in terms.windows(2) {
        ended_with_its_lease(stage, &pair[1])?;
        let (ended_ms, _) = present("the end of the term before", pair[1].ended)?;
        let gap_ms = present("the gap", pair[0].gap_ms)?;
        same("the gap", gap_ms, pair[0].began_ms.saturating_sub(ended_ms))?;
        let least_ms = whole_ms((outage - stage.settings.ttl) * 9 / 10);
        let wanted = format!("at least {least_ms} ms");
        holds("the gap", &gap_ms, &wanted, gap_ms >= least_ms)?;
        // The holder may have stopped right after its last renewal, which was the grant.
        let at_most_ms = present("the longest gap", pair[0].gap_at_most_ms)?;
        let silent_ms = pair[0].began_ms.saturating_sub(pair[1].began_ms);
        let wanted = format!("{silent_ms} ms");
        holds("the longest gap", &at_most_ms, &wanted, at_most_ms.abs_diff(silent_ms) <= 1)?;
    }
    Ok(())
}

async fn a_release_that_comes_after_the_lease_does_not_lengthen_the_term(
    stage: &Stage<'_>,
) -> Check {
    let (mut holder, held) = stage.holder("a").await?;
    stage.pass(stage.settings.ttl * 3 / 2 + stage.settings.lateness).await;
    let released = holder.release(held, None, ReleaseReason::WindowClosed).await?;
    same("the release", released, Outcome::Applied)?;
    ended_with_its_lease(stage, &stage.last_term().await?)
}

async fn the_gap_is_the_time_without_a_coordinator(stage: &Stage<'_>) -> Check {
    let (mut first, held) = stage.holder("a").await?;
    first.resign(held).await?;
    stage.pass(stage.settings.ttl).await;
    let (mut second, held) = stage.holder("b").await?;
    second.resign(held).await?;
    stage.holder("c").await?;

    let terms = stage.terms().await?;
    for pair in terms.windows(2) {
        let (ended_ms, _) = present("the end of the term before", pair[1].ended)?;
        let gap_ms = pair[0].began_ms.saturating_sub(ended_ms);
        same("the gap", pair[0].gap_ms, Some(gap_ms))?;
        same("the longest gap after a release", pair[0].gap_at_most_ms, None)?;
    }
    let gap = |at: usize| -> Result<Duration, CaseError> {
        let term = present("the term", terms.get(at))?;
        let gap_ms = present("the gap", term.gap_ms)?;
        Ok(Duration::from_millis(gap_ms))
    };
    let least = stage.settings.ttl * 9 / 10;
    let wanted = format!("at least {} ms", whole_ms(least));
    holds("the gap after a wait", &gap(1)?, &wanted, gap(1)? >= least)?;
    let wanted = format!("less than {} ms", whole_ms(least));
    holds("the gap after none", &gap(0)?, &wanted, gap(0)? < least)
}

async fn the_newest_come_first_up_to_the_limit(stage: &Stage<'_>) -> Check {
    stage.holder_at(12).await?;
    let store = stage.subject.open().await;
    for limit in [0_u64, 1, 5, 12, 50] {
        let asked = usize::try_from(limit).expect("small");
        let terms = store.history(&stage.namespace, asked).await?;
        let epochs: Vec<u64> = terms.iter().map(|term| term.epoch.0).collect();
        let wanted: Vec<u64> = (13 - limit.min(12)..=12).rev().collect();
        same("the epochs", epochs, wanted)?;
    }
    Ok(())
}
