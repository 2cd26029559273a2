//! A node that needs no other: single-instance mode.

use crate::stage::{Stage, until};
use rustix::process::Signal;

#[tokio::test]
async fn without_a_cluster_the_command_runs_at_once_and_no_database_is_made() {
    let stage = Stage::new();
    let script = "echo $BATON_EPOCH $BATON_NAMESPACE; exit 4";
    let said = stage.run(&["--enabled", "false"], script).said().await;
    assert_eq!((said.code, said.out.as_str()), (Some(4), "1 default\n"), "{}", said.err);
    let files = std::fs::read_dir(stage.folder()).expect("it is there").filter_map(Result::ok);
    let databases: Vec<_> = files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("baton.db"))
        .collect();
    assert_eq!(databases, Vec::<String>::new());
}

#[tokio::test]
async fn without_a_cluster_it_is_stopped_like_any_other() {
    let stage = Stage::new();
    let running = stage.run(&["--enabled", "false"], "echo > ready; exec sleep 600");
    stage.line("ready").await;
    running.signal(Signal::TERM);
    assert_eq!(running.said().await.code, Some(128 + 15));
    until("nothing to be left", async || stage.marked().is_empty().then_some(())).await;
}
