//! `baton once`: a command that is run once in total, its outcomes, and what is recorded of it.

use baton_testbed::{Kind, Server};
use rustix::process::Signal;

use crate::running::{Running, Said};
use crate::stage::{ALONE, STEADY, Stage, until};

/// Notes who runs it and as which attempt, waits until it is let go, and ends with the code in the
/// file `go`.
pub const SCRIPT: &str = "echo $BATON_NODE_ID $BATON_ATTEMPT >> runs
    until [ -s go ]; do sleep 0.01; done; exit $(cat go)";

/// A folder, a store, and processes of one key.
pub struct Deploy {
    pub stage: Stage,
    server: Option<Server>,
}

impl Deploy {
    pub async fn new(kind: Option<Kind>) -> Self {
        let server = match kind {
            Some(kind) => Some(Server::start(kind).await.expect("it can be started here")),
            None => None,
        };
        Self { stage: Stage::new(), server }
    }

    fn store(&self) -> String {
        self.server.as_ref().map_or_else(|| self.stage.store(), Server::url)
    }

    /// Starts a process that runs the script or waits for it.
    pub fn start(&self, id: &str, flags: &[&str], script: &str) -> Running {
        let store = self.store();
        let own = ["once", "migrate", "--store", &store, "--id", id];
        let command = ["--", "sh", "-c", script];
        Running::start(&self.stage, &[&own, STEADY, flags, &command].concat())
    }

    /// Starts three, of which one runs the script and the others wait by then; the runner first.
    pub async fn three(&self, flags: &[&str]) -> [Running; 3] {
        let all = ["a", "b", "c"].map(|id| (id, self.start(id, flags, SCRIPT)));
        for (id, process) in &all {
            let line = format!("node {id} waits for migrate");
            until("each to wait", async || process.err().contains(&line).then_some(())).await;
        }
        let runs = self.stage.line("runs").await;
        let runner = runs.split(' ').next().expect("it names its node").to_owned();
        let mut all = Vec::from(all);
        all.sort_by_key(|(id, _)| *id != runner);
        let processes: Vec<Running> = all.into_iter().map(|(_, process)| process).collect();
        processes.try_into().unwrap_or_else(|_| unreachable!("three were started"))
    }

    /// Lets the command end with this code.
    pub fn go(&self, code: u8) {
        std::fs::write(self.stage.path("go"), format!("{code}\n")).expect("a writable folder");
    }

    /// Waits until the command was begun this often, and gives the attempts.
    pub async fn attempts(&self, count: usize) -> Vec<String> {
        let begun = async || {
            let runs = self.stage.line("runs").await;
            (runs.lines().count() == count).then_some(runs)
        };
        let runs = until("the command to begin", begun).await;
        let attempt = |line: &str| line.split(' ').nth(1).expect("it has two words").to_owned();
        runs.lines().map(attempt).collect()
    }

    pub async fn status(&self) -> serde_json::Value {
        let store = self.store();
        self.stage.json(&["once", "--status", "migrate", "--store", &store]).await
    }
}

/// What processes said, once all have ended.
pub async fn all_said<const N: usize>(processes: [Running; N]) -> Vec<Said> {
    let mut said = Vec::new();
    for process in processes {
        said.push(process.said().await);
    }
    said
}

pub fn codes(said: &[Said]) -> Vec<Option<i32>> {
    said.iter().map(|said| said.code).collect()
}

/// Of three replicas one runs the command, all end with code 0, and a later start does at once.
async fn assert_one_run_in_all(kind: Option<Kind>) {
    let deploy = Deploy::new(kind).await;
    let all = deploy.three(&[]).await;
    assert_eq!(deploy.status().await["state"], "running");
    deploy.go(0);
    let said = all_said(all).await;
    let errors: Vec<&str> = said.iter().map(|said| said.err.as_str()).collect();
    assert_eq!(codes(&said), [Some(0); 3], "{errors:?}");
    assert_eq!(deploy.attempts(1).await, ["1"]);
    assert!(errors[0].contains("migrate is done: attempt 1 ended with code 0"), "{errors:?}");
    for waiter in &errors[1..] {
        assert!(waiter.contains("migrate is done: node "), "{errors:?}");
    }
    let later = deploy.start("d", &[], "echo > again").said().await;
    assert_eq!(later.code, Some(0), "{}", later.err);
    let told = later.err.lines().last().unwrap_or_default();
    assert!(told.starts_with("baton: migrate is done: node "), "{}", later.err);
    assert!(!deploy.stage.path("again").exists());
    let status = deploy.status().await;
    assert_eq!((&status["state"], &status["attempt"]), (&"succeeded".into(), &1.into()));
}

#[tokio::test]
async fn three_replicas_run_it_once_in_total_on_a_file() {
    assert_one_run_in_all(None).await;
}

#[tokio::test]
async fn three_replicas_run_it_once_in_total_on_postgres() {
    assert_one_run_in_all(Some(Kind::Postgres)).await;
}

#[tokio::test]
async fn three_replicas_run_it_once_in_total_on_mysql() {
    assert_one_run_in_all(Some(Kind::Mariadb)).await;
}

#[tokio::test]
async fn three_replicas_run_it_once_in_total_on_redis() {
    assert_one_run_in_all(Some(Kind::Redis)).await;
}

#[tokio::test]
async fn three_replicas_run_it_once_in_total_on_etcd() {
    assert_one_run_in_all(Some(Kind::Etcd)).await;
}

#[tokio::test]
async fn three_replicas_run_it_once_in_total_on_s3() {
    assert_one_run_in_all(Some(Kind::Ministack)).await;
}

#[tokio::test]
async fn a_failure_ends_all_that_waited_and_a_later_start_tries_again() {
    let deploy = Deploy::new(None).await;
    let all = deploy.three(&[]).await;
    deploy.go(3);
    let said = all_said(all).await;
    let errors: Vec<&str> = said.iter().map(|said| said.err.as_str()).collect();
    assert_eq!(codes(&said), [Some(3); 3], "{errors:?}");
    assert_eq!(deploy.attempts(1).await, ["1"]);
    for error in errors {
        let told = error.lines().last().unwrap_or_default();
        assert!(told.starts_with("baton: migrate: attempt 1 on node "), "{error}");
        assert!(told.ends_with(" ended with code 3; a later start runs it again"), "{error}");
    }
    let status = deploy.status().await;
    assert_eq!((&status["state"], &status["exit_code"]), (&"failed".into(), &3.into()));

    deploy.go(0);
    let later = deploy.start("d", &["--quiet"], SCRIPT).said().await;
    assert_eq!((later.code, later.err.as_str()), (Some(0), ""));
    assert_eq!(deploy.attempts(2).await, ["1", "2"]);
}

#[tokio::test]
async fn a_limit_stops_the_command_and_ends_a_wait_with_a_code_of_its_own() {
    let deploy = Deploy::new(None).await;
    let script = "echo > began; exec sleep 600";
    // A busy machine may need a while before the command begins at all.
    for limit in ["1s", "5s", "20s"] {
        let said = deploy.start("a", &["--timeout", limit], script).said().await;
        let told = format!("baton: migrate was not done within {limit}");
        assert_eq!((said.code, said.err.lines().last()), (Some(4), Some(&*told)), "{}", said.err);
        until("nothing to be left", async || deploy.stage.marked().is_empty().then_some(())).await;
        if deploy.stage.path("began").exists() {
            break;
        }
    }
    let status = deploy.status().await;
    assert_eq!(status["state"], "failed", "{status}");
    let failure = status["failure"].as_str().expect("a sentence");
    assert!(failure.contains("was stopped, because it took longer than"), "{failure}");

    let runner = deploy.start("a", &[], SCRIPT);
    deploy.attempts(1).await;
    let waiter = deploy.start("b", &["--timeout", "300ms", "--quiet"], SCRIPT).said().await;
    let told = "baton: migrate was not done within 300ms\n";
    assert_eq!((waiter.code, waiter.err.as_str()), (Some(4), told));
    deploy.go(0);
    assert_eq!(runner.said().await.code, Some(0), "a waiter's limit is its own");
    assert_eq!(deploy.attempts(1).await.len(), 1);
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_on_one_line() {
    let stage = Stage::new();
    let long = "x".repeat(200);
    let cases = [
        ("", "baton: key is empty; give 1 to 115 letters"),
        (&long, "baton: key is 200 bytes long; at most 115 are allowed in namespace default"),
        ("a b", "baton: key has ' ' at position 2; use letters"),
    ];
    for (key, expected) in cases {
        for rest in [&["--", "true"][..], &["--status"]] {
            // A reading command needs a database before it looks at anything.
            std::fs::write(stage.path("baton.db"), "").expect("a writable folder");
            let said = stage.baton(&[&["once", key], rest].concat()).await;
            assert_eq!((said.code, said.err.lines().count()), (Some(2), 1), "{}", said.err);
            assert!(said.err.starts_with(expected), "{}", said.err);
        }
    }
    for rest in [&["k"][..], &["k", "--json", "--", "true"], &["k", "--status", "--", "true"]] {
        let said = stage.baton(&[&["once"], rest].concat()).await;
        assert_eq!((said.code, said.err.lines().count()), (Some(2), 1), "{}", said.err);
    }
}

#[tokio::test]
async fn the_status_is_shown_before_and_after_and_other_keys_are_other_work() {
    let stage = Stage::new();
    let once = |key: &'static str, script: &'static str| {
        let command = ["--", "sh", "-c", script];
        let flags = ["once", key, "--id", "a", "--namespace", "web"];
        Running::start(&stage, &[&flags[..], &command].concat()).said()
    };
    let env = "echo $BATON_KEY $BATON_ATTEMPT $BATON_EPOCH $BATON_NODE_ID $BATON_NAMESPACE";
    let said = once("one", env).await;
    assert_eq!((said.code, said.out.as_str()), (Some(0), "one 1 1 a web\n"), "{}", said.err);
    let status = ["once", "two", "--status", "--namespace", "web"];
    let before = stage.json(&status).await;
    let expected = r#"{"attempt":0,"key":"two","namespace":"web","state":"not-started"}"#;
    assert_eq!(before.to_string(), expected);
    assert_eq!(once("two", "exit 0").await.code, Some(0));
    let after = stage.json(&status).await;
    assert_eq!((&after["state"], &after["node"]), (&"succeeded".into(), &"a".into()), "{after}");
    let text = stage.baton(&status).await.out;
    assert!(text.contains("succeeded") && text.contains("attempt"), "{text}");
}

#[tokio::test]
async fn without_a_cluster_the_command_runs_and_a_warning_says_that_nothing_is_remembered() {
    let stage = Stage::new();
    for _ in 0..2 {
        let once = ["once", "k", "--enabled=false", "--", "sh", "-c", "echo ran"];
        let said = stage.baton(&once).await;
        assert_eq!((said.code, said.out.as_str()), (Some(0), "ran\n"), "{}", said.err);
        assert!(said.err.contains("nothing is remembered"), "{}", said.err);
    }
}

#[tokio::test]
async fn in_the_command_of_its_own_key_it_is_refused_and_another_key_is_not() {
    let stage = Stage::new();
    let program = env!("CARGO_BIN_EXE_baton");
    let inner = format!("{program} once other -- true && exec {program} once own -- true");
    let once = [&["once", "own"], ALONE, &["--", "sh", "-c", &inner]].concat();
    let said = stage.baton(&once).await;
    assert_eq!(said.code, Some(2), "{}", said.err);
    let refused = "which leads namespace default:once:own at ";
    assert!(said.err.contains(refused), "{}", said.err);
    let other = stage.json(&["once", "other", "--status"]).await;
    assert_eq!(other["state"], "succeeded", "{other}");
}

#[tokio::test]
async fn a_signal_stops_the_command_and_another_runs_it_again() {
    let deploy = Deploy::new(None).await;
    let [runner, second, third] = deploy.three(&[]).await;
    runner.signal(Signal::TERM);
    let said = runner.said().await;
    assert_eq!(said.code, Some(1), "{}", said.err);
    let told = "baton: migrate is not done: this process was asked to end";
    assert_eq!(said.err.lines().last(), Some(told));
    assert_eq!(deploy.attempts(2).await, ["1", "2"]);
    deploy.go(0);
    assert_eq!(codes(&all_said([second, third]).await), [Some(0); 2]);
}
