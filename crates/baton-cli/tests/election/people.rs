//! Mistakes in `baton run`: one line that says what to do, an exit code, and no command run. What
//! every command has in common is tested with `baton serve`.

use crate::stage::{ALONE, Stage};

const USAGE: i32 = 2;
const STORE: i32 = 3;

/// Runs a command that must not run.
async fn refused(stage: &Stage, flags: &[&str], code: i32, says: &str) {
    let said = stage.run(&[ALONE, flags].concat(), "echo > ran").said().await;
    assert_eq!(said.code, Some(code), "{flags:?}: {}", said.err);
    assert_eq!(said.err.lines().count(), 1, "{flags:?}: {}", said.err);
    assert!(said.err.starts_with("baton: ") && said.err.contains(says), "{flags:?}: {}", said.err);
    assert!(said.out.is_empty() && !stage.path("ran").exists(), "{flags:?}: {}", said.out);
}

#[tokio::test]
async fn flags_and_settings_that_make_no_sense() {
    let stage = Stage::new();
    let cases: [(&[&str], &str); 7] = [
        (&["--on-loss", "exit"], "'--on-lost'"),
        (&["--on-lost", "restart"], "possible values: exit, wait"),
        (&["--once", "--restart"], "cannot be used with"),
        (
            &["--lease-timeout", "4s", "--heartbeat-interval", "5s"],
            "lease_timeout (4s) must be at least 10s because of heartbeat_interval (5s)",
        ),
        (&["--profile", "quick"], "choose one of default, "),
        (&["--config", "absent.toml"], "absent.toml"),
        (&["--id", "a/b"], "--id: node id has '/' at position 2"),
    ];
    for (flags, says) in cases {
        refused(&stage, flags, USAGE, says).await;
    }
    assert!(!stage.path("baton.db").exists());
}

#[tokio::test]
async fn no_command_at_all() {
    let stage = Stage::new();
    for arguments in [&["run"][..], &["run", "--"], &["run", "echo"]] {
        let said = stage.baton(arguments).await;
        assert_eq!((said.code, said.err.lines().count()), (Some(USAGE), 1), "{}", said.err);
    }
}

#[tokio::test]
async fn stores_that_cannot_be_used() {
    let stage = Stage::new();
    let foreign = rusqlite::Connection::open(stage.path("foreign.db")).expect("writable");
    foreign.execute_batch("CREATE TABLE theirs (a)").expect("a valid table");
    drop(foreign);
    let cases = [
        ("oracle://here", "known are sqlite, postgres, mysql, redis, s3, etcd and memory"),
        ("sqlite://", "names no file"),
        ("sqlite://.", "is a folder; name a file in it"),
        ("sqlite://foreign.db", "baton needs a file of its own"),
        ("sqlite:///proc/baton.db", "/proc/baton.db cannot be opened"),
        ("sqlite:///dev/null/baton.db", "/dev/null"),
    ];
    for (store, says) in cases {
        refused(&stage, &["--store", store], STORE, says).await;
    }
    assert!(!stage.path("foreign.db-boots").exists(), "it is not ours to write beside");
}
