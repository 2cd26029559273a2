//! An etcd that speaks TLS: by which authority it is trusted, and which clients are refused.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use baton_testbed::wait::until;
use tempfile::TempDir;
use tokio::process::Child;

use crate::refusals::refusal;

fn run(folder: &Path, command: &str) {
    let mut parts = command.split(' ');
    let program = parts.next().expect("a command has a name");
    let done = Command::new(program)
        .args(parts)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(done.expect("openssl is installed").success(), "{command}");
}

/// Two authorities; a server and a client that the first one vouches for.
fn certificates(folder: &Path) {
    for name in ["ca", "other"] {
        run(
            folder,
            &format!(
                "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} \
             -keyout {name}.key -out {name}.pem"
            ),
        );
    }
    std::fs::write(folder.join("san"), "subjectAltName=IP:127.0.0.1\n").expect("there is room");
    for name in ["server", "client"] {
        run(
            folder,
            &format!(
                "openssl req -newkey rsa:2048 -nodes -subj /CN={name} -keyout {name}.key \
             -out {name}.csr"
            ),
        );
        run(
            folder,
            &format!(
                "openssl x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
             -extfile san -out {name}.pem"
            ),
        );
    }
}

/// Ends with the test's thread, even if that is killed.
fn start(folder: &Path, port: u16, peers: u16) -> Child {
    let mut command = tokio::process::Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "etcd", "--name=t", "--data-dir=data"]);
    command.arg(format!("--listen-client-urls=https://127.0.0.1:{port}"));
    command.arg(format!("--advertise-client-urls=https://127.0.0.1:{port}"));
    command.arg(format!("--listen-peer-urls=http://127.0.0.1:{peers}"));
    command.arg(format!("--initial-advertise-peer-urls=http://127.0.0.1:{peers}"));
    command.arg(format!("--initial-cluster=t=http://127.0.0.1:{peers}"));
    command.args(["--cert-file=server.pem", "--key-file=server.key"]);
    command.args(["--trusted-ca-file=ca.pem", "--client-cert-auth"]);
    command.current_dir(folder).kill_on_drop(true);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("etcd is installed")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port left");
    listener.local_addr().expect("it is bound").port()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_trusted_by_its_authority_alone() {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder can be made");
    certificates(folder.path());
    let (port, peers) = (free_port(), free_port());
    let _etcd = start(folder.path(), port, peers);
    let file = |name: &str| folder.path().join(name).display().to_string();
    let own = format!("tls_cert={}&tls_key={}", file("client.pem"), file("client.key"));
    let url = |ca: &str| format!("etcd://127.0.0.1:{port}?tls_ca={}&{own}", file(ca));
    let opened = until("etcd to start", async || baton_drivers::open(&url("ca.pem")).await.ok());
    assert_eq!(opened.await.declaration().name, "etcd");

    let refused = refusal(&url("other.pem")).await;
    let wanted =
        format!("etcd at 127.0.0.1:{port}: TLS cannot be set up (invalid peer certificate");
    assert!(refused.starts_with(&wanted), "{refused}");
    let refused = refusal(&url("server.key")).await;
    assert!(refused.contains("it holds no certificate"), "{refused}");
    // Neither without a certificate, nor without TLS.
    let nameless = format!("etcd://127.0.0.1:{port}?tls_ca={}", file("ca.pem"));
    for url in [nameless, format!("etcd://127.0.0.1:{port}")] {
        let refused = refusal(&url).await;
        assert!(refused.starts_with(&format!("etcd at 127.0.0.1:{port}")), "{refused}");
    }
}
