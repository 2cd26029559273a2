//! Which line of history the file belongs to, and how a new one begins.
//!
//! A new one begins when the machine was rebooted since, for a loss of power may have taken the
//! last commits with it, and when the file is another one than it says, for then it is a copy. A
//! lineage is the minute in which it began, or one more than the last known if that is higher: so
//! epochs leap further the older the copy may be, and the same copy back again begins another one.
//!
//! The last lineage is noted in a file beside the database too. A copy that comes back for the
//! second time knows nothing of the first; the note does. It also tells which file the log belongs
//! to.

use std::io::{self, Read, Write};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::boots::Boots;
use super::connect::FileConnection;
use super::error::SqliteOpenError;
use super::file_identity::FileId;
use super::records::Bits;
use super::schema;
use crate::driver::SchemaState;

const MS_PER_MINUTE: u64 = 60_000;

/// The name of the note in the folder beside the database.
const NOTE: &str = "lineage";

/// What the note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotedLineage {
    lineage: u64,
    pub(super) file: FileId,
}

/// What the database says of itself.
struct MetaRow {
    noted: NotedLineage,
    machine: String,
}

/// The lineage of the data.
pub(super) fn current(conn: &Connection) -> rusqlite::Result<u64> {
    let mut statement = conn.prepare_cached("SELECT lineage FROM baton_meta")?;
    statement.query_row([], |row| Ok(row.get::<_, Bits>(0)?.0))
}

/// Sees to it that the schema is known and that the lineage is one of this file on this machine.
/// `least` is the highest lineage that this handle ever saw.
pub(super) fn settle(connection: &mut FileConnection, least: u64) -> Result<(), SqliteOpenError> {
    let (_, state) = schema::version(&connection.conn, &connection.config)?;
    let is_settled = match state {
        SchemaState::Usable => is_settled(connection, least),
        SchemaState::Older => Ok(false),
    };
    if is_settled.map_err(|error| connection.config.broken(error))? {
        return Ok(());
    }
    // It must outlast a loss of power before anything is granted in it.
    connection.sync_fully(true).map_err(|error| connection.config.broken(error))?;
    begin(connection, least)
}

/// Is the lineage of this file on this machine, and was nothing beyond it seen?
fn is_settled(connection: &FileConnection, least: u64) -> rusqlite::Result<bool> {
    let Some(MetaRow { noted: NotedLineage { lineage, file }, machine: boot }) =
        MetaRow::read(&connection.conn)?
    else {
        return Ok(false);
    };
    let is_of_here = boot == *connection.machine.boot && file == connection.file;
    let stands = |noted: NotedLineage| noted.lineage <= lineage && noted.file == file;
    let noted = || NotedLineage::read(&connection.boots);
    Ok(is_of_here && lineage >= least && noted().is_some_and(stands))
}

fn begin(connection: &FileConnection, least: u64) -> Result<(), SqliteOpenError> {
    let FileConnection { conn, config, machine, boots, .. } = connection;
    let broken = |error| config.broken(error);
    let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Immediate);
    let transaction = transaction.map_err(broken)?;
    let (version, state) = schema::version(&transaction, config)?;
    if state == SchemaState::Older {
        schema::migrate(&transaction, version).map_err(broken)?;
    }
    let stored = MetaRow::read(&transaction).map_err(broken)?;
    let noted = NotedLineage::read(boots).map(|noted| noted.lineage);
    let known = stored.as_ref().map(|meta| meta.noted.lineage).max(noted).unwrap_or(0).max(least);
    let goes_on = stored.is_some_and(|meta| {
        let is_known = meta.noted == NotedLineage { lineage: known, file: connection.file };
        is_known && meta.machine == *machine.boot
    });
    let lineage = match goes_on {
        true => known,
        false => known.saturating_add(1).max(machine.step_time().wall_ms / MS_PER_MINUTE),
    };
    let noted = NotedLineage { lineage, file: connection.file };
    // Noted first: a note that is ahead costs a leap, one that is behind an epoch.
    let unwritten = |error| SqliteOpenError::Write { path: boots.path.clone(), error };
    noted.write(boots).map_err(unwritten)?;
    MetaRow { noted, machine: machine.boot.to_string() }.write(&transaction).map_err(broken)?;
    transaction.commit().map_err(broken)
}

impl MetaRow {
    fn read(conn: &Connection) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT lineage, machine, device, inode, born FROM baton_meta";
        let meta = |row: &rusqlite::Row<'_>| {
            let bits = |at: usize| row.get::<_, Bits>(at).map(|bits| bits.0);
            let file = FileId { device: bits(2)?, inode: bits(3)?, born: bits(4)? };
            let noted = NotedLineage { lineage: bits(0)?, file };
            Ok(Self { noted, machine: row.get(1)? })
        };
        conn.query_row(sql, [], meta).optional()
    }

    fn write(&self, conn: &Connection) -> rusqlite::Result<usize> {
        let NotedLineage { lineage, file: FileId { device, inode, born } } = self.noted;
        let sql = "INSERT OR REPLACE INTO baton_meta (one, lineage, machine, device, inode, born) \
                   VALUES (1, ?1, ?2, ?3, ?4, ?5)";
        let (device, inode, born) = (Bits(device), Bits(inode), Bits(born));
        conn.execute(sql, (Bits(lineage), &self.machine, device, inode, born))
    }
}

impl NotedLineage {
    /// What the note says now; `None` if it is not there, or not one of baton's.
    pub(super) fn read(boots: &Boots) -> Option<Self> {
        let mut text = String::new();
        boots.look().ok()?.open(NOTE).ok()?.read_to_string(&mut text).ok()?;
        let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
        let [lineage, device, inode, born] = <[u64; 4]>::try_from(numbers.ok()?).ok()?;
        Some(Self { lineage, file: FileId { device, inode, born } })
    }

    /// Notes it, durably. Only under the write lock of the database.
    fn write(self, boots: &Boots) -> io::Result<()> {
        let Self { lineage, file: FileId { device, inode, born } } = self;
        let (folder, draft) = (boots.look()?, format!(".{NOTE}"));
        let mut file = folder.create(&draft)?;
        writeln!(file, "{lineage} {device} {inode} {born}")?;
        file.sync_all()?;
        folder.rename(&draft, NOTE)?;
        folder.sync()
    }
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
        assert_eq!(NotedLineage::read(&boots), None);
        boots.make().expect("it can be made");
        let noted =
            NotedLineage { lineage: u64::MAX, file: FileId { device: 1, inode: 2, born: 3 } };
        noted.write(&boots).expect("the folder can be written");
        assert_eq!(NotedLineage::read(&boots), Some(noted));
        for nonsense in ["", "1 2 3", "1 2 3 x", "1 2 3 4 5"] {
            fs::write(boots.path.join(NOTE), nonsense).expect("the folder can be written");
            assert_eq!(NotedLineage::read(&boots), None, "{nonsense:?}");
        }
    }
}
