//! Opening the store that was configured.

use std::sync::Arc;

use baton_core::ids::Namespace;
use baton_store::{Store, StoreError};

use crate::config::{Config, Environment, Flags, StoreUrl};
use crate::error::CommandError;
use crate::nested::refuse_nested;
use crate::output::log;
use crate::snapshot::{Snapshot, gather};

/// A store, opened, and the namespace to look at.
pub struct Place {
    /// What was configured.
    pub config: Config,
    /// The store.
    pub store: Arc<dyn Store>,
}

/// Loads the configuration, and says which variables look like a slip of the pen.
pub fn load(flags: &Flags) -> Result<Config, CommandError> {
    let environment = Environment::of_process();
    let config = Config::load(flags, &environment)?;
    log::begin(config.log_format);
    for (given, meant) in environment.misspelt() {
        log::warn(&format!("{given} is not used; did you mean {meant}?"));
    }
    Ok(config)
}

/// Loads the configuration of a command that looks into the store's own tables, keys or objects. A
/// file must be there.
pub fn load_existing(flags: &Flags) -> Result<Config, CommandError> {
    let config = load(flags)?;
    exists(&config.store)?;
    Ok(config)
}

/// Loads the configuration of a node, and refuses one that makes no sense.
pub fn load_node(flags: &Flags) -> Result<Config, CommandError> {
    let config = load(flags)?.checked()?;
    refuse_nested(&config, &Environment::of_process())?;
    Ok(config)
}

/// Opens the store, making a file that is not there.
pub async fn open(url: &StoreUrl) -> Result<Arc<dyn Store>, CommandError> {
    baton_drivers::open(url.with_secrets()).await.map_err(CommandError::Open)
}

/// Opens a store that exists, to change something in it: no file is made for that.
pub async fn open_existing(url: &StoreUrl) -> Result<Arc<dyn Store>, CommandError> {
    exists(url)?;
    open(url).await
}

fn exists(url: &StoreUrl) -> Result<(), CommandError> {
    match url.file().filter(|file| is_absent(file)) {
        Some(file) => Err(CommandError::NoDatabase { file: file.to_owned() }),
        None => Ok(()),
    }
}

/// Only what is certainly not there is absent; the driver explains everything else.
fn is_absent(file: &std::path::Path) -> bool {
    !file.as_os_str().is_empty() && matches!(file.try_exists(), Ok(false))
}

impl Place {
    /// Opens what the flags, the environment and the file say, to look at it. Nothing is made or
    /// written there.
    pub async fn to_look_at(flags: &Flags) -> Result<Self, CommandError> {
        let config = load_existing(flags)?;
        let opened = baton_drivers::open_to_read(config.store.with_secrets()).await;
        Ok(Self { config, store: opened.map_err(CommandError::Open)? })
    }

    /// The same, to ask or count something there.
    pub async fn to_change(flags: &Flags) -> Result<Self, CommandError> {
        let config = load(flags)?;
        let store = open_existing(&config.store).await?;
        Ok(Self { config, store })
    }

    /// The namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.config.namespace
    }

    /// How the namespace stands.
    pub async fn snapshot(&self) -> Result<Snapshot, CommandError> {
        let (name, settings) = (self.config.store.to_string(), &self.config.settings);
        let seen = gather(&*self.store, &name, self.namespace(), settings).await;
        seen.map_err(|problem| self.trouble(problem))
    }

    /// An error of this store's.
    pub fn trouble(&self, problem: StoreError) -> CommandError {
        CommandError::Store { url: self.config.store.clone(), problem }
    }
}
