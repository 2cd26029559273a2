//! What cannot be a store is refused with one line that says what to do and shows no secret.

use std::path::Path;
use std::process::Command;

use baton_testbed::{Kind, Options, Server};

use crate::fixture::MysqlFixture;

/// Why the URL is refused.
async fn refusal(url: &str) -> String {
    let refused = baton_drivers::open(url).await.expect_err("it must be refused").to_string();
    assert!(!refused.contains('\n') && !refused.contains("hush"), "{refused}");
    refused
}

#[tokio::test]
async fn what_is_wrong_is_said_in_one_line() {
    let fixture = MysqlFixture::start().await;
    let at = fixture.server.address();
    fixture.sql("DROP USER IF EXISTS 'careful'@'%'").await;
    fixture.sql("CREATE USER 'careful'@'%' IDENTIFIED BY 'hush'").await;
    let refused = refusal(&format!("mysql://careful:hush-hush@{at}/baton")).await;
    let wanted = format!("mysql at {at}/baton refuses this user (");
    assert!(refused.starts_with(&wanted), "{refused}");
    let refused = refusal(&format!("mysql://careful:hush@{at}/baton")).await;
    assert!(refused.contains("may not use the database baton ("), "{refused}");
    let refused = refusal(&format!("mysql://root@{at}/nowhere")).await;
    assert!(refused.ends_with("is missing; run CREATE DATABASE `nowhere`"), "{refused}");
    let refused = refusal(&format!("mysql://root@{at}/baton?colour=red")).await;
    assert!(refused.starts_with("mysql option \"colour\" is unknown; known are "), "{refused}");
    let refused = refusal(&format!("mysql://root@{at}/baton?tls_ca=/no/such")).await;
    assert!(refused.contains("TLS cannot be set up (/no/such: "), "{refused}");
    // Oracle's server, and newer ones of MariaDB, make themselves a certificate.
    let tls = fixture.sql("SHOW GLOBAL VARIABLES LIKE 'have_ssl'").await;
    if tls.first().and_then(|row| row.get::<String, _>(1)).as_deref() == Some("DISABLED") {
        let refused = refusal(&format!("mysql://root@{at}/baton?tls=require")).await;
        assert!(refused.contains("TLS cannot be set up ("), "{refused}");
    }

    let refused = refusal("mysql://root@127.0.0.1:1/baton").await;
    assert!(refused.starts_with("mysql at 127.0.0.1:1/baton cannot be reached ("), "{refused}");
}

#[tokio::test]
async fn a_password_comes_from_a_variable_or_a_file() {
    let fixture = MysqlFixture::start().await;
    let at = fixture.server.address();
    fixture.sql("DROP USER IF EXISTS 'careful'@'%', 'searching'@'%'").await;
    fixture.sql("CREATE USER 'careful'@'%' IDENTIFIED BY 'hush'").await;
    // Any variable will do, and a test must not set one.
    let path = std::env::var("PATH").expect("every process has one");
    fixture.sql(&format!("CREATE USER 'searching'@'%' IDENTIFIED BY '{path}'")).await;
    fixture.sql("GRANT ALL PRIVILEGES ON baton.* TO 'careful'@'%', 'searching'@'%'").await;
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("password");
    std::fs::write(&file, "hush\n").expect("it can be written");
    for url in [
        format!("mysql://careful@{at}/baton?password_file={}", file.display()),
        format!("mariadb://searching@{at}/baton?password_env=PATH"),
        // The first host is not there; the second is.
        format!("mysql://careful:hush@127.0.0.1:1,{at}/baton"),
    ] {
        let store = baton_drivers::open(&url).await.expect("it can be opened");
        assert_eq!(store.declaration().name, "mysql");
    }
}

/// A certificate authority, and what it signed for 127.0.0.1, readable by the server's user.
fn certificates(folder: &Path) {
    let run = |arguments: &str| {
        let done = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
        let done = done.expect("openssl is installed");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    for name in ["ca", "other"] {
        run(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
             -subj /CN={name} -keyout {name}.key -out {name}.pem"
        ));
    }
    run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server \
         -keyout server.key -out server.csr");
    std::fs::write(folder.join("ext"), "subjectAltName=IP:127.0.0.1\n").expect("there is room");
    run("x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 \
         -extfile ext -out server.pem");
    for file in ["server.key", "server.pem", "ca.pem"] {
        let file = folder.join(file);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(file, mode).expect("it was just made");
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder, mode).expect("it was just made");
}

#[tokio::test]
async fn tls_is_used_and_the_server_must_be_the_right_one() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    certificates(folder.path());
    let path = |file: &str| folder.path().join(file).display().to_string();
    let arguments = vec![
        format!("--ssl-cert={}", path("server.pem")),
        format!("--ssl-key={}", path("server.key")),
        format!("--ssl-ca={}", path("ca.pem")),
    ];
    let options = Options { arguments, ..Options::default() };
    let server = Server::start_with(Kind::Mariadb, options).await.expect("a server can be had");
    let root = baton_drivers::open(&server.url()).await;
    drop(root.expect("TLS is offered, not demanded"));
    let at = server.address();
    let fixture = MysqlFixture::on(server);
    fixture.sql("CREATE USER 'sealed'@'%' IDENTIFIED BY 'hush' REQUIRE SSL").await;
    fixture.sql("GRANT ALL PRIVILEGES ON baton.* TO 'sealed'@'%'").await;

    let url = format!("mysql://sealed:hush@{at}/baton");
    for tls in ["tls=require".to_owned(), format!("tls=verify&tls_ca={}", path("ca.pem"))] {
        let store = baton_drivers::open(&format!("{url}?{tls}")).await;
        assert!(store.is_ok(), "{tls}: {:?}", store.err());
    }
    let refused = refusal(&url).await;
    assert!(refused.contains("refuses this user ("), "{refused}");
    let refused = refusal(&format!("{url}?tls_ca={}", path("other.pem"))).await;
    assert!(refused.contains("TLS cannot be set up ("), "{refused}");
}
