//! The command of `baton run`: how it is started, what it finds, and what its end means.

use std::io::Write;

use rustix::process::Signal;

use crate::running::{Running, Said};
use crate::stage::{ALONE, STEADY, Stage, until};

#[tokio::test]
async fn its_end_is_batons_end() {
    let stage = Stage::new();
    let endings = [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -KILL $$", 128 + 9),
        ("kill -USR1 $$", 128 + 10),
    ];
    for (script, code) in endings {
        let said = stage.run(&[ALONE, &["--quiet"]].concat(), script).said().await;
        assert_eq!((said.code, said.err.as_str()), (Some(code), ""), "{script}");
    }
    let history = stage.json(&["history"]).await;
    let terms = history.as_array().expect("a list");
    assert_eq!(terms.len(), endings.len());
    assert!(terms.iter().all(|term| term["ended"]["released"] == "shutdown"), "{history}");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_named_on_one_line() {
    let stage = Stage::new();
    std::fs::write(stage.path("text"), "no program").expect("the folder is writable");
    for (program, advice) in [("no-such-program", "in PATH?"), ("./text", "may execute?")] {
        let run = [&["run", "--quiet"], ALONE, &["--", program]].concat();
        let said = stage.baton(&run).await;
        assert_eq!((said.code, said.err.lines().count()), (Some(127), 1), "{}", said.err);
        let named = said.err.starts_with(&format!("baton: cannot start {program}: "));
        assert!(named && said.err.trim_end().ends_with(advice), "{}", said.err);
    }
}

#[tokio::test]
async fn once_runs_it_again_until_it_ends_well() {
    let stage = Stage::new();
    let script = "echo $BATON_EPOCH >> runs; [ $(wc -l < runs) = 3 ]";
    let said = stage.run(&[ALONE, &["--once"]].concat(), script).said().await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    // Failing is no reason to give up the term.
    assert_eq!(stage.line("runs").await, "1\n1\n1");
}

#[tokio::test]
async fn restart_runs_it_again_however_it_ended() {
    let stage = Stage::new();
    let script = "echo $BATON_EPOCH >> runs
        case $(wc -l < runs) in 1) exit 0;; 2) exit 3;; 3) kill -KILL $$;; esac
        echo > fourth; exec sleep 600";
    let mut running = stage.run(&[ALONE, &["--restart"]].concat(), script);
    stage.line("fourth").await;
    assert_eq!(stage.line("runs").await, "1\n1\n1\n1");
    assert!(running.runs());
    running.signal(Signal::TERM);
    assert_eq!(running.said().await.code, Some(128 + 15));
}

#[tokio::test]
async fn on_lost_exit_ends_with_a_code_of_its_own_when_another_node_leads() {
    let stage = Stage::new();
    let flags = [STEADY, &["--on-lost", "exit"]].concat();
    let script = "echo $BATON_NODE_ID >> led; exec sleep 600";
    let first = stage.run(&[&flags[..], &["--id", "a"]].concat(), script);
    assert_eq!(stage.line("led").await, "a");
    let second = stage.run(&[&flags[..], &["--id", "b"]].concat(), script);
    until("the standby", async || second.err().contains("b stands by").then_some(())).await;
    let handover = stage.json(&["resign"]).await;
    assert_eq!((&handover["leader"], &handover["epoch"]), (&"b".into(), &2.into()), "{handover}");
    let said = first.said().await;
    assert_eq!(said.code, Some(7), "{}", said.err);
    let last = said.err.lines().last();
    assert_eq!(last, Some("baton: leadership was lost: exiting because of --on-lost exit"));
    let led = async || (stage.line("led").await == "a\nb").then_some(());
    until("the next one's command", led).await;
    second.signal(Signal::TERM);
    assert_eq!(second.said().await.code, Some(128 + 15));
}

#[tokio::test]
async fn it_is_told_who_it_runs_for() {
    let stage = Stage::new();
    let script = "echo $BATON_EPOCH $BATON_NODE_ID $BATON_NAMESPACE; echo $BATON_STORE";
    let place = ["--id", "me", "--namespace", "reports"];
    for epoch in 1..3 {
        let said = stage.run(&[ALONE, &place].concat(), script).said().await;
        assert_eq!(said.out, format!("{epoch} me reports\n{}\n", stage.store()), "{}", said.err);
    }
}

#[tokio::test]
async fn what_is_piped_into_baton_reaches_it() {
    let stage = Stage::new();
    let script = "read -r line; echo \"heard $line\"; cat";
    let run = [&["run"], ALONE, &["--", "sh", "-c", script]].concat();
    let (running, mut pipe) = Running::start_piped(&stage, &run);
    pipe.write_all(b"one\ntwo\nthree\n").expect("the command reads");
    drop(pipe);
    let said = running.said().await;
    assert_eq!((said.code, said.out.as_str()), (Some(0), "heard one\ntwo\nthree\n"));
}

#[tokio::test]
async fn a_command_that_ends_is_run_by_each_replica_in_turn_and_baton_says_so() {
    for flags in [&[][..], &["--once"]] {
        let stage = Stage::new();
        let script = "echo $BATON_NODE_ID >> runs; until [ -e go ]; do sleep 0.01; done";
        let run = |id| stage.run(&[STEADY, flags, &["--id", id]].concat(), script);
        let replicas = ["a", "b", "c"].map(run);
        let waits = async || {
            let status = stage.json(&["status"]).await;
            (status["successors"].as_array()?.len() == 2).then_some(())
        };
        stage.line("runs").await;
        until("two successors", waits).await;
        std::fs::write(stage.path("go"), "").expect("the folder is writable");
        let mut said = Vec::new();
        for replica in replicas {
            said.push(replica.said().await);
        }
        assert!(said.iter().all(|said| said.code == Some(0)), "{flags:?}");
        let runs = stage.line("runs").await;
        let order: Vec<&str> = runs.lines().collect();
        assert_eq!(order.len(), 3, "{flags:?}: {order:?}");
        let by = |id: &str| {
            let is_its = |said: &&Said| said.err.contains(&format!("node {id} stands by"));
            said.iter().find(is_its).expect("each said its name").err.as_str()
        };
        for pair in order.windows(2) {
            let next = format!("sh ended with code 0; leadership goes to {}, which runs", pair[1]);
            let err = by(pair[0]);
            assert!(err.contains(&next), "{flags:?}, {order:?}: {err}");
            assert!(err.contains("work that must be done only once"), "{err}");
        }
        let last = by(order[2]);
        assert!(!last.contains("goes to"), "{flags:?}: no node is left to wait: {last}");
    }
}
