//! A baton that stands still while its command and its guard go on.

use std::time::Duration;

use baton_cli::cluster::Signal;

use crate::judge::{judged, who};
use crate::nodes::{goes_on, job, lead, member, start};
use crate::stage::{FAST, FAST_LEASE, FAST_MARGIN, STEADY, Stage, id, now, until};

/// Much less than any lease.
const HICCUP: Duration = Duration::from_millis(200);

#[tokio::test]
async fn paused_beyond_its_lease_its_job_ends_in_time_and_it_comes_back_as_a_standby() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(FAST).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    let paused = first.node.as_str();
    member(&mut cluster, paused).signal(Signal::STOP).expect("it lives");
    let stopped = now();
    let second = job(&cluster, 1).await;
    assert_ne!(second.node, paused);
    member(&mut cluster, paused).signal(Signal::CONT).expect("it is only paused");
    let over = async || stage.said_by(paused).contains("epoch 1 is over").then_some(());
    until("the old term's end", over).await;
    let stands_by = format!("node {paused} stands by");
    let again = async || (stage.said_by(paused).matches(&stands_by).count() == 2).then_some(());
    until("its return as a standby", again).await;
    goes_on(&cluster, 2, now()).await;
    assert_eq!(lead(&cluster).await.map(|lead| lead.node), Some(id(&second.node)));
    let ticks = judged(&cluster);
    assert_eq!(who(&ticks), [(1, first.node.clone()), (2, second.node)]);
    let last = ticks.terms()[0].3;
    let window = stopped + FAST_LEASE - FAST_MARGIN;
    assert!(last < window, "{last:?} {window:?}");
    // When it was paused is not known to the store: a lease before its successor at the earliest.
    let history = stage.json(&["history"]).await;
    assert_eq!(history[1]["ended"], "expired", "{history}");
    let at_most_ms = history[0]["gap_at_most_ms"].as_u64().expect("a number");
    assert!(u128::from(at_most_ms) >= FAST_LEASE.as_millis(), "{history}");
    let gap_ms = history[0]["gap_ms"].as_u64().expect("a number");
    assert!(u128::from(at_most_ms - gap_ms) >= FAST_LEASE.as_millis() - 1, "{history}");
}

#[tokio::test]
async fn paused_alone_its_job_still_ends_within_the_lease() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(FAST).await;
    let first = start(&mut cluster, &["a"]).await;
    member(&mut cluster, "a").signal(Signal::STOP).expect("it lives");
    let stopped = now();
    let process = std::path::Path::new("/proc").join(first.pid.to_string());
    until("the job's end", async || (!process.exists()).then_some(())).await;
    let over = async || lead(&cluster).await.is_none().then_some(());
    until("the lease's end", over).await;
    assert_eq!(judged(&cluster).all().last().map(|tick| tick.epoch), Some(1));

    member(&mut cluster, "a").signal(Signal::CONT).expect("it is only paused");
    let second = job(&cluster, 1).await;
    assert_eq!((second.epoch, second.node.as_str()), (2, "a"));
    let last = judged(&cluster).terms()[0].3;
    let window = stopped + FAST_LEASE - FAST_MARGIN;
    assert!(last < window, "{last:?} {window:?}");
}

#[tokio::test]
async fn a_hiccup_changes_nothing() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(STEADY).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    for _ in 0..3 {
        member(&mut cluster, &first.node).signal(Signal::STOP).expect("it lives");
        let paused = now();
        // The job does not even notice.
        goes_on(&cluster, 1, paused + HICCUP).await;
        member(&mut cluster, &first.node).signal(Signal::CONT).expect("it is only paused");
        goes_on(&cluster, 1, now() + HICCUP).await;
    }
    assert_eq!(who(&judged(&cluster)), [(1, first.node.clone())]);
    let lead = lead(&cluster).await.expect("a node leads");
    assert_eq!((lead.node, lead.lease.version.epoch.0), (id(&first.node), 1));
}
