//! The last lineage of the database, noted in a file beside it.
//!
//! A copy that comes back for the second time knows nothing of the first; the note does. It also
//! tells which file the log belongs to.

use std::io::{self, Read, Write};

use super::boots::Boots;
use super::file_identity::FileId;

/// Its name in the folder beside the database.
const NAME: &str = "lineage";

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotedLineage {
    pub(super) lineage: u64,
    pub(super) file: FileId,
}

/// What it says now; `None` if it is not there, or not one of baton's.
pub(super) fn read(boots: &Boots) -> Option<NotedLineage> {
    let mut text = String::new();
    boots.look().ok()?.open(NAME).ok()?.read_to_string(&mut text).ok()?;
    let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    let [lineage, device, inode, born] = <[u64; 4]>::try_from(numbers.ok()?).ok()?;
    Some(NotedLineage { lineage, file: FileId { device, inode, born } })
}

/// Notes it, durably. Only under the write lock of the database.
pub(super) fn write(boots: &Boots, noted: NotedLineage) -> io::Result<()> {
    let NotedLineage { lineage, file: FileId { device, inode, born } } = noted;
    let (folder, draft) = (boots.look()?, format!(".{NAME}"));
    let mut file = folder.create(&draft)?;
    writeln!(file, "{lineage} {device} {inode} {born}")?;
    file.sync_all()?;
    folder.rename(&draft, NAME)?;
    folder.sync()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_noted_is_read_and_nonsense_is_nothing() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let database = folder.path().join("a.db");
        fs::write(&database, "").expect("the folder can be written");
        let boots = Boots::of(&database).expect("it is there");
        assert_eq!(read(&boots), None);
        boots.make().expect("it can be made");
        let noted =
            NotedLineage { lineage: u64::MAX, file: FileId { device: 1, inode: 2, born: 3 } };
        write(&boots, noted).expect("the folder can be written");
        assert_eq!(read(&boots), Some(noted));
        for nonsense in ["", "1 2 3", "1 2 3 x", "1 2 3 4 5"] {
            fs::write(boots.path.join(NAME), nonsense).expect("the folder can be written");
            assert_eq!(read(&boots), None, "{nonsense:?}");
        }
    }
}
