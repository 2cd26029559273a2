//! `baton man` and `baton completions`: what is generated from the command line's description.

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::{CommandError, Exit};
use crate::output::stdout;

#[derive(Debug, clap::Args)]
pub struct ManArguments {
    /// Folder to write one page per command to; by default the main page goes to stdout.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn man(arguments: &ManArguments) -> Result<Exit, CommandError> {
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
    Ok(Exit::DONE)
}

#[derive(Debug, clap::Args)]
pub struct CompletionsArguments {
    /// Shell that the script is for.
    shell: Shell,
}

/// What a shell needs to finish a half-typed command.
pub fn completions(arguments: &CompletionsArguments) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "baton", &mut script);
    stdout::text(&String::from_utf8_lossy(&script));
    Exit::DONE
}
