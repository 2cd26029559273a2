//! Process locks: they last as long as the process, and as long as any process that was handed a
//! duplicate.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::protocol::{Claim, Expiry};
use baton_drivers::sqlite::{SqliteConfig, SqliteStore, process_locks};
use baton_store::Store;
use baton_store::wrap::Wrapped;
use baton_testbed::paused::{self, PausedLeader};
use baton_testbed::peer::{Process, Remote, Start};
use baton_testbed::subject::Fixture;
use baton_testbed::wait::until;

use crate::beats::{namespace, take};
use crate::file::File;

fn open(file: &File) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(file.config()).expect("the file can be opened"))
}

/// A process that has taken the lease.
async fn holder(file: &File, boot: u128) -> Arc<Process> {
    let process = Process::start(&file.url(), Start::default()).await.expect("it opens");
    let process = Arc::new(process);
    let remote = Wrapped::new(open(file), Remote(Arc::clone(&process)));
    take(&remote, &namespace("web"), boot, Claim::Vacant).await;
    process
}

async fn is_over(store: &dyn Store) -> bool {
    let found = store.inspect(&namespace("web")).await.expect("it can be read");
    found.lease.expect("it was granted").expiry == Expiry::Left(Duration::ZERO)
}

/// Takes the lease, and starts a process that has the lock too.
async fn lead_with_a_guard(path: &Path) {
    let store = SqliteStore::open(SqliteConfig::at(path)).expect("the file can be opened");
    take(&store, &namespace("web"), 0xa1, Claim::Vacant).await;
    let lock = process_locks(BootId(0xa1)).pop().expect("the boot has beaten here");
    let guard = Command::new("sleep")
        .arg("600")
        .stdin(Stdio::from(lock))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let guard = guard.expect("every machine can sleep").id();
    paused::report(&format!("{} {guard}", std::process::id()));
    paused::wait_for_go_ahead();
}

fn kill(pid: &str) {
    let killed = Command::new("kill").args(["-9", pid]).status();
    assert!(killed.expect("every machine can kill").success());
}

#[tokio::test]
async fn a_death_ends_the_lease_unless_a_guard_has_the_lock_too() {
    if let Some(path) = paused::orders_if_asked() {
        return lead_with_a_guard(Path::new(&path)).await;
    }
    let file = File::new();
    let store = open(&file);
    let test = "locks::a_death_ends_the_lease_unless_a_guard_has_the_lock_too";
    let mut leader = PausedLeader::start(test, &file.path().display().to_string());
    let said = leader.next_report().await;
    let (pid, guard) = said.split_once(' ').expect("it says two process ids");
    assert!(!is_over(&*store).await, "its process lives");
    kill(pid);
    assert!(!leader.ended_well().await);
    assert!(!is_over(&*store).await, "its guard lives");
    kill(guard);
    // The guard has no parent that waits for it; its lock tells when it is gone.
    until("the lease to be over", async || is_over(&*store).await.then_some(())).await;
}

#[tokio::test]
async fn a_dropped_handle_is_not_a_death_and_a_leave_is_not_one_either() {
    let file = File::new();
    let (web, api) = (namespace("web"), namespace("api"));
    let boot = BootId(0xb2);
    let (one, other) = (open(&file), open(&file));
    take(&*one, &web, boot.0, Claim::Vacant).await;
    take(&*one, &api, boot.0, Claim::Vacant).await;
    let lock = file.beside("-boots").join(boot.to_string());
    assert_eq!((process_locks(boot).len(), lock.exists()), (1, true));

    drop(one);
    let process = Process::start(&file.url(), Start::default()).await.expect("it opens");
    let onlooker = Wrapped::new(open(&file), Remote(Arc::new(process)));
    assert!(!is_over(&onlooker).await, "the process goes on");

    let node = crate::beats::beat(boot.0, baton_core::protocol::LeaseIntent::Observe).node.id;
    other.leave(&api, &node, boot).await.expect("it is there");
    assert!(lock.exists(), "it is in one namespace still");
    other.leave(&web, &node, boot).await.expect("it is there");
    assert_eq!((process_locks(boot).len(), lock.exists()), (0, false));
    assert!(!is_over(&onlooker).await, "a lock that is gone proves nothing");
}

#[tokio::test]
async fn a_copy_of_a_lock_proves_nothing() {
    let file = File::new();
    let store = open(&file);
    let process = holder(&file, 0xc3).await;
    let lock = file.beside("-boots").join(BootId(0xc3).to_string());
    let copy = file.folder().join("copy");
    fs::copy(&lock, &copy).expect("it can be read");
    fs::rename(&copy, &lock).expect("they are on one disk");
    assert!(!is_over(&*store).await, "a restored folder is no death");
    process.kill().await;
    assert!(!is_over(&*store).await, "and no process can tell any more");
}

#[tokio::test]
async fn locks_that_nothing_speaks_of_are_swept_away_and_others_are_not() {
    let file = File::new();
    let store = open(&file);
    let process = holder(&file, 0xd4).await;
    let boots = file.beside("-boots");
    let [spoken_of, forgotten, draft] =
        [format!("{:032x}", 0xd4), format!("{:032x}", 0xd5), ".draft-x-1".to_owned()]
            .map(|name| boots.join(name));
    fs::write(&forgotten, "").expect("the folder can be written");
    fs::write(&draft, "").expect("the folder can be written");
    process.kill().await;
    drop(open(&file));
    let there = [&spoken_of, &forgotten, &draft].map(|path| path.exists());
    assert_eq!(there, [true, false, false]);
    assert!(is_over(&*store).await, "the one that is needed still tells");
}
