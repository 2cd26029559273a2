//! Servers that the environment names.

use baton_testbed::{Kind, Server, TestbedError};

/// Says to a process of this program that its environment names a server.
const NAMED: &str = "BATON_TEST_NAMED";

#[tokio::test]
async fn a_server_that_is_not_ours_is_used_and_left_alone() {
    let url = "redis://127.0.0.1:1/7";
    if std::env::var_os(NAMED).is_none() {
        // The environment of a process is set before it starts.
        let this = std::env::current_exe().expect("a test knows its program");
        let test = "named::a_server_that_is_not_ours_is_used_and_left_alone";
        let mut again = std::process::Command::new(this);
        again.args(["--exact", test]).env(NAMED, "1").env("BATON_TEST_REDIS_URL", url);
        let output = again.output().expect("the test's own program can be started");
        let said = String::from_utf8_lossy(&output.stdout);
        return assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
    let server = Server::start(Kind::Redis).await.expect("nothing is started");
    assert_eq!(server.url(), url);
    let elsewhere = ([127, 0, 0, 1], 2).into();
    assert_eq!(server.url_at(elsewhere), "redis://127.0.0.1:2/7");
    assert_eq!(server.pid(), None);
    let done = [server.kill().await, server.stop().await, server.start_again().await];
    let also = [server.pause(), server.resume(), server.step_clock(1), server.cpu().map(|_| ())];
    for refused in done.into_iter().chain(also) {
        assert!(matches!(refused, Err(TestbedError::NotOurs { .. })), "{refused:?}");
    }
    let refused = server.folder().expect_err("it is not ours");
    let wanted = "the server named by BATON_TEST_REDIS_URL is not ours to stop; \
                  unset it and one is started for the test";
    assert_eq!(refused.to_string(), wanted);
}
