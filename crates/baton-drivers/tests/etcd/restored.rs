//! A snapshot by etcd's own client, restored into the same member.

use std::process::Command;
use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::Store;
use baton_testbed::ETCDCTL;
use baton_testbed::restored::{self, Fresh, Restorable};
use baton_testbed::subject::Fixture;

use crate::fixture::{Etcd, open};

impl Etcd {
    /// A file in the server's folder.
    fn file(&self, name: &str) -> String {
        self.server.folder().expect("it is ours").join(name).display().to_string()
    }

    fn etcdctl(&self, arguments: &[&str]) {
        let program = ETCDCTL.find().expect("etcd's client can be installed");
        let endpoint = format!("http://{}", self.server.address());
        let mut command = Command::new(program);
        command.env("ETCDCTL_API", "3").args(["--endpoints", &endpoint]).args(arguments);
        let done = command.output().expect("it can be run");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

#[async_trait]
impl Restorable for Etcd {
    async fn open(&self) -> Arc<dyn Store> {
        open(&self.url()).await
    }

    async fn keep(&self, _namespace: &Namespace) {
        self.etcdctl(&["snapshot", "save", &self.file("snapshot.db")]);
    }

    async fn put_back(&self, _namespace: &Namespace) {
        let members = self.client().post("cluster/member/list", "{}".to_owned()).await;
        let peer = members["members"][0]["peerURLs"][0].as_str().expect("it has one").to_owned();
        self.server.kill().await.expect("it is ours");
        std::fs::remove_dir_all(self.file("data")).expect("it was running there");
        self.etcdctl(&[
            "snapshot",
            "restore",
            &self.file("snapshot.db"),
            "--data-dir",
            &self.file("data"),
            "--name=t",
            &format!("--initial-cluster=t={peer}"),
            &format!("--initial-advertise-peer-urls={peer}"),
        ]);
        self.server.start_again().await.expect("it starts on the snapshot");
    }

    async fn restart(&self) {
        assert_eq!(Fixture::restart(self).await, Ok(true));
    }
}

#[tokio::test]
async fn a_snapshot_grants_no_epoch_twice_while_a_node_that_saw_more_is_there() {
    let etcd = Etcd::start().await;
    restored::nodes_that_remember(&etcd).await;
    assert_eq!(restored::nodes_that_do_not(&etcd).await, Fresh::CannotTell);
    restored::a_restart(&etcd).await;
}
