//! What another user puts beside the file leads nowhere, and users of one group can share it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use baton_core::protocol::{Claim, Expiry};
use baton_drivers::sqlite::SqliteStore;
use baton_store::Store;
use baton_store::wrap::Wrapped;
use baton_testbed::peer::{Process, Remote, Start};
use baton_testbed::subject::Fixture;

use crate::beats::{namespace, take};
use crate::file::File;

/// The user and the group that most systems call `nobody`.
const ANOTHER: u32 = 65_534;

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is this user's");
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_folder_that_is_a_link_is_refused_and_nothing_is_written_through_it() {
    let file = File::new();
    allow(file.folder(), 0o1777);
    let elsewhere = file.folder().join("elsewhere");
    fs::create_dir(&elsewhere).expect("there is room for tests");
    fs::write(elsewhere.join("lineage"), "precious").expect("there is room for tests");
    symlink(&elsewhere, file.beside("-boots")).expect("it can be made");
    let refused = SqliteStore::open(file.config()).err().expect("it is a link").to_string();
    assert!(refused.contains("baton.db-boots cannot hold the process locks (it is a link"));
    let names = fs::read_dir(&elsewhere).map(Iterator::count);
    assert_eq!(names.ok(), Some(1));
    let kept = fs::read_to_string(elsewhere.join("lineage"));
    assert_eq!(kept.ok().as_deref(), Some("precious"));
}

#[test]
fn a_folder_of_another_user_s_is_refused() {
    if !is_root() {
        return;
    }
    let file = File::new();
    fs::create_dir(file.beside("-boots")).expect("there is room for tests");
    chown(file.beside("-boots"), Some(ANOTHER), Some(ANOTHER)).expect("root may");
    let refused = SqliteStore::open(file.config()).err().expect("it is not ours").to_string();
    assert!(
        refused.contains("(it belongs to user 65534, and the database to user 0)"),
        "{refused}"
    );
}

#[tokio::test]
async fn links_in_the_place_of_locks_and_ledger_are_not_followed() {
    let file = File::new();
    let victim = file.folder().join("victim");
    fs::write(&victim, "precious").expect("there is room for tests");
    let boots = file.beside("-boots");
    fs::create_dir(&boots).expect("there is room for tests");
    let boot = format!("{:032x}", 0xb1);
    let draft = format!(".draft-{boot}-{}", std::process::id());
    for name in [draft.as_str(), &boot, ".lineage", "lineage"] {
        symlink(&victim, boots.join(name)).expect("it can be made");
    }
    let store = SqliteStore::open(file.config()).expect("the folder is ours");
    take(&store, &namespace("web"), 0xb1, Claim::Vacant).await;
    assert_eq!(fs::read_to_string(&victim).ok().as_deref(), Some("precious"));
    let lock = fs::symlink_metadata(boots.join(&boot)).expect("it has its lock");
    assert!(lock.is_file(), "the link is gone");
}

#[test]
fn a_database_that_is_another_user_s_link_is_refused() {
    if !is_root() {
        return;
    }
    let file = File::new();
    let target = file.folder().join("made-by-root");
    symlink(&target, file.path()).expect("it can be made");
    lchown(file.path(), Some(ANOTHER), None).expect("root may");
    allow(file.folder(), 0o1777);
    let refused = SqliteStore::open(file.config()).err().expect("it is planted").to_string();
    assert!(refused.contains("is a link that user 65534 made in a folder that"), "{refused}");
    assert!(!target.exists());
    // In a folder of one's own a link is what it was made for.
    allow(file.folder(), 0o700);
    drop(SqliteStore::open(file.config()).expect("it is followed"));
    assert!(target.exists());
}

#[tokio::test]
async fn users_of_one_group_share_a_file_that_the_group_may_write() {
    if !is_root() {
        return;
    }
    let file = File::new();
    chown(file.folder(), None, Some(ANOTHER)).expect("root may");
    allow(file.folder(), 0o2770);
    fs::write(file.path(), "").expect("there is room for tests");
    allow(&file.path(), 0o660);
    let opened = SqliteStore::open(file.config()).expect("an empty file is a new store");
    let store: Arc<dyn Store> = Arc::new(opened);
    let found = fs::metadata(file.beside("-boots")).expect("it was made");
    assert_eq!((found.mode() & 0o777, found.gid()), (0o770, ANOTHER));

    let start = Start { user: Some(ANOTHER), ..Start::default() };
    let process = Process::start(&file.url(), start).await.expect("it may use all of it");
    let process = Arc::new(process);
    let remote = Wrapped::new(store.clone(), Remote(Arc::clone(&process)));
    let web = namespace("web");
    take(&remote, &web, 0xc1, Claim::Vacant).await;
    let left = async || {
        let found = store.inspect(&web).await.expect("it can be read");
        found.lease.expect("it was granted").expiry
    };
    assert_ne!(left().await, Expiry::Left(Duration::ZERO));
    process.kill().await;
    assert_eq!(left().await, Expiry::Left(Duration::ZERO), "its lock can be looked at");
}
