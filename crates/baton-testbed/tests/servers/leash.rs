//! What is left when a test is killed with -9: nothing.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use baton_testbed::{Kind, Options, Server};

/// Says to a process of this program which server it is to start and to wait with.
const WAIT_WITH: &str = "BATON_TEST_WAIT_WITH";

#[tokio::test]
async fn a_server_waits_in_a_process_of_its_own() {
    let kind = std::env::var(WAIT_WITH).ok().and_then(|name| name.parse::<Kind>().ok());
    if let Some(kind) = kind {
        let server = Server::start_with(kind, Options::default()).await.expect("it starts");
        let folder = server.folder().expect("it is ours").display().to_string();
        let line = format!("\nserver {} {folder}\n", server.pid().expect("it runs"));
        std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes()).expect("it is a pipe");
        std::future::pending::<()>().await;
    }
    assert_eq!(kind, None);
}

/// Processes that have this folder in their command line, or this one's child's.
fn processes_of(folder: &Path) -> Vec<String> {
    let text = folder.display().to_string();
    let entries = std::fs::read_dir("/proc").expect("this is Linux").flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(&text)).collect()
}

async fn assert_nothing_is_left(kind: Kind) {
    let this = std::env::current_exe().expect("a test knows its program");
    let test = "leash::a_server_waits_in_a_process_of_its_own";
    let mut process = Command::new(this)
        .args(["--exact", test, "--nocapture"])
        .env(WAIT_WITH, kind.name())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test's own program can be started");
    let lines = BufReader::new(process.stdout.take().expect("it was asked for")).lines();
    let said = lines.map_while(Result::ok).find_map(|line| {
        let (pid, folder) = line.strip_prefix("server ")?.split_once(' ')?;
        Some((pid.to_owned(), PathBuf::from(folder)))
    });
    let (pid, folder) = said.expect("it says what it started");
    let server = Path::new("/proc").join(pid);
    assert!(server.exists() && folder.exists() && !processes_of(&folder).is_empty());

    process.kill().expect("it is this one's child");
    process.wait().expect("it is this one's child");
    let until = SystemClock.now() + Duration::from_secs(20);
    let is_left = || server.exists() || folder.exists() || !processes_of(&folder).is_empty();
    while is_left() && SystemClock.now() < until {
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
    let processes = processes_of(&folder);
    assert!(!is_left(), "{kind:?}: {} is left, and {processes:?}", folder.display());
}

/// Its children are in sessions of their own.
#[tokio::test]
async fn postgres_goes_with_its_test() {
    assert_nothing_is_left(Kind::Postgres).await;
}

#[tokio::test]
async fn redis_goes_with_its_test() {
    assert_nothing_is_left(Kind::Redis).await;
}
