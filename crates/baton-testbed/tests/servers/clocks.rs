//! Servers whose wall clock is stepped.

use std::time::Duration;

use baton_testbed::{Kind, Options, Server, TestbedError};

use crate::client::sql;

/// How many seconds have passed since 1970, by the server.
fn now(server: &Server) -> f64 {
    let statement = match server.kind() {
        Kind::Postgres => "SELECT extract(epoch FROM clock_timestamp())",
        _ => "SELECT unix_timestamp(sysdate(6))",
    };
    let said = sql(server, statement);
    said.parse().unwrap_or_else(|_| unreachable!("the server said {said}"))
}

async fn assert_steps(kind: Kind) {
    let options = Options { faketime: true, ..Options::default() };
    let server = Server::start_with(kind, options).await.expect("it can be started");
    for (step, ahead) in [(0, 0.0), (600, 600.0), (-1_200, -600.0), (600, 0.0)] {
        server.step_clock(step).expect("it can be stepped");
        let real = baton_store::clock::Clock::wall_ms(&baton_store::clock::SystemClock);
        let real = Duration::from_millis(real).as_secs_f64();
        let found = now(&server) - real;
        assert!((found - ahead).abs() < 2.0, "{kind:?} is {found} s ahead, not {ahead}");
    }
}

#[tokio::test]
async fn postgres_is_stepped() {
    assert_steps(Kind::Postgres).await;
}

#[tokio::test]
async fn mariadb_is_stepped() {
    assert_steps(Kind::Mariadb).await;
}

#[tokio::test]
async fn a_server_on_the_machines_clock_is_not_stepped() {
    let server = Server::start_with(Kind::Redis, Options::default()).await.expect("it starts");
    let refused = server.step_clock(1);
    assert!(matches!(refused, Err(TestbedError::RealClock { .. })), "{refused:?}");
}
