//! What cannot be a store is refused with one line that says what to do.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use baton_core::protocol::Claim;
use baton_drivers::{open, open_to_read};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::peer::{Process, Start};
use baton_testbed::subject::Fixture;
use rusqlite::Connection;

use crate::file::File;

/// Why the file is refused.
async fn refusal(file: &File) -> String {
    let url = format!("sqlite://{}", file.path().display());
    let refused = open(&url).await.expect_err("it must be refused").to_string();
    assert!(!refused.contains('\n'), "{refused}");
    refused.replace(&file.folder().display().to_string(), "DIR")
}

#[tokio::test]
async fn a_folder_is_not_a_file() {
    let file = File::new();
    fs::create_dir(file.path()).expect("there is room");
    let wanted = "DIR/baton.db is a folder; name a file in it, such as DIR/baton.db/baton.db";
    assert_eq!(refusal(&file).await, wanted);
}

#[tokio::test]
async fn a_file_above_is_not_a_folder() {
    let file = File::new();
    fs::write(file.folder().join("x"), "").expect("there is room");
    let url = format!("sqlite://{}/x/baton.db", file.folder().display());
    let refused = open(&url).await.expect_err("it must be refused").to_string();
    assert!(refused.contains("/x cannot be created ("), "{refused}");
    assert!(refused.ends_with("); create the folder or choose another"), "{refused}");
}

#[tokio::test]
async fn missing_folders_are_made_for_this_user_alone() {
    let file = File::new();
    let url = format!("sqlite://{}/a/b/baton.db", file.folder().display());
    let store = open(&url).await.expect("the folders can be made");
    assert_eq!(store.declaration().name, "sqlite");
    let mode = fs::metadata(file.folder().join("a/b")).expect("it was made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn something_that_is_no_database_is_left_alone() {
    let file = File::new();
    let text = "Dear diary, ".repeat(100);
    fs::write(file.path(), &text).expect("there is room");
    let wanted = "DIR/baton.db is not a SQLite database; choose another file name";
    assert_eq!(refusal(&file).await, wanted);
    assert_eq!(fs::read_to_string(file.path()).expect("it is there"), text);
}

#[tokio::test]
async fn a_database_of_something_else_is_left_alone() {
    let file = File::new();
    file.sql("CREATE TABLE customers (name TEXT)").expect("there is room");
    let before = fs::read(file.path()).expect("it is there");
    let wanted = "DIR/baton.db is a SQLite database of something else; \
                  baton needs a file of its own";
    assert_eq!(refusal(&file).await, wanted);
    assert_eq!(fs::read(file.path()).expect("it is there"), before);
}

#[tokio::test]
async fn a_later_schema_is_refused_with_both_numbers_unless_it_allows_this_program() {
    let file = File::new();
    let url = format!("sqlite://{}", file.path().display());
    drop(open(&url).await.expect("it can be opened"));
    let later = |lowest: i64| {
        format!(
            "PRAGMA user_version = 7; CREATE TABLE IF NOT EXISTS baton_schema (lowest_compatible); \
             DELETE FROM baton_schema; INSERT INTO baton_schema VALUES ({lowest})"
        )
    };
    let silent = "PRAGMA user_version = 7; DROP TABLE baton_schema".to_owned();
    for (sql, needed) in [(silent, 7), (later(5), 5)] {
        file.sql(&sql).expect("it is a database");
        let wanted = format!(
            "DIR/baton.db has schema version 7, which needs a program that knows version {needed} \
             or later, and this program knows 4; use a newer version of it"
        );
        assert_eq!(refusal(&file).await, wanted);
        let read = open_to_read(&url).await.expect_err("it must be refused").to_string();
        assert!(read.ends_with(wanted.trim_start_matches("DIR/baton.db")), "{read}");
    }

    // A later version that allows this program is used as it is.
    file.sql(&later(3)).expect("it is a database");
    let store = open(&url).await.expect("it allows this program");
    let node = Contender::new(&store, &namespace("web"), 1);
    let held = node.take(Claim::Vacant).await;
    node.goes_on(held).await;
    assert_eq!(file.number("PRAGMA user_version"), 7);
    let reader = open_to_read(&url).await.expect("it allows this program");
    let seen = reader.inspect(&node.namespace).await.expect("it can be read");
    assert_eq!(seen.lease.map(|lease| lease.version.epoch), Some(held.epoch));
}

#[tokio::test]
async fn a_broken_database_is_refused() {
    let file = File::new();
    let conn = Connection::open(file.path()).expect("there is room");
    conn.execute_batch("CREATE TABLE t (a)").expect("there is room");
    drop(conn);
    let mut bytes = fs::read(file.path()).expect("it is there");
    bytes[100..200].fill(0xff);
    fs::write(file.path(), bytes).expect("it can be written");
    let refused = refusal(&file).await;
    assert!(refused.starts_with("DIR/baton.db cannot be opened ("), "{refused}");
}

/// The superuser may write everywhere, so a process of another user tries.
#[tokio::test]
async fn what_this_user_may_not_write_is_refused() {
    let file = File::new();
    let url = format!("sqlite://{}", file.path().display());
    drop(open(&url).await.expect("it can be opened"));
    let is_root = rustix::process::geteuid().is_root();
    let set = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(file.folder(), permissions).expect("it is this user's folder");
    };
    set(if is_root { 0o755 } else { 0o555 });
    let start = Start { user: is_root.then_some(65_534), ..Start::default() };
    let refused = Process::start(&file.url(), start).await.err().expect("it must be refused");
    set(0o700);
    let refused = refused.replace(&file.folder().display().to_string(), "DIR");
    let place = if is_root { "DIR/baton.db" } else { "DIR" };
    assert_eq!(
        refused,
        format!("{place} may not be written by this user; give it write permission")
    );
}
