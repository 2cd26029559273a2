//! What people get wrong: one line that says what to do, a code that is not zero, no backtrace.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::support::Sandbox;

#[test]
fn an_unknown_flag_or_command_is_refused_with_the_nearest_one() {
    let here = Sandbox::new();
    here.baton(&["serve", "--leese-timeout", "5s"]).assert_refused(2, "--lease-timeout");
    here.baton(&["statsu"]).assert_refused(2, "'status'");
    here.baton(&["status", "extra"]).assert_refused(2, "unexpected argument 'extra'");
    here.baton(&["transfer"]).assert_refused(2, "--to <NODE>");
    here.baton(&["watch", "--for", "soon"]).assert_refused(2, "not a length of time");
}

#[test]
fn nothing_at_all_shows_the_help() {
    let said = Sandbox::new().baton(&[]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("Usage: baton <COMMAND>"), "{}", said.err);
}

#[test]
fn a_store_that_is_unknown_or_does_not_answer_is_refused_and_no_secret_told() {
    let here = Sandbox::new();
    let with = |url: &str| here.baton(&["serve", "--store", url]);
    with("oracle://db").assert_refused(3, "known are sqlite, postgres, mysql, redis, s3, etcd and");
    with("baton.db").assert_refused(3, "as in sqlite://baton.db");
    for scheme in ["postgres", "mysql", "redis", "etcd"] {
        let secret = with(&format!("{scheme}://me:hunter2@127.0.0.1:1/0"));
        secret.assert_refused(3, "is the server running, and is the address right?");
        assert!(!secret.err.contains("hunter2"), "{}", secret.err);
    }
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let here = Sandbox::new();
    let text = "this is a letter to my aunt, and it is long enough to have a header\n".repeat(40);
    let letter = here.write("letter.txt", &text);
    let url = format!("sqlite://{}", letter.display());
    for command in ["status", "serve", "history"] {
        here.baton(&[command, "--store", &url]).assert_refused(3, "letter.txt");
    }
    assert_eq!(std::fs::read_to_string(&letter).expect("still there"), text);
    let folder = format!("sqlite://{}", here.path("").display());
    here.baton(&["serve", "--store", &folder]).assert_refused(3, "");
}

#[test]
fn a_read_only_database_is_refused() {
    let here = Sandbox::new();
    let mut node = here.serve("a", &[]);
    here.until_led_by("a");
    node.signal(rustix::process::Signal::TERM);
    assert_eq!(node.ended(), Some(0));
    let said = if rustix::process::geteuid().is_root() {
        // Nothing but a mount stops root from writing.
        let mount = "mount --bind state state && mount -o remount,ro,bind state";
        let said = here.said(mounted(&here, mount, "serve --id a"));
        if said.err.contains("unshare") || said.err.contains("mount") {
            // Nothing can be mounted here. A folder that takes no file must be told all the same.
            here.baton(&["serve", "--store", "sqlite:///proc/self/x.db"])
                .assert_refused(3, "/proc");
            return;
        }
        said
    } else {
        let read_only = std::fs::Permissions::from_mode(0o444);
        std::fs::set_permissions(here.database(), read_only).expect("it is this test's file");
        here.baton(&["serve", "--id", "a"])
    };
    said.assert_refused(3, "baton.db");
}

/// The binary in a world of mounts of its own, gone with the process.
fn mounted(here: &Sandbox, mount: &str, arguments: &str) -> Command {
    let script = format!("{mount} && exec \"$0\" {arguments}");
    let baton = env!("CARGO_BIN_EXE_baton");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script, baton]).current_dir(here.path(""));
    command.env("XDG_STATE_HOME", here.path("state"));
    command
}

#[test]
fn reading_makes_no_database() {
    let here = Sandbox::new();
    for command in ["status", "watch", "history", "plugins", "resign"] {
        here.baton(&[command]).assert_refused(3, "there is no database at ");
    }
    here.baton(&["transfer", "--to", "a"]).assert_refused(3, "there is no database at ");
    assert!(!here.path("state").exists());
}

#[test]
fn an_invalid_id_or_namespace_is_refused_with_its_place() {
    let here = Sandbox::new();
    let long = "x".repeat(300);
    let cases = [
        ("", "--id: node id is empty; give 1 to 128"),
        (long.as_str(), "--id: node id is 300 bytes long; at most 128 are allowed"),
        ("a\nb", "--id: node id has '\\n' at position 2"),
        ("a/b", "--id: node id has '/' at position 2"),
        ("nœud", "--id: node id has 'œ' at position 2"),
    ];
    for (id, expected) in cases {
        here.baton(&["serve", "--id", id]).assert_refused(2, expected);
    }
    here.baton(&["status", "--namespace", "a b"]).assert_refused(2, "--namespace: namespace has");
    assert!(!here.path("state").exists());
}

#[test]
fn settings_that_contradict_each_other_are_refused_with_both_numbers() {
    let here = Sandbox::new();
    let beat = ["serve", "--heartbeat-interval", "5s"];
    let said = here.baton(&[beat.as_slice(), &["--lease-timeout", "8s"]].concat());
    let expected = "lease_timeout (8s) must be at least 10s because of heartbeat_interval (5s)";
    said.assert_refused(2, expected);
    let said = here.baton(&[beat.as_slice(), &["--worker-timeout", "4s"]].concat());
    let expected = "worker_timeout (4s) must be at least 10s because of heartbeat_interval (5s)";
    said.assert_refused(2, expected);
}

#[test]
fn a_port_in_use_is_refused_with_the_address() {
    let here = Sandbox::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let said = here.baton(&["serve", "--lifeline-bind", &address]);
    said.assert_refused(1, &address);
    assert!(said.err.contains("choose another"), "{}", said.err);
    let every = here.baton(&["serve", "--lifeline-bind", "0.0.0.0:0"]);
    every.assert_refused(2, "0.0.0.0");
}

#[test]
fn the_second_process_with_an_id_is_not_let_in() {
    let here = Sandbox::new();
    let _first = here.serve("twin", &[]);
    here.until_led_by("twin");
    let second = here.baton(&["serve", "--id", "twin", "--profile", "fast"]);
    second.assert_refused(5, "node id twin is taken by another live process; choose another --id");
    here.until_led_by("twin");
}

#[test]
fn a_full_disk_is_told() {
    let here = Sandbox::new();
    std::fs::create_dir(here.path("small")).expect("a new folder");
    let mount = "mount -t tmpfs -o size=16k none small";
    let said = here.said(mounted(&here, mount, "serve --store sqlite://small/baton.db"));
    if said.err.contains("unshare") || said.err.contains("mount") {
        // Nothing can be mounted here. A folder that is none must be told all the same.
        let said = here.baton(&["serve", "--store", "sqlite:///dev/null/baton.db"]);
        said.assert_refused(3, "/dev/null");
        return;
    }
    said.assert_refused(3, "is its disk full? Make room");
}
