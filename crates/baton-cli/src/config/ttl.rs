//! `[[ttl]]` tables of the file: what `baton serve` removes once it has expired.

use std::path::Path;
use std::time::Duration;

use baton::sweep::{Keys, Objects, Strategy, Table, Target, Unit};
use toml::Value;

use super::ConfigError;
use super::setting_values::Source;
use super::store_url::StoreUrl;
use super::table_reader::{TableReader, tables, text};

/// Every key that such a table may have.
const KEYS: [&str; 15] = [
    "store", "table", "index", "prefix", "key", "expires", "created", "age", "unit", "strategy",
    "column", "into", "every", "batch", "pause",
];

/// One `[[ttl]]` table.
#[derive(Clone, Debug)]
pub struct TtlTable {
    pub place: String,
    pub source: Source,
    /// The table as it stands in the file, without secrets.
    pub shown: toml::Table,
    /// Where the records are, if not where baton coordinates.
    pub store: Option<StoreUrl>,
    pub target: Target,
    pub strategy: Strategy,
    pub every: Option<Duration>,
    pub batch: Option<u32>,
    pub pause: Option<Duration>,
}

/// Reads what the file has under `ttl`.
pub fn read(file: &Path, value: &Value) -> Result<Vec<TtlTable>, ConfigError> {
    tables(file, "ttl", value)?.into_iter().map(|table| TtlReader { table }.read()).collect()
}

/// One table that is being read.
struct TtlReader<'a> {
    table: TableReader<'a>,
}

impl TtlReader<'_> {
    fn read(&self) -> Result<TtlTable, ConfigError> {
        let table = &self.table;
        table.check_keys(&KEYS)?;
        let store = table.text("store")?.map(|url| StoreUrl::new(&url));
        let mut shown = table.table().clone();
        shown.extend(store.as_ref().map(|url| ("store".to_owned(), url.to_string().into())));
        Ok(TtlTable {
            place: table.place(),
            source: table.source(),
            shown,
            store,
            target: self.target()?,
            strategy: self.strategy()?,
            every: table.span("every")?,
            batch: table.count("batch")?,
            pause: table.span("pause")?,
        })
    }

    /// The columns of the key: one name, or several.
    fn key(&self) -> Result<Option<Vec<String>>, ConfigError> {
        let columns = |value: &Value| -> Option<Vec<String>> {
            match value {
                Value::Array(names) if names.is_empty() => None,
                Value::Array(names) => names.iter().map(text).collect(),
                one => text(one).map(|one| vec![one]),
            }
        };
        self.table.parsed("key", columns, "must name a column, or several as [\"a\", \"b\"]")
    }

    fn target(&self) -> Result<Target, ConfigError> {
        let (table, index, prefix) =
            (self.table.text("table")?, self.table.text("index")?, self.table.text("prefix")?);
        match (table, index, prefix) {
            (Some(name), None, None) => self.table_of(name).map(Target::from),
            (None, Some(index), None) => {
                self.only_for_tables("index")?;
                self.absent("age", "index", "the index holds the expiries")?;
                Ok(Keys::by_index(index).into())
            }
            (None, None, Some(prefix)) => {
                self.only_for_tables("prefix")?;
                let age = self.table.span("age")?;
                let age =
                    age.ok_or_else(|| self.table.refuse("age", "is missing beside prefix"))?;
                Ok(Objects::under(prefix, age).into())
            }
            _ => {
                let message = "name one of table (SQL), index (Redis) and prefix (S3)";
                Err(ConfigError::refused(&self.table.place(), &message))
            }
        }
    }

    fn table_of(&self, name: String) -> Result<Table, ConfigError> {
        let table = Table::new(name).unit(self.unit()?);
        let table = self.key()?.into_iter().fold(table, Table::key);
        match (self.table.text("expires")?, self.table.text("created")?, self.table.span("age")?) {
            (Some(_), Some(_), _) => {
                Err(self.table.refuse("created", "stands beside expires; name one of the two"))
            }
            (Some(column), None, None) => Ok(table.expires(column)),
            (None, Some(column), Some(age)) => Ok(table.created(column, age)),
            (None, Some(_), None) => Err(self.table.refuse("age", "is missing beside created")),
            (_, None, Some(_)) => Err(self
                .table
                .refuse("age", "goes with created; name the column that it counts from")),
            (None, None, None) => Ok(table),
        }
    }

    fn only_for_tables(&self, given: &str) -> Result<(), ConfigError> {
        for key in ["key", "expires", "created", "unit"] {
            self.absent(key, given, "it is for tables")?;
        }
        Ok(())
    }

    fn absent(&self, key: &str, given: &str, why: &str) -> Result<(), ConfigError> {
        match self.table.has(key) {
            true => Err(self.table.refuse(key, format!("cannot stand beside {given}: {why}"))),
            false => Ok(()),
        }
    }

    fn unit(&self) -> Result<Unit, ConfigError> {
        let units = [
            ("timestamp", Unit::Timestamp),
            ("unix-seconds", Unit::UnixSeconds),
            ("unix-millis", Unit::UnixMillis),
        ];
        Ok(self.table.choice("unit", &units)?.unwrap_or(Unit::Timestamp))
    }

    fn strategy(&self) -> Result<Strategy, ConfigError> {
        let (column, into) = (self.table.text("column")?, self.table.text("into")?);
        let missing = |key, message: &str| self.table.refuse(key, message);
        match (self.table.text("strategy")?.as_deref(), column, into) {
            (None | Some("delete"), None, None) => Ok(Strategy::Delete),
            (Some("soft-delete"), Some(column), None) => Ok(Strategy::soft_delete(column)),
            (Some("soft-delete"), None, _) => {
                Err(missing("column", "is missing: name the one that marks a record as deleted"))
            }
            (Some("archive"), None, Some(into)) => Ok(Strategy::archive(into)),
            (Some("archive"), _, None) => {
                Err(missing("into", "is missing: name where records are moved to"))
            }
            (None | Some("delete" | "archive"), Some(_), _) => {
                Err(missing("column", "goes with strategy = \"soft-delete\""))
            }
            (None | Some("delete" | "soft-delete"), _, Some(_)) => {
                Err(missing("into", "goes with strategy = \"archive\""))
            }
            (Some(_), _, _) => {
                let names = "is unknown; choose one of delete, soft-delete, archive";
                Err(missing("strategy", names))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<TtlTable>, String> {
        let table: toml::Table = toml::from_str(text).expect("it is TOML");
        read(Path::new("baton.toml"), &table["ttl"]).map_err(|problem| problem.to_string())
    }

    #[test]
    fn every_kind_of_target_is_read() {
        let text = "[[ttl]]\nstore = 'postgres://db/app'\ntable = 'app.sessions'\n\
                    key = ['tenant', 'id']\nexpires = 'until'\nunit = 'unix-millis'\n\
                    every = '1m'\nbatch = 500\npause = '5ms'\n\
                    [[ttl]]\ntable = 'orders'\ncreated = 'made'\nage = '30d'\n\
                    strategy = 'archive'\ninto = 'old_orders'\n\
                    [[ttl]]\nindex = 'sessions:expiry'\nstrategy = 'soft-delete'\ncolumn = 'gone'\n\
                    [[ttl]]\nprefix = 'tmp/'\nage = '1d'";
        let all = parsed(text).expect("a sound file");
        let sessions = Table::new("app.sessions").key(["tenant", "id"]).expires("until");
        assert_eq!(all[0].target, sessions.unit(Unit::UnixMillis).into());
        assert_eq!((all[0].batch, all[0].every), (Some(500), Some(Duration::from_secs(60))));
        let month = Duration::from_secs(30 * 24 * 3600);
        assert_eq!(all[1].target, Table::new("orders").created("made", month).into());
        assert!(matches!(&all[1].strategy, Strategy::Archive { into } if into == "old_orders"));
        assert_eq!(all[2].target, Keys::by_index("sessions:expiry").into());
        let day = Duration::from_secs(24 * 3600);
        assert_eq!(all[3].target, Objects::under("tmp/", day).into());
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_name_on_one_line() {
        let cases = [
            ("expirs = 'x'", "unknown setting expirs in [[ttl]] 1; did you mean expires?"),
            ("colour = 1", "unknown setting colour in [[ttl]] 1; known are store, table, "),
            ("batch = 0", "[[ttl]] 1: batch = 0 is not a whole number from 1"),
            ("every = 'soon'", "[[ttl]] 1: every = \"soon\" is not a length of time"),
            ("strategy = 'burn'", "strategy = \"burn\" is unknown; choose one of delete"),
            ("strategy = 'archive'", "into is missing: name where records are moved to"),
            ("column = 'x'", "column = \"x\" goes with strategy = \"soft-delete\""),
            ("created = 'x'", "age is missing beside created"),
            ("age = '5s'", "age = \"5s\" goes with created"),
            ("unit = 'days'", "unit = \"days\" is unknown; choose one of timestamp"),
            ("key = []", "key = [] must name a column"),
            ("store = ['hush']", "[[ttl]] 1: store = *** must be text"),
            ("index = 'i'", "name one of table (SQL), index (Redis) and prefix (S3)"),
        ];
        for (line, expected) in cases {
            let message = parsed(&format!("[[ttl]]\ntable = 't'\n{line}")).expect_err(line);
            assert!(message.starts_with("baton.toml: "), "{message}");
            assert!(message.contains(expected), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
        let message = parsed("ttl = 5").expect_err("no table");
        assert!(message.contains("write each under a line [[ttl]]"), "{message}");
    }
}
