//! Whatever is wrong with a URL, no message about it has its password in it.

use std::time::Duration;

use baton_drivers::sweep::{self, Keys, Objects, Strategy, Table, Target};
use baton_drivers::{shown, without_secrets};
use baton_testbed::urls::{MARKER, broken};

/// Everything that is said of a URL by those who show, open and sweep it.
async fn said(url: &str) -> Vec<String> {
    let mut said = vec![shown(url)];
    // A user who may be a password is hidden from people, and told to the command that needs one.
    if !said[0].contains("***@") || said[0].contains(":***@") {
        said.push(without_secrets(url));
    }
    let openings = [baton_drivers::open(url).await, baton_drivers::open_to_read(url).await];
    for refused in openings.into_iter().filter_map(Result::err) {
        said.extend([refused.to_string(), format!("{refused:?}")]);
    }
    if let Err(refused) = baton_drivers::client_url(url) {
        said.extend([refused.to_string(), format!("{refused:?}")]);
    }
    let targets: [Target; 3] = [
        Table::new("t").into(),
        Keys::by_index("i").into(),
        Objects::under("p/", Duration::from_secs(1)).into(),
    ];
    for target in targets {
        if let Err(refused) = sweep::open(url, target, Strategy::Delete) {
            said.extend([refused.to_string(), format!("{refused:?}")]);
        }
    }
    said
}

#[tokio::test]
async fn no_broken_url_shows_its_password() {
    // What names a file is made where it says.
    let folder = tempfile::tempdir().expect("there is room for tests");
    std::env::set_current_dir(folder.path()).expect("it is there");
    let mut leaks = Vec::new();
    for url in broken(1, 1_500) {
        let said = said(&url).await;
        leaks.extend(
            said.into_iter().filter(|words| words.contains(MARKER)).map(|it| (url.clone(), it)),
        );
    }
    assert!(leaks.is_empty(), "{} leaks: {leaks:#?}", leaks.len());
}
