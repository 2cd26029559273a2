//! The files that tidy looks at: those that git tracks or would track.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use crate::command::Command;
use crate::failure::Failure;

/// Every file by its path from the root, with `/` between folders.
#[derive(Debug)]
pub struct Repo {
    files: BTreeMap<String, String>,
}

impl Repo {
    /// Reads the repository at `root`. A file that is tracked but deleted is left out, so that a
    /// removal can be checked before it is committed.
    pub fn read(root: &Path) -> Result<Self, Failure> {
        let mut files = BTreeMap::new();
        for path in list(root)? {
            match std::fs::read(root.join(&path)) {
                Ok(bytes) => {
                    files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(unreadable(&root.join(&path), error)),
            }
        }
        Ok(Self { files })
    }

    /// The given files, for the rules' tests.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Self { files: files.iter().map(owned).collect() }
    }

    /// Paths and texts, in the order of the paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Is there such a file, or a folder with a file in it?
    pub fn holds(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        if path.is_empty() || self.files.contains_key(path) {
            return true;
        }
        let folder = format!("{path}/");
        let mut after = self.files.range(folder.clone()..);
        after.next().is_some_and(|(next, _)| next.starts_with(&folder))
    }
}

/// Joins a relative path to a folder and resolves `.` and `..`; `None` if it leaves the root.
pub fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The folder of a path; empty at the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn list(root: &Path) -> Result<Vec<String>, Failure> {
    match Command::git("ls-files -co --exclude-standard -z").output(root) {
        Ok(listed) => {
            Ok(listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
        }
        Err(failure) => {
            eprintln!("tidy: {failure}; taking every file outside of target/ and .git/");
            let mut found = Vec::new();
            walk(root, "", &mut found)?;
            Ok(found)
        }
    }
}

/// For a checkout without git: an unpacked archive, or a container that mounts it.
fn walk(root: &Path, folder: &str, found: &mut Vec<String>) -> Result<(), Failure> {
    let here = root.join(folder);
    for entry in std::fs::read_dir(&here).map_err(|e| unreadable(&here, e))? {
        let entry = entry.map_err(|e| unreadable(&here, e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(path) = join(folder, &name) else {
            continue;
        };
        let kind = entry.file_type().map_err(|e| unreadable(&here, e))?;
        if kind.is_file() {
            found.push(path);
        } else if kind.is_dir() && path != "target" && path != ".git" {
            walk(root, &path, found)?;
        }
    }
    Ok(())
}

fn unreadable(path: &Path, source: std::io::Error) -> Failure {
    Failure::Unreadable { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::{Repo, folder, join, walk};
    use std::path::Path;

    #[test]
    fn folders_are_held_by_the_files_in_them() {
        let repo = Repo::of(&[("docs/a.md", ""), ("docs-old.md", "")]);
        assert!(repo.holds("docs") && repo.holds("docs/") && repo.holds("docs/a.md"));
        assert!(!repo.holds("doc") && !repo.holds("docs/a"));
    }

    #[test]
    fn paths_are_joined_within_the_root() {
        assert_eq!(join("docs/x", "../a.md").as_deref(), Some("docs/a.md"));
        assert_eq!(join("", "./a.md").as_deref(), Some("a.md"));
        assert_eq!(join("docs", "../../a.md"), None);
        assert_eq!((folder("docs/a.md"), folder("a.md")), ("docs", ""));
    }

    #[test]
    fn without_git_the_folders_are_walked() {
        let mut found = Vec::new();
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        walk(crate_folder, "", &mut found).expect("this crate's folder can be read");
        assert!(found.contains(&"src/tidy/repo.rs".to_owned()));
    }
}
