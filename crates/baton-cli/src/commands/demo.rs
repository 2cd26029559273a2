//! `baton demo`: three nodes, one file, and the three ways to lose a leader.

use std::path::PathBuf;
use std::pin::pin;

use baton::Profile;

use crate::demo::{Demo, play};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{json, say};

/// How to show it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Draw the leadership timeline as an SVG picture.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// The settings that the nodes run with: `fast` has a 3 s lease instead of 15 s.
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
            live: say::is_terminal() && !arguments.json,
        };
        // Whatever was started ends when the play is dropped.
        let shown = tokio::select! {
            shown = play(&demo) => shown?,
            asked = pin!(super::interrupted()) => {
                asked?;
                say::aside("interrupted; the nodes were ended");
                return Ok(Exit::Interrupted);
            }
        };
        if let Some(path) = &arguments.plot {
            let trouble = |problem| CommandError::Write { path: path.clone(), problem };
            std::fs::write(path, &shown.picture).map_err(trouble)?;
            say::aside(&format!("the timeline is in {}", path.display()));
        }
        match arguments.json {
            true => json::line(&shown.summary),
            false => say::text(&format!("\n{}", shown.summary.render(say::width()))),
        }
        Ok(if shown.summary.is_good() { Exit::Done } else { Exit::Failed })
    })
}
