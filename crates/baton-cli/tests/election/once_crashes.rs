//! `baton once` whose runner dies in mid-run: run again, or not, as it was asked for.

use baton_testbed::Kind;
use rustix::process::Signal;

use crate::once::{Deploy, SCRIPT, all_said, codes};
use crate::stage::until;

/// Killed outright, the runner takes its command along, and another node runs it as attempt 2. The
/// node that waits ends with its code.
async fn assert_another_runs_it_again(kind: Option<Kind>) {
    let deploy = Deploy::new(kind).await;
    let [mut runner, second, third] = deploy.three(&[]).await;
    runner.signal(Signal::KILL);
    runner.ended().await;
    assert_eq!(deploy.attempts(2).await, ["1", "2"]);
    deploy.go(5);
    let said = all_said([second, third]).await;
    assert_eq!(codes(&said), [Some(5); 2], "{} {}", said[0].err, said[1].err);
    let status = deploy.status().await;
    assert_eq!((&status["attempt"], &status["exit_code"]), (&2.into(), &5.into()), "{status}");
    until("nothing to be left", async || deploy.stage.marked().is_empty().then_some(())).await;
}

#[tokio::test]
async fn after_a_crash_another_runs_it_again_on_a_file() {
    assert_another_runs_it_again(None).await;
}

#[tokio::test]
async fn after_a_crash_another_runs_it_again_on_postgres() {
    assert_another_runs_it_again(Some(Kind::Postgres)).await;
}

#[tokio::test]
async fn after_a_crash_another_runs_it_again_on_mysql() {
    assert_another_runs_it_again(Some(Kind::Mariadb)).await;
}

#[tokio::test]
async fn after_a_crash_another_runs_it_again_on_redis() {
    assert_another_runs_it_again(Some(Kind::Redis)).await;
}

#[tokio::test]
async fn after_a_crash_another_runs_it_again_on_etcd() {
    assert_another_runs_it_again(Some(Kind::Etcd)).await;
}

#[tokio::test]
async fn after_a_crash_another_runs_it_again_on_s3() {
    assert_another_runs_it_again(Some(Kind::Ministack)).await;
}

#[tokio::test]
async fn under_skip_no_instance_runs_it_again_until_a_later_start() {
    let skip = ["--on-crash", "skip"];
    let deploy = Deploy::new(None).await;
    let [mut runner, second, third] = deploy.three(&skip).await;
    runner.signal(Signal::KILL);
    runner.ended().await;
    for said in all_said([second, third]).await {
        assert_eq!(said.code, Some(1), "{}", said.err);
        let told = said.err.lines().last().unwrap_or_default();
        assert!(told.starts_with("baton: migrate: attempt 1 on node "), "{told}");
        assert!(told.ends_with(" was cut off; a later start runs it again"), "{told}");
    }
    assert_eq!(deploy.attempts(1).await, ["1"]);
    assert_eq!(deploy.status().await["state"], "abandoned");
    deploy.go(0);
    let later = deploy.start("d", &skip, SCRIPT).said().await;
    assert_eq!(later.code, Some(0), "{}", later.err);
    assert_eq!(deploy.attempts(2).await, ["1", "2"]);
}

#[tokio::test]
async fn a_lone_instance_that_died_is_followed_by_the_next_start() {
    for (flags, code, attempts) in
        [(&[][..], 0, &["1", "2"][..]), (&["--on-crash", "skip"], 1, &["1"])]
    {
        let deploy = Deploy::new(None).await;
        let mut lone = deploy.start("a", flags, SCRIPT);
        deploy.attempts(1).await;
        lone.signal(Signal::KILL);
        lone.ended().await;
        deploy.go(0);
        let next = deploy.start("a", flags, SCRIPT).said().await;
        assert_eq!(next.code, Some(code), "{}", next.err);
        assert_eq!(deploy.attempts(attempts.len()).await, attempts);
    }
}
