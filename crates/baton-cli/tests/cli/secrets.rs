//! No output of any command has a password in it, however the URL was misspelt.

use baton_testbed::urls::{MARKER, broken};
use baton_testbed::{Kind, Server};

use super::support::Sandbox;

/// The commands that say something of a store's URL.
const TELLING: [&[&str]; 5] =
    [&["status"], &["health"], &["settings"], &["doctor"], &["run", "--once", "--", "true"]];

#[test]
fn no_command_shows_the_password_of_a_broken_url() {
    let here = Sandbox::new();
    let known = [
        format!("postgres:me:{MARKER}@127.0.0.1:1/x"),
        format!("postgres://me:a?{MARKER}@127.0.0.1:1/x"),
        format!("postgres://me@127.0.0.1:1/x?pwd={MARKER}"),
    ];
    let mut leaks = Vec::new();
    for (at, url) in known.into_iter().chain(broken(2, 30)).enumerate() {
        for arguments in TELLING {
            let said = match at % 3 {
                0 => here.baton_with(&[("BATON_STORE", &url)], arguments),
                1 => {
                    let (command, rest) = arguments.split_first().expect("there is a command");
                    here.baton(&[&[*command, "--store", &url], rest].concat())
                }
                _ => {
                    let table = format!("[[ttl]]\nstore = {url:?}\ntable = 't'\n");
                    let file = here.write("baton.toml", &format!("store = {url:?}\n{table}"));
                    let file = file.to_str().expect("it is UTF-8");
                    here.baton_with(&[("BATON_CONFIG", file)], arguments)
                }
            };
            if format!("{said:?}").contains(MARKER) {
                leaks.push((url.clone(), arguments, said));
            }
        }
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}

#[tokio::test]
async fn the_command_is_told_the_store_without_the_password() {
    let server = Server::start(Kind::Postgres).await.expect("it can be started here");
    // It lets every client in, with any password.
    let url = server.url().replacen("postgres@", &format!("postgres:{MARKER}@"), 1);
    let here = Sandbox::new();
    let run = ["run", "--quiet", "--once", "--profile", "fast", "--skip-cold-start"];
    let tell = ["--", "sh", "-c", "echo $BATON_STORE"];
    let said = here.baton_with(&[("BATON_STORE", &url)], &[&run[..], &tell].concat());
    assert_eq!((said.code, said.out.trim()), (Some(0), server.url().as_str()), "{said:?}");
}
