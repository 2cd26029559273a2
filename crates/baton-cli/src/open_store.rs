//! Opening the store that flags, environment and file name, to read from it or to write to it.

use std::sync::Arc;

use baton_core::ids::Namespace;
use baton_core::protocol::LeaseSnapshot;
use baton_store::{Store, StoreError};

use crate::config::{Config, Environment, Flags, StoreUrl};
use crate::error::CommandError;
use crate::nested_node::refuse_nested;
use crate::output::log;
use crate::snapshot::{Snapshot, gather};

/// A configuration and the store that it names, opened.
pub struct OpenStore {
    pub config: Config,
    pub store: Arc<dyn Store>,
}

/// Loads the configuration, and warns of variables that look misspelt.
pub fn load(flags: &Flags) -> Result<Config, CommandError> {
    let environment = Environment::of_process();
    let config = Config::load(flags, &environment)?;
    log::begin(config.log_format);
    for (given, meant) in environment.misspelt() {
        log::warn(&format!("{given} is not used; did you mean {meant}?"));
    }
    Ok(config)
}

/// Loads the configuration of a command that reads the store's own tables, keys or objects. A
/// database file must exist.
pub fn load_existing(flags: &Flags) -> Result<Config, CommandError> {
    let config = load(flags)?;
    check_exists(&config.store)?;
    Ok(config)
}

/// Loads the configuration of a node, and refuses one that contradicts itself.
pub fn load_node(flags: &Flags) -> Result<Config, CommandError> {
    let config = load(flags)?.checked()?;
    refuse_nested(&config, &Environment::of_process())?;
    Ok(config)
}

/// Opens the store, and creates a file that does not exist.
pub async fn open(url: &StoreUrl) -> Result<Arc<dyn Store>, CommandError> {
    baton_drivers::open(url.with_secrets()).await.map_err(CommandError::Open)
}

/// Opens a store to change something in it, without creating a file.
pub async fn open_existing(url: &StoreUrl) -> Result<Arc<dyn Store>, CommandError> {
    check_exists(url)?;
    open(url).await
}

/// Refuses only a file that certainly does not exist; the driver explains everything else.
fn check_exists(url: &StoreUrl) -> Result<(), CommandError> {
    match url.file().filter(|file| !file.as_os_str().is_empty()) {
        Some(file) if matches!(file.try_exists(), Ok(false)) => {
            Err(CommandError::NoDatabase { file: file.to_owned() })
        }
        _ => Ok(()),
    }
}

impl OpenStore {
    /// For a command that only reads: nothing is created or written.
    pub async fn to_read(flags: &Flags) -> Result<Self, CommandError> {
        let config = load_existing(flags)?;
        let opened = baton_drivers::open_to_read(config.store.with_secrets()).await;
        Ok(Self { config, store: opened.map_err(CommandError::Open)? })
    }

    pub fn namespace(&self) -> &Namespace {
        &self.config.namespace
    }

    /// Leader, members and last terms of the namespace.
    pub async fn snapshot(&self) -> Result<Snapshot, CommandError> {
        let (name, settings) = (self.config.store.to_string(), &self.config.settings);
        self.ask(gather(&*self.store, &name, self.namespace(), settings)).await
    }

    /// The lease of the namespace, if it was ever granted.
    pub async fn lease(&self) -> Result<Option<LeaseSnapshot>, CommandError> {
        Ok(self.ask(self.store.inspect(self.namespace())).await?.lease)
    }

    /// What the store answers.
    pub async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, CommandError> {
        request.await.map_err(|problem| self.error(problem))
    }

    /// An error of this store, with its URL.
    pub fn error(&self, problem: StoreError) -> CommandError {
        CommandError::Store { url: self.config.store.clone(), problem }
    }
}
