//! Rule: every Rust file is compiled, being the root of a target or declared by one that is.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::modules::declared;
use super::repo::{Repo, folder, join};

/// Fires on each Rust file that no target of its crate reaches.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<(String, bool)> = rust_files(repo)
        .filter(|path| is_root(repo, path))
        .map(|path| (path.to_owned(), true))
        .collect();
    while let Some((path, is_root)) = open.pop() {
        let text = repo.text(&path).unwrap_or_default();
        let children = children_folder(&path, is_root);
        for module in declared(&path, text) {
            let file = [format!("{module}.rs"), format!("{module}/mod.rs")]
                .iter()
                .filter_map(|relative| join(&children, relative))
                .find(|file| repo.text(file).is_some() && !reached.contains(file));
            open.extend(file.map(|file| (file, false)));
        }
        reached.insert(path);
    }
    rust_files(repo)
        .filter(|path| !reached.contains(*path))
        .map(|path| Finding::new(path, 1, "unused file: no `mod` declaration reaches it"))
        .collect()
}

fn rust_files(repo: &Repo) -> impl Iterator<Item = &str> {
    let paths = repo.files().map(|(path, _)| path);
    paths.filter(|path| path.ends_with(".rs"))
}

/// Is this the root of a target, by cargo's conventions or by the manifest's word?
fn is_root(repo: &Repo, path: &str) -> bool {
    let manifest = |dir: &str| join(dir, "Cargo.toml").and_then(|path| repo.text(&path));
    let mut above = Some(folder(path));
    while let Some(dir) = above {
        if let Some(manifest) = manifest(dir) {
            let inside = path[dir.len()..].trim_start_matches('/');
            return is_conventional(inside) || manifest.contains(&format!("\"{inside}\""));
        }
        above = (!dir.is_empty()).then(|| folder(dir));
    }
    false
}

fn is_conventional(path: &str) -> bool {
    if ["src/lib.rs", "src/main.rs", "build.rs"].contains(&path) {
        return true;
    }
    let many = ["src/bin/", "tests/", "benches/", "examples/"];
    let Some(rest) = many.iter().find_map(|folder| path.strip_prefix(folder)) else {
        return false;
    };
    match rest.split_once('/') {
        None => true,
        Some((_, file)) => file == "main.rs",
    }
}

/// Where the modules of this file are looked for.
fn children_folder(path: &str, is_root: bool) -> String {
    if is_root || path.ends_with("/mod.rs") {
        return folder(path).to_owned();
    }
    path.trim_end_matches(".rs").to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Repo, check};

    fn unused(files: &[(&str, &str)]) -> Vec<String> {
        let findings = check(&Repo::of(files));
        findings.into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn fires_on_files_that_nothing_declares() {
        let found = unused(&[
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "mod b; // mod lost;"),
            ("a/src/b.rs", "mod c;"),
            ("a/src/c.rs", "belongs into the folder b"),
            ("a/src/lost.rs", "mod lost;"),
            ("a/tests/common/mod.rs", ""),
            ("stray.rs", ""),
        ]);
        let expected = ["a/src/c.rs", "a/src/lost.rs", "a/tests/common/mod.rs", "stray.rs"];
        assert_eq!(found, expected);
    }

    #[test]
    fn is_silent_on_modules_in_every_place_they_may_stand() {
        let found = unused(&[
            ("a/Cargo.toml", "[[bin]]\npath = \"tools/odd.rs\"\n"),
            ("a/build.rs", ""),
            ("a/tools/odd.rs", ""),
            ("a/src/lib.rs", "mod b; mod d; mod f { mod g; }"),
            ("a/src/b.rs", "mod c;"),
            ("a/src/b/c.rs", ""),
            ("a/src/d/mod.rs", "mod e;"),
            ("a/src/d/e.rs", ""),
            ("a/src/f/g.rs", ""),
            ("a/src/bin/x.rs", ""),
            ("a/src/bin/y/main.rs", "mod z;"),
            ("a/src/bin/y/z.rs", ""),
            ("a/tests/it.rs", "mod common;"),
            ("a/tests/common/mod.rs", ""),
            ("a/examples/e.rs", ""),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn a_module_that_declares_itself_ends_the_walk() {
        let files = [("Cargo.toml", ""), ("src/lib.rs", "mod lib;")];
        assert_eq!(unused(&files), [""; 0]);
    }
}
