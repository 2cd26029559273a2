//! Older versions of a namespace's objects, copied over the present ones.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::Store;
use baton_testbed::restored::{self, Fresh, Restorable};
use baton_testbed::subject::Fixture;

use crate::fixture::S3Fixture;

#[async_trait]
impl Restorable for S3Fixture {
    async fn open(&self) -> Arc<dyn Store> {
        baton_drivers::open(&self.url()).await.expect("it can be opened")
    }

    async fn keep(&self, namespace: &Namespace) {
        assert_eq!(self.keep_copy(namespace).await, Ok(true));
    }

    async fn put_back(&self, namespace: &Namespace) {
        self.restore_copy(namespace).await.expect("they can be written");
    }

    async fn restart(&self) {
        // A server that the environment names is not ours to stop.
        Fixture::restart(self).await.expect("it can be started");
    }
}

#[tokio::test]
async fn older_objects_grant_no_epoch_twice_while_a_node_that_saw_more_is_there() {
    let site = S3Fixture::start().await;
    restored::nodes_that_remember(&site).await;
    assert_eq!(restored::nodes_that_do_not(&site).await, Fresh::CannotTell);
    restored::a_restart(&site).await;
}
