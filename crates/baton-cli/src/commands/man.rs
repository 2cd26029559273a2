//! `baton man`: the manual.

use std::path::PathBuf;

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::say;

/// Where to.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Write a page for each command into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the main page, or writes all of them.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    match &arguments.out {
        Some(folder) => {
            let failed = |problem| CommandError::Write { path: folder.clone(), problem };
            std::fs::create_dir_all(folder).map_err(failed)?;
            clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
        }
        None => {
            let mut page = Vec::new();
            let drawn = clap_mangen::Man::new(Cli::command()).render(&mut page);
            drawn.expect("writing to memory does not fail");
            say::text(&String::from_utf8_lossy(&page));
        }
    }
    Ok(Exit::Done)
}
