//! Time zones and wall clocks that are off: nothing changes.

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Expiry};

use super::case::{CaseError, Check, Requirement, arranged, cases, same};
use super::peer::{Peer, lost, won};
use super::stage::Stage;

cases! { "clocks":
    a_session_in_another_zone_changes_nothing
        needs Requirement::Expiry => only_the_observer_tells_the_time,
    a_wall_clock_ten_minutes_ahead_changes_nothing
        needs Requirement::Expiry => only_the_observer_tells_the_time,
    a_wall_clock_ten_minutes_behind_changes_nothing
        needs Requirement::Expiry => only_the_observer_tells_the_time,
}

/// The rival must find the holder's lease live, and then over when it is over.
async fn is_live_and_then_over(stage: &Stage<'_>, holder: &mut Peer, rival: &mut Peer) -> Check {
    let first = holder.take(Claim::Vacant).await?;
    stage.pass(stage.settings.ttl / 2).await;
    let reply = rival.look_and_claim(Claim::Expired).await?;
    stage.is_live(lost(&reply, first)?)?;
    let renewed = holder.renew(first).await?;
    let held = won(&renewed, holder)?.version;
    stage.expire().await;
    let late = holder.renew(held).await?;
    lost(&late, held)?;
    let taken = rival.take(Claim::Expired).await?;
    same("the epoch", taken.epoch, Epoch(held.epoch.0 + 1))?;
    rival.resign(taken).await
}

async fn a_session_in_another_zone_changes_nothing(stage: &Stage<'_>) -> Check {
    let zoned = stage.subject.open_in_another_zone().await;
    let zoned = zoned.ok_or(CaseError::NotArrangeable("a session in another time zone"))?;
    let mut east = stage.peer_on(zoned, &stage.namespace, "east");
    let mut utc = stage.peer("utc").await;
    is_live_and_then_over(stage, &mut utc, &mut east).await?;
    is_live_and_then_over(stage, &mut east, &mut utc).await
}

async fn a_wall_clock_ten_minutes_ahead_changes_nothing(stage: &Stage<'_>) -> Check {
    a_step_changes_nothing(stage, 10).await
}

async fn a_wall_clock_ten_minutes_behind_changes_nothing(stage: &Stage<'_>) -> Check {
    a_step_changes_nothing(stage, -10).await
}

async fn a_step_changes_nothing(stage: &Stage<'_>, minutes: i64) -> Check {
    const WHAT: &str = "stepping the wall clock";
    let (mut first, held) = stage.holder("a").await?;
    arranged(WHAT, stage.subject.step_wall(minutes).await)?;
    let mut rival = stage.peer("b").await;
    // Ends after the step back, so that a failure leaves no other case in a stepped world.
    let found = async {
        let reply = rival.look_and_claim(Claim::Expired).await?;
        stage.is_live(lost(&reply, held)?)?;
        first.resign(held).await?;
        is_live_and_then_over(stage, &mut first, &mut rival).await
    };
    let found = found.await;
    arranged(WHAT, stage.subject.step_wall(-minutes).await)?;
    found
}

async fn only_the_observer_tells_the_time(stage: &Stage<'_>) -> Check {
    let (_holder, _) = stage.holder("a").await?;
    for _ in 0..2 {
        same("the expiry", stage.lease().await?.expiry, Expiry::Observer)?;
        stage.expire().await;
    }
    Ok(())
}
