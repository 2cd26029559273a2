//! Nodes that die one after another and come back at once, on a store that proves no death by
//! itself. The lease and the dispute about an id last longer than any test waits.

use baton_testbed::{Kind, Server};

use crate::judge::{judged, who};
use crate::nodes::{gathered, job, member, start};
use crate::stage::{Stage, id};

/// Two beats, which a silent process is watched for, and the lease are longer than any wait here.
const SLOW: &[&str] =
    &["--lease-timeout=1m", "--heartbeat-interval=18s", "--cold-start-observation-window=200ms"];

#[tokio::test]
async fn a_lone_node_restarted_under_its_own_id_leads_although_its_past_self_holds_the_lease() {
    let (stage, server) = (Stage::new(), Server::start(Kind::Redis).await.expect("it starts"));
    let mut cluster = stage.cluster_on(server.url(), SLOW).await;
    start(&mut cluster, &["a"]).await;
    member(&mut cluster, "a").kill().expect("it is ours");
    cluster.start(&id("a")).expect("the program was built");
    assert_eq!(job(&cluster, 1).await.epoch, 2);
    assert_eq!(who(&judged(&cluster)).len(), 2);
}

#[tokio::test]
async fn leaders_that_are_killed_and_restarted_at_once_are_followed_every_time() {
    let (stage, server) = (Stage::new(), Server::start(Kind::Redis).await.expect("it starts"));
    let mut cluster = stage.cluster_on(server.url(), SLOW).await;
    let mut leads = start(&mut cluster, &["a", "b", "c"]).await;
    for epoch in 2..=6 {
        member(&mut cluster, &leads.node).kill().expect("it is ours");
        cluster.start(&id(&leads.node)).expect("the program was built");
        leads = job(&cluster, epoch - 1).await;
        // The restarted one is in line again, and not only its record.
        gathered(&cluster, 3).await;
    }
    assert_eq!(who(&judged(&cluster)).len(), 6);
}
