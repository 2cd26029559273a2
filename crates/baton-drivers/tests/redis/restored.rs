//! The server's log, put back from an older copy.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::Store;
use baton_testbed::restored::{self, Fresh, Restorable};
use baton_testbed::subject::Fixture;

use crate::fixture::{Redis, open, server};

/// The server, and the options of its URL.
struct Logs {
    fixture: Redis,
    options: &'static str,
}

#[async_trait]
impl Restorable for Logs {
    async fn open(&self) -> Arc<dyn Store> {
        open(&format!("{}{}", self.fixture.url(), self.options)).await
    }

    async fn keep(&self, namespace: &Namespace) {
        assert_eq!(self.fixture.keep_copy(namespace).await, Ok(true));
    }

    async fn put_back(&self, namespace: &Namespace) {
        self.fixture.restore_copy(namespace).await.expect("there is room");
    }

    async fn restart(&self) {
        assert_eq!(self.fixture.restart().await, Ok(true));
    }
}

#[tokio::test]
async fn an_older_log_is_noticed_by_every_node() {
    for options in ["", "?appendfsync=always"] {
        let fixture = Redis(server(&["--appendfsync", "always"]).await);
        let store = Logs { fixture, options };
        restored::nodes_that_remember(&store).await;
        restored::lost_renewals(&store).await;
        assert_eq!(restored::nodes_that_do_not(&store).await, Fresh::Notices);
    }
}
