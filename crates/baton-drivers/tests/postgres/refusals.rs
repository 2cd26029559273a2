//! What cannot be opened is refused in one line that says what to do and shows no secret.

use baton_testbed::proxy::{ConnectionFault, Proxy};

use crate::fixture::Postgres;

async fn refusal(url: &str) -> String {
    let refused = baton_drivers::open(url).await.expect_err("it must be refused").to_string();
    assert!(!refused.contains('\n'), "{refused}");
    assert!(!refused.contains("hush"), "{refused}");
    refused
}

#[tokio::test]
async fn what_cannot_be_opened_is_told() {
    let fixture = Postgres::start().await;
    fixture.sql("CREATE ROLE app LOGIN PASSWORD 'hush-1'").await;
    let rules = fixture.data().join("pg_hba.conf");
    let lines = "host all app 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
    std::fs::write(rules, lines).expect("it is ours");
    fixture.sql("SELECT pg_reload_conf(); GRANT CREATE ON SCHEMA public TO app").await;
    let url = fixture.server.url();
    let at = fixture.server.address();

    let wrong = refusal(&url.replace("postgres@", "app:hush-2@")).await;
    assert!(wrong.contains("refuses this user (password authentication failed"), "{wrong}");
    let none = refusal(&url.replace("postgres@", "app@")).await;
    assert!(none.contains("postgres at 127.0.0.1"), "{none}");
    let closed = refusal("postgres://app:hush-1@127.0.0.1:1/x?timeout_ms=300").await;
    assert!(closed.starts_with("postgres at 127.0.0.1:1 cannot be reached (error"), "{closed}");
    let proxy = Proxy::to(at).await;
    proxy.set(ConnectionFault::Drop);
    let behind = proxy.address();
    let silent = refusal(&format!("postgres://app:hush-1@{behind}/x?timeout_ms=200")).await;
    assert!(silent.contains("cannot be reached (no answer within 200 ms)"), "{silent}");
    let missing =
        refusal(&url.replace("/postgres", "/nosuch").replace("nosuch@", "postgres@")).await;
    assert!(missing.contains("database \"nosuch\" is missing; create it"), "{missing}");
    let option = refusal(&format!("{url}?colour=red")).await;
    assert!(option.starts_with("postgres option \"colour\" is unknown; known are "), "{option}");
    let file = refusal(&format!("{url}?tls=verify&tls_ca=/no/such.pem")).await;
    assert!(file.contains("TLS cannot be set up (/no/such.pem"), "{file}");
    let plain = refusal(&format!("{url}?tls=require")).await;
    assert!(plain.contains("does not support TLS"), "{plain}");

    // The password from the URL, a variable and a file.
    let file = fixture.data().with_file_name("password");
    std::fs::write(&file, "hush-1\n").expect("it is ours");
    let from_file = format!("postgres://app@{at}/postgres?password_file={}", file.display());
    baton_drivers::open(&from_file).await.expect("the password is right");
    let unset =
        refusal(&format!("postgres://app@{at}/postgres?password_env=NO_SUCH_VARIABLE")).await;
    assert!(unset.contains("NO_SUCH_VARIABLE, which is not set"), "{unset}");
}
