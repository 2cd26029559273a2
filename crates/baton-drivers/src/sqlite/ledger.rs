//! The ledger: the last lineage of the file, noted beside it.
//!
//! A copy that comes back for the second time knows nothing of the first; the ledger does. It also
//! tells which file the log belongs to.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::place::FileId;

/// Its name in the folder beside the database.
const NAME: &str = "lineage";

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ledger {
    pub(super) lineage: u64,
    pub(super) file: FileId,
}

/// What it says now; `None` if it is not there, or not one of ours.
pub(super) fn read(folder: &Path) -> Option<Ledger> {
    let text = fs::read_to_string(folder.join(NAME)).ok()?;
    let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    let [lineage, device, inode, born] = <[u64; 4]>::try_from(numbers.ok()?).ok()?;
    Some(Ledger { lineage, file: FileId { device, inode, born } })
}

/// Notes it, durably. Only under the write lock of the database.
pub(super) fn write(folder: &Path, ledger: Ledger) -> io::Result<()> {
    let Ledger { lineage, file: FileId { device, inode, born } } = ledger;
    let draft = folder.join(format!(".{NAME}"));
    let mut file = File::create(&draft)?;
    writeln!(file, "{lineage} {device} {inode} {born}")?;
    file.sync_all()?;
    fs::rename(&draft, folder.join(NAME))?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_and_nonsense_is_nothing() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        assert_eq!(read(folder.path()), None);
        let ledger = Ledger { lineage: u64::MAX, file: FileId { device: 1, inode: 2, born: 3 } };
        write(folder.path(), ledger).expect("the folder can be written");
        assert_eq!(read(folder.path()), Some(ledger));
        for nonsense in ["", "1 2 3", "1 2 3 x", "1 2 3 4 5"] {
            fs::write(folder.path().join(NAME), nonsense).expect("the folder can be written");
            assert_eq!(read(folder.path()), None, "{nonsense:?}");
        }
    }
}
