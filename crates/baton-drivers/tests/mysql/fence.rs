//! Fenced writes to the user's own tables.

use std::io::{BufRead, Write};
use std::process::Stdio;

use baton_core::ids::Epoch;
use baton_core::protocol::Claim;
use baton_drivers::mysql::fence::{Fence, Refused};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, TxOpts};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::beats::Peer;
use crate::ground::MysqlGround;

const TASK: &str = "BATON_TEST_FENCED_WRITER";

async fn connect(url: &str) -> Conn {
    let options = Opts::from_url(url).expect("the testbed's URLs are sound");
    Conn::new(OptsBuilder::from_opts(options).prefer_socket(false)).await.expect("it answers")
}

/// Adds one to the counter and says who did, all under the fence.
async fn write(conn: &mut Conn, epoch: Epoch, who: &str) -> Result<(), Refused> {
    let fence = Fence::new("app_")?;
    let mut work = conn.start_transaction(TxOpts::default()).await?;
    fence.admit(&mut work, "counter", epoch).await?;
    work.exec_drop("UPDATE app_counter SET number = number + 1, who = ?", (who,)).await?;
    Ok(work.commit().await?)
}

async fn prepare(ground: &MysqlGround) -> Conn {
    let mut conn = ground.connect().await;
    Fence::new("app_").expect("a good prefix").create(&mut conn).await.expect("it may");
    let make = "CREATE TABLE app_counter (number INT NOT NULL, who VARCHAR(40)) ENGINE = InnoDB";
    conn.query_drop("DROP TABLE IF EXISTS app_counter").await.expect("it may");
    conn.query_drop("DELETE FROM app_fences").await.expect("it may");
    conn.query_drop(make).await.expect("it may");
    conn.query_drop("INSERT INTO app_counter VALUES (0, NULL)").await.expect("it may");
    conn
}

/// In a process of its own: takes the lease, stops itself right before its fenced write, and says
/// what became of it. Serves if it was started for that.
pub fn write_if_asked() -> bool {
    let Ok(task) = std::env::var(TASK) else { return false };
    let written = std::thread::scope(|scope| scope.spawn(|| old_leader(&task)).join());
    assert!(written.is_ok(), "the writer panicked");
    true
}

fn old_leader(url: &str) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a process can have a second thread");
    let said = runtime.block_on(async {
        let mut conn = connect(url).await;
        let mut peer = Peer::open(url, "fenced", "old", 1).await;
        let held = peer.take(Claim::Vacant).await;
        say(&format!("epoch {}", held.epoch));
        // Somebody stops this process here, and lets it go on when another leads.
        let heard = std::io::stdin().lock().read_line(&mut String::new());
        heard.expect("whoever started this process speaks to it");
        match write(&mut conn, held.epoch, "old").await {
            Ok(()) => "written".to_owned(),
            Err(error) => error.to_string(),
        }
    });
    say(&said);
}

fn say(said: &str) {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "\nwriter> {said}").and_then(|()| out.flush());
    written.expect("whoever started this process listens");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_highest_epoch_wins_and_no_increment_is_lost() {
    let ground = MysqlGround::start().await;
    let mut conn = prepare(&ground).await;
    let mut writers = JoinSet::new();
    for number in 1..=8_u64 {
        let mut own = ground.connect_with(|it| it.client_found_rows(number % 2 == 0)).await;
        writers.spawn(async move {
            let mut admitted = 0_u64;
            for _ in 0..20 {
                match write(&mut own, Epoch(5), "five").await {
                    Ok(()) => admitted += 1,
                    Err(error) => unreachable!("the present epoch was refused: {error}"),
                }
            }
            admitted
        });
    }
    let admitted: u64 = writers.join_all().await.into_iter().sum();
    let count = async |conn: &mut Conn| conn.query_first("SELECT number FROM app_counter").await;
    assert_eq!(count(&mut conn).await.expect("it may"), Some(admitted));

    for found_rows in [false, true] {
        let mut conn = ground.connect_with(|it| it.client_found_rows(found_rows)).await;
        write(&mut conn, Epoch(6), "six").await.expect("a later epoch is admitted");
        write(&mut conn, Epoch(6), "six").await.expect("and again");
        let late = write(&mut conn, Epoch(5), "five").await.expect_err("it came too late");
        let wanted = "epoch 5 is behind 6, which was admitted to counter; its term is over";
        assert_eq!(late.to_string(), wanted, "found rows: {found_rows}");
    }
    assert_eq!(count(&mut conn).await.expect("it may"), Some(admitted + 4));
    assert!(matches!(Fence::new("a-b"), Err(Refused::Prefix(_))));
}

/// The old leader is stopped before its write, another takes over and writes, the old one goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_paused_writes_nothing() {
    let ground = MysqlGround::start().await;
    let mut conn = prepare(&ground).await;
    let this = std::env::current_exe().expect("a test knows its program");
    let mut child = Command::new(this)
        .args(["--exact", "peer::a_peer_answers_from_its_own_process", "--nocapture"])
        .env(TASK, ground.server.url())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it can be started again");
    let mut said = BufReader::new(child.stdout.take().expect("it was asked for")).lines();
    let mut hear = async || loop {
        let line = said.next_line().await.expect("it is text").expect("it goes on");
        if let Some(said) = line.strip_prefix("writer> ") {
            return said.to_owned();
        }
    };
    assert_eq!(hear().await, "epoch 1");
    let pid = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed())).expect("it runs");
    kill_process(pid, Signal::STOP).expect("it is this one's child");

    let mut next = Peer::open(&ground.server.url(), "fenced", "new", 2).await;
    let held = next.take(Claim::Dead { boot: baton_core::ids::BootId(1) }).await;
    assert_eq!(held.epoch, Epoch(2));
    write(&mut conn, held.epoch, "new").await.expect("the present epoch is admitted");
    drop(child.stdin.take());
    kill_process(pid, Signal::CONT).expect("it is this one's child");
    let wanted = "epoch 1 is behind 2, which was admitted to counter; its term is over";
    assert_eq!(hear().await, wanted);
    let stands: Option<(u64, String)> =
        conn.query_first("SELECT number, who FROM app_counter").await.expect("it may");
    assert_eq!(stands, Some((1, "new".to_owned())));
}
