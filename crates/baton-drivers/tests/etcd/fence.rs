//! Fenced writes of the user's own keys: nothing is lost, and a paused coordinator comes too late.

use std::io::Write;
use std::process::Stdio;

use baton_core::ids::{BootId, Epoch};
use baton_core::protocol::Claim;
use baton_drivers::etcd::fence::{Behind, EtcdFence, FenceError};
use baton_testbed::{Kind, Server};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinSet;

use crate::beats::{Node, namespace, open};
use crate::hand::{Hand, coded};

const URL: &str = "BATON_TEST_FENCED_URL";
const BOOT: &str = "BATON_TEST_FENCED_BOOT";
const MARK: &str = "fenced> ";
const DATA: &str = "shop/invoices";

fn counted(value: Option<&[u8]>) -> u64 {
    let text = value.map(|value| std::str::from_utf8(value).expect("it is text"));
    text.map_or(0, |text| text.parse().expect("it is a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_highest_epoch_wins_and_no_increment_is_lost() {
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
    let (url, space) = (server.url(), namespace("fenced"));
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let (url, space) = (url.clone(), space.clone());
        workers.spawn(async move {
            let fence = EtcdFence::open(&url, &space, "counter").await.expect("etcd answers");
            for _ in 0..25 {
                let next = |value: Option<&[u8]>| (counted(value) + 1).to_string().into_bytes();
                fence.update(Epoch(4), "shop/count", next).await.expect("epoch 4 is the highest");
            }
        });
    }
    while let Some(done) = workers.join_next().await {
        done.expect("no worker panics");
    }
    let hand = Hand::on(server.address());
    let count = hand.under("shop/count").await.remove(0).1;
    assert_eq!(counted(Some(&count)), 200);

    let fence = EtcdFence::open(&url, &space, "counter").await.expect("etcd answers");
    fence.put(Epoch(5), "shop/count", b"0").await.expect("5 is higher");
    fence.put(Epoch(5), "shop/count", b"1").await.expect("5 is as high");
    let behind = |given| {
        let (resource, highest) = ("counter".to_owned(), Epoch(5));
        Err(FenceError::Behind(Behind { resource, given: Epoch(given), highest }))
    };
    assert_eq!(fence.put(Epoch(4), "shop/count", b"x").await, behind(4));
    assert_eq!(fence.update(Epoch(3), "shop/count", |_| b"x".to_vec()).await, behind(3));
    assert_eq!(hand.under("shop/count").await.remove(0).1, b"1", "nothing was written");
    // Another resource has a fence of its own, and the highest number is a number.
    let other = EtcdFence::open(&url, &space, "other").await.expect("etcd answers");
    other.put(Epoch(1), "shop/other", b"x").await.expect("nobody wrote there");
    other.put(Epoch(u64::MAX), "shop/other", b"y").await.expect("nothing is higher");
    other.put(Epoch(u64::MAX), "shop/other", b"z").await.expect("it is as high");

    // The same condition, in a transaction of somebody else's client.
    let guard = fence.guard(Epoch(4));
    let txn = |less_than: &[u8]| {
        format!(
            r#"{{"compare":[{{"key":"{key}","target":"VALUE","result":"LESS","value":"{}"}}]}}"#,
            coded(less_than),
            key = coded(&guard.key),
        )
    };
    assert!(hand.say("kv/txn", txn(&guard.less_than)).await.get("succeeded").is_none());
    let later = fence.guard(Epoch(6));
    assert_eq!(hand.say("kv/txn", txn(&later.less_than)).await["succeeded"], true);
}

/// A coordinator in a process of its own: takes the lease, says its epoch, waits for a line, and
/// then writes.
#[tokio::test]
async fn a_coordinator_of_its_own() {
    let (Ok(url), Ok(boot)) = (std::env::var(URL), std::env::var(BOOT)) else {
        assert!(std::env::var(URL).is_err(), "a coordinator is told which boot it is");
        return;
    };
    let boot: u128 = boot.parse().expect("it is a number");
    let (store, space) = (open(&url).await, namespace("paused"));
    let mut node = Node::new(&store, &space, boot);
    let ground = match boot {
        1 => Claim::Vacant,
        _ => Claim::Dead { boot: BootId(1) },
    };
    let epoch = node.take(ground).await.version.epoch;
    let fence = EtcdFence::open(&url, &space, "invoices").await.expect("etcd answers");
    say(&format!("epoch {epoch}"));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("it is told to go on");
    let wrote = fence.put(epoch, DATA, format!("of boot {boot}").as_bytes()).await;
    say(&match wrote {
        Ok(()) => "written".to_owned(),
        Err(refused) => refused.to_string(),
    });
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let said = writeln!(out, "\n{MARK}{text}").and_then(|()| out.flush());
    said.expect("somebody listens");
}

struct Coordinator {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Coordinator {
    fn start(url: &str, boot: u128) -> Self {
        let this = std::env::current_exe().expect("this program runs");
        let mut command = Command::new(this);
        command.args(["--exact", "fence::a_coordinator_of_its_own", "--nocapture"]);
        command.env(URL, url).env(BOOT, boot.to_string()).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("this program can be started");
        let said = BufReader::new(child.stdout.take().expect("it was asked for")).lines();
        Self { child, said }
    }

    async fn hear(&mut self) -> String {
        while let Some(line) = self.said.next_line().await.expect("it can be read") {
            if let Some(said) = line.strip_prefix(MARK) {
                return said.to_owned();
            }
        }
        unreachable!("it speaks before it ends")
    }

    async fn go_on(&mut self) {
        let orders = self.child.stdin.as_mut().expect("it was asked for");
        orders.write_all(b"go\n").await.expect("it listens");
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.id().expect("it has not been waited for");
        let pid = Pid::from_raw(i32::try_from(pid).expect("ids are small")).expect("not 0");
        kill_process(pid, signal).expect("it is our child");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_coordinator_comes_too_late() {
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
    let mut old = Coordinator::start(&server.url(), 1);
    assert_eq!(old.hear().await, "epoch 1");
    old.signal(Signal::STOP);
    old.go_on().await;

    let mut new = Coordinator::start(&server.url(), 2);
    assert_eq!(new.hear().await, "epoch 2");
    new.go_on().await;
    assert_eq!(new.hear().await, "written");

    old.signal(Signal::CONT);
    let wanted = "epoch 1 may not write to \"invoices\" any more: epoch 2 did; stop";
    assert_eq!(old.hear().await, wanted);
    let stands = Hand::on(server.address()).under(DATA).await.remove(0).1;
    assert_eq!(String::from_utf8_lossy(&stands), "of boot 2");
}
