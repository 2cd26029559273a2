//! The files that tidy looks at: all outside of folders named `target` or `.git`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::failure::Failure;

/// Every file by its path from the root, with `/` between folders.
#[derive(Debug)]
pub struct Repo {
    files: BTreeMap<String, String>,
}

impl Repo {
    /// Reads the repository at `root`.
    pub fn read(root: &Path) -> Result<Self, Failure> {
        let mut files = BTreeMap::new();
        read_folder(root, "", &mut files)?;
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

fn read_folder(
    root: &Path,
    folder: &str,
    files: &mut BTreeMap<String, String>,
) -> Result<(), Failure> {
    let here = root.join(folder);
    let failure = |source| Failure::File { what: "read", path: here.clone(), source };
    for entry in std::fs::read_dir(&here).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        let name = entry.file_name();
        let path = format!("{folder}{}", name.to_string_lossy());
        let kind = entry.file_type().map_err(failure)?;
        if name == "target" || name == ".git" {
            continue;
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).map_err(failure)?;
            files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        } else if kind.is_dir() {
            read_folder(root, &format!("{path}/"), files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Repo, folder, join};
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
    fn all_folders_are_read() {
        let repo = Repo::read(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("this crate's folder");
        assert!(
            repo.text("src/tidy/repo.rs").is_some_and(|text| text.starts_with("//! The files"))
        );
    }
}
