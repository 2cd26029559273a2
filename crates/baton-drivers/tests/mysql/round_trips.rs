//! What a step costs, counted between the store and the server.

use baton_core::protocol::{Ask, Claim, HandoverKind};
use baton_store::{BatchOutcome, DocumentWrite, Precondition};
use baton_testbed::proxy::Proxy;

use crate::fixture::{MysqlFixture, contender};

#[tokio::test]
async fn every_step_is_one_request_and_one_reply() {
    let fixture = MysqlFixture::start().await;
    let proxy = Proxy::to(fixture.server.address()).await;
    let url = fixture.server.url_at(proxy.address());
    let peer = contender(&url, "trips", 1).await;
    let seen = peer.look().await;
    let before = proxy.counts();

    let reply = peer.claim_on(&seen, Claim::Vacant).await.expect("the server answers");
    let mut held = reply.lease.expect("it was just granted").version;
    for _ in 0..10 {
        held = peer.goes_on(held).await;
        peer.look().await;
    }
    assert_eq!(proxy.counts().round_trips - before.round_trips, 21);

    let (store, space) = (peer.store.clone(), peer.namespace.clone());
    store.members(&space).await.expect("the server answers");
    store.inspect(&space).await.expect("the server answers");
    store.history(&space, 5).await.expect("the server answers");
    store.read_document(&space, "d").await.expect("the server answers");
    let write =
        store.write_document(&space, "d", vec![0; 4_096], Precondition::Any, Some(held.epoch));
    write.await.expect("the server answers");
    for documents in [0, 10] {
        let names: Vec<_> = (0..documents).map(|number| format!("d/{number}")).collect();
        store.read_documents(&space, names.clone()).await.expect("the server answers");
        let write =
            |name| DocumentWrite { name, body: vec![0; 4_096], precondition: Precondition::Any };
        let batch = names.into_iter().map(write).collect();
        let written = store.write_documents(&space, batch, Some(held.epoch)).await;
        assert_eq!(written, Ok(BatchOutcome::Written(vec![1; documents])));
    }
    let ask = Ask { nonce: peer.next_nonce(), wish: HandoverKind::Resign };
    store.ask(&space, held.epoch, ask).await.expect("the server answers");
    peer.release(held).await;
    store.leave(&space, &peer.record.id, peer.record.boot).await.expect("the server answers");
    let after = proxy.counts();
    assert_eq!(after.round_trips - before.round_trips, 21 + 8 + 2, "nothing for an empty batch");
    assert_eq!(after.connections, before.connections, "no step made a connection");
}
