//! Which line of history the file belongs to, and how a new one begins.
//!
//! A new one begins when the machine was rebooted since, for a loss of power may have taken the
//! last commits with it, and when the file is another one than it says, for then it is a copy. A
//! lineage is the minute in which it began, or one more than the last known if that is higher: so
//! epochs leap further the older the copy may be, and the same copy back again begins another one.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::columns::Bits;
use super::connect::FileConnection;
use super::error::SqliteOpenError;
use super::file_identity::FileId;
use super::lineage_file::{self, NotedLineage};
use super::machine::Machine;
use super::schema;
use crate::driver::SchemaState;

const MS_PER_MINUTE: u64 = 60_000;

struct Meta {
    lineage: u64,
    machine: String,
    file: FileId,
}

/// The lineage of the data.
pub(super) fn current(conn: &Connection) -> rusqlite::Result<u64> {
    let mut statement = conn.prepare_cached("SELECT lineage FROM baton_meta")?;
    statement.query_row([], |row| Ok(row.get::<_, Bits>(0)?.0))
}

/// Sees to it that the schema is known and that the lineage is one of this file on this machine.
/// `least` is the highest lineage that this handle ever saw.
pub(super) fn settle(
    connection: &mut FileConnection,
    machine: &Machine,
    least: u64,
) -> Result<(), SqliteOpenError> {
    let path = connection.path.clone();
    let waited = connection.busy_timeout;
    let broken = |error| SqliteOpenError::of(&path, waited, error);
    let (_, state) = schema::version(&connection.conn, &path, waited)?;
    if state == SchemaState::Usable && is_settled(connection, machine, least).map_err(broken)? {
        return Ok(());
    }
    // It must outlast a loss of power before anything is granted in it.
    connection.sync_fully(true).map_err(broken)?;
    begin(connection, machine, least)
}

fn is_settled(
    connection: &FileConnection,
    machine: &Machine,
    least: u64,
) -> rusqlite::Result<bool> {
    let meta = read(&connection.conn)?;
    Ok(meta.is_some_and(|meta| meta.is_of(connection, machine) && stands(&meta, connection, least)))
}

/// Has nothing beyond this lineage been seen?
fn stands(meta: &Meta, connection: &FileConnection, least: u64) -> bool {
    let noted = lineage_file::read(&connection.boots);
    let same = |noted: NotedLineage| noted.lineage <= meta.lineage && noted.file == connection.file;
    meta.lineage >= least && noted.is_some_and(same)
}

impl Meta {
    fn is_of(&self, connection: &FileConnection, machine: &Machine) -> bool {
        self.machine == *machine.boot && self.file == connection.file
    }
}

fn begin(
    connection: &mut FileConnection,
    machine: &Machine,
    least: u64,
) -> Result<(), SqliteOpenError> {
    let (path, waited) = (connection.path.clone(), connection.busy_timeout);
    let broken = |error| SqliteOpenError::of(&path, waited, error);
    let (file, boots) = (connection.file, connection.boots.clone());
    let behavior = TransactionBehavior::Immediate;
    let transaction = connection.conn.transaction_with_behavior(behavior).map_err(broken)?;
    let (version, state) = schema::version(&transaction, &path, waited)?;
    if state == SchemaState::Older {
        schema::migrate(&transaction, version).map_err(broken)?;
    }
    let stored = read(&transaction).map_err(broken)?;
    let noted = lineage_file::read(&boots).map(|noted| noted.lineage);
    let known = stored.as_ref().map(|meta| meta.lineage).max(noted).unwrap_or(0).max(least);
    let goes_on = stored.is_some_and(|meta| {
        meta.lineage == known && meta.machine == *machine.boot && meta.file == file
    });
    let lineage = match goes_on {
        true => known,
        false => known.saturating_add(1).max(machine.stamp().wall_ms / MS_PER_MINUTE),
    };
    // Noted first: a note that is ahead costs a leap, one that is behind an epoch.
    let unwritten = |error| SqliteOpenError::Write { path: boots.path.clone(), error };
    lineage_file::write(&boots, NotedLineage { lineage, file }).map_err(unwritten)?;
    write(&transaction, &Meta { lineage, machine: machine.boot.to_string(), file })
        .map_err(broken)?;
    transaction.commit().map_err(broken)
}

fn read(conn: &Connection) -> rusqlite::Result<Option<Meta>> {
    let sql = "SELECT lineage, machine, device, inode, born FROM baton_meta";
    let meta = |row: &rusqlite::Row<'_>| {
        let bits = |at: usize| row.get::<_, Bits>(at).map(|bits| bits.0);
        let file = FileId { device: bits(2)?, inode: bits(3)?, born: bits(4)? };
        Ok(Meta { lineage: bits(0)?, machine: row.get(1)?, file })
    };
    conn.query_row(sql, [], meta).optional()
}

fn write(conn: &Connection, meta: &Meta) -> rusqlite::Result<usize> {
    let FileId { device, inode, born } = meta.file;
    let sql = "INSERT OR REPLACE INTO baton_meta (one, lineage, machine, device, inode, born) \
               VALUES (1, ?1, ?2, ?3, ?4, ?5)";
    let numbers = (Bits(device), Bits(inode), Bits(born));
    let values = (Bits(meta.lineage), &meta.machine, numbers.0, numbers.1, numbers.2);
    conn.execute(sql, values)
}
