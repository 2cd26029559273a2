//! `baton demo`: three nodes, one file, and the three ways to lose a leader.

use std::path::PathBuf;
use std::pin::pin;

use baton::Profile;

use crate::demo::{Demo, play};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{json, log, stdout};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Write a picture of the leaders over time to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Set of defaults that the nodes start from: `fast` has a lease of 3 s instead of 15 s.
    #[arg(long, default_value = "default")]
    profile: Profile,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

/// Plays the demo and judges it.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let demo = Demo {
            settings: arguments.profile.settings(),
            flags: vec!["--profile".to_owned(), arguments.profile.to_string()],
            live: stdout::is_terminal() && !arguments.json,
        };
        // The nodes are killed when `play` is dropped.
        let shown = tokio::select! {
            shown = play(&demo) => shown?,
            asked = pin!(super::interrupted()) => {
                asked?;
                log::info("interrupted; the nodes were stopped");
                return Ok(Exit::Interrupted);
            }
        };
        if let Some(path) = &arguments.plot {
            let trouble = |problem| CommandError::Write { path: path.clone(), problem };
            std::fs::write(path, &shown.picture).map_err(trouble)?;
            log::info(&format!("the picture is in {}", path.display()));
        }
        match arguments.json {
            true => json::line(&shown.summary),
            false => stdout::text(&format!("\n{}", shown.summary.render(stdout::width()))),
        }
        Ok(if shown.summary.is_good() { Exit::Done } else { Exit::Failed })
    })
}
