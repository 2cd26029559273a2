//! The primary is lost and a standby promoted: epochs go on, in a new lineage, on the same handle.

use baton_core::ids::Epoch;
use baton_core::protocol::Claim;
use baton_store::FindingLevel;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::wait::until;
use baton_testbed::{Kind, Options, Server};

use crate::fixture::{Postgres, Session, own_alike, program, run, shown};

/// A server that follows the other.
async fn follow(fixture: &Postgres) -> Server {
    let folder = fixture.data().with_file_name("standby");
    std::fs::create_dir_all(&folder).expect("there is room");
    let (port, data) = (fixture.server.address().port().to_string(), shown(&folder.join("data")));
    let from = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-D", &data, "-R"];
    let quick = ["--checkpoint=fast", "--no-sync", "--no-manifest"];
    run(&program("pg_basebackup"), &[&from[..], &quick[..]].concat()).expect("it can be copied");
    own_alike(&fixture.data(), &folder).expect("it can be given away");
    let options = Options { folder: Some(folder), ..Options::default() };
    Server::start_with(Kind::Postgres, options).await.expect("it follows")
}

#[tokio::test]
async fn a_promoted_standby_takes_over_without_opening_again() {
    let fixture = Postgres::start().await;
    let url = fixture.server.url();
    // A handle makes the schema, and the standby copies it.
    drop(fixture.open().await);
    let standby = follow(&fixture).await;
    let both = format!(
        "127.0.0.1:{},127.0.0.1:{}",
        standby.address().port(),
        fixture.server.address().port()
    );
    let url_of_both = url.replace(&fixture.server.address().to_string(), &both);
    // The standby is named first, and passed over.
    let store = baton_drivers::open(&url_of_both).await.expect("one of them can be written to");
    let node = Contender::new(&store, &namespace("web"), 1);
    let held = node.take(Claim::Vacant).await;
    assert_eq!(held.epoch, Epoch(1));
    node.release(held).await;
    let before = node.look().await.lineage;

    let findings = node.store.examine().await.expect("it is answered");
    let replicas = findings.iter().find(|finding| finding.check == "replicas");
    assert_eq!(replicas.map(|finding| finding.verdict), Some(FindingLevel::Warn), "{findings:?}");

    let follower = Session::open(&standby.url()).await;
    let caught_up = || async {
        let seen = follower.run("SELECT 1 FROM public.baton_locks WHERE status = 0").await;
        seen.is_ok_and(|rows| rows.len() == 1).then_some(())
    };
    until("the standby has it all", caught_up).await;
    fixture.server.kill().await.expect("it is ours");
    follower.run("SELECT pg_promote()").await.expect("it becomes the primary");

    let after = node.look_until_answered().await;
    assert!(after.lineage > before, "{after:?} after {before:?}");
    let held = node.take(Claim::Vacant).await;
    assert!(held.epoch.0 > Epoch::LEAP, "{held:?}: what may have been lost is leapt over");
}
