//! This program as a peer: a store in a process of its own.

use baton_testbed::peer::serve_if_asked;

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if serve_if_asked() {
        return;
    }
    let refused = baton_drivers::open("etcd://").await.expect_err("it names no host");
    assert!(refused.to_string().starts_with("etcd:// names no host"), "{refused}");
}
