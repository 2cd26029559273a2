//! Baton inside other things: as process 1 of a container, and inside its own command.

use std::process::{Command, Stdio};

use crate::running::Running;
use crate::stage::{ALONE, Stage};

/// Makes the program process 1 of a namespace of its own; nothing where that is not allowed.
fn container() -> &'static [&'static str] {
    const UNSHARE: &[&str] = &["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--"];
    let mut probe = Command::new(UNSHARE[0]);
    probe.args(&UNSHARE[1..]).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
    if probe.status().is_ok_and(|status| status.success()) { UNSHARE } else { &[] }
}

/// Has children before it becomes baton; the command waits until they have left the list of
/// processes, dead ones included.
const INHERITS: &str = r#"
    for i in 1 2 3 4 5; do sh -c 'while ! [ -e go ]; do sleep 0.05; done' & done
    TOP=$$ exec "$0" DOES -- sh -c '
        echo > go
        until [ "$(cat /proc/[0-9]*/stat 2>/dev/null | grep -c ") . $TOP ")" = 1 ]; do
            sleep 0.05
        done
        echo only the guard is left > clean; exec sleep 600'"#;

#[tokio::test]
async fn as_process_1_it_waits_for_every_child_that_it_inherits() {
    let stage = Stage::new();
    let script = INHERITS.replace("DOES", "run --skip-cold-start");
    let _running = Running::start_through(&stage, &[container(), &["sh", "-c", &script]].concat());
    assert_eq!(stage.line("clean").await, "only the guard is left");
}

/// Runs baton in the command of a node that leads.
async fn inside(stage: &Stage, arguments: &str) -> crate::running::Said {
    let script = format!("{} {arguments}", env!("CARGO_BIN_EXE_baton"));
    stage.run(&[ALONE, &["--quiet", "--id=parent"]].concat(), &script).said().await
}

#[tokio::test]
async fn a_node_that_would_wait_for_its_own_parent_is_refused_and_told_so() {
    let stage = Stage::new();
    let explicit = format!("run --store {} --namespace default -- true", stage.store());
    for arguments in ["run -- true", "serve", &explicit] {
        let said = inside(&stage, arguments).await;
        assert_eq!(said.code, Some(2), "{arguments}: {}", said.err);
        let told = ["command of node parent", "would wait for its own parent", "--namespace"];
        assert!(told.iter().all(|part| said.err.contains(part)), "{arguments}: {}", said.err);
    }
}

#[tokio::test]
async fn a_node_of_another_namespace_and_a_command_that_only_looks_are_let_in() {
    let stage = Stage::new();
    let said = inside(&stage, "run --namespace other --skip-cold-start -- echo inner").await;
    assert_eq!((said.code, said.out.as_str()), (Some(0), "inner\n"), "{}", said.err);
    let said = inside(&stage, "status").await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("parent"), "{}", said.out);
}
