//! `baton man`: the manual.

use std::path::PathBuf;

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::stdout;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Folder to write one page per command to; by default the main page goes to stdout.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

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
            stdout::text(&String::from_utf8_lossy(&page));
        }
    }
    Ok(Exit::Done)
}
