//! The server's own files, put back from an older copy: same server id, same folder.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::Store;
use baton_testbed::restored::{self, Fresh, Restorable};
use baton_testbed::subject::Fixture;

use crate::fixture::MysqlFixture;

#[async_trait]
impl Restorable for MysqlFixture {
    async fn open(&self) -> Arc<dyn Store> {
        baton_drivers::open(&self.url()).await.expect("it can be opened")
    }

    async fn keep(&self, namespace: &Namespace) {
        assert_eq!(self.keep_copy(namespace).await, Ok(true));
    }

    async fn put_back(&self, _namespace: &Namespace) {
        MysqlFixture::put_back(self).await.expect("there is room");
    }

    async fn restart(&self) {
        assert_eq!(Fixture::restart(self).await, Ok(true));
    }
}

#[tokio::test]
async fn an_older_copy_of_its_files_is_noticed_by_nodes_that_saw_more() {
    let fixture = MysqlFixture::start().await;
    if fixture.is_named() {
        return;
    }
    restored::nodes_that_remember(&fixture).await;
    restored::lost_renewals(&fixture).await;
    assert_eq!(restored::nodes_that_do_not(&fixture).await, Fresh::CannotTell);
    restored::a_restart(&fixture).await;
}
