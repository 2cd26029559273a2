//! `baton run -- COMMAND`: the command runs only while this node leads.

use std::ffi::OsString;

use crate::config::NodeFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::guard::{Ending, is_supported, reap_orphans};
use crate::output::log::{self, Level};
use crate::run::{Finished, Job, OnEnd, OnLost};
use crate::telemetry::Telemetry;
use crate::{node, notice, place};

use super::serve::departed;

/// Who, where, how, and what.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    node: NodeFlags,
    /// When the command fails, run it again after a pause; when it ends with code 0, exit. The
    /// other instances then run it too: --once is once on each instance, not once in all.
    #[arg(long, conflicts_with = "restart", help_heading = "The command")]
    once: bool,
    /// When the command ends, with whatever code, run it again here after a pause.
    #[arg(long, help_heading = "The command")]
    restart: bool,
    /// When this node no longer leads: wait until it leads again, or exit with code 7.
    #[arg(long, value_enum, default_value = "wait", help_heading = "The command")]
    on_lost: OnLost,
    /// Write nothing but errors to stderr.
    #[arg(long)]
    quiet: bool,
    /// The command and its arguments, after a --.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const AFTER_HELP: &str = "\
In its environment the command finds BATON_EPOCH, BATON_NODE_ID,
BATON_NAMESPACE and BATON_STORE, the store's URL without its password.

When this node no longer leads, the command and everything it started get TERM,
and KILL before the lease is over, also when baton itself is killed or paused.
HUP, QUIT, USR1 and USR2 are passed on to the command. TERM and INT make baton
stop it, hand over and leave, within stop_grace and a second.

When the command ends by itself, baton hands over and exits with the same code
(128 + n for signal n), and another instance runs the command; with --restart
it runs here again instead. Work that must be done only once, such as a
migration, has to record that it is done, and look there first.";

/// Runs the command whenever this node leads.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    is_supported().map_err(|problem| CommandError::System { what: "baton run", problem })?;
    let config = place::load_node(&arguments.node.0)?;
    let (program, args) = arguments.command.split_first().expect("clap requires one");
    let on_end = match (arguments.once, arguments.restart) {
        (true, _) => OnEnd::Once,
        (false, true) => OnEnd::Restart,
        (false, false) => OnEnd::Exit,
    };
    let job = Job {
        program: program.clone(),
        args: args.to_vec(),
        store: config.store.without_secrets(),
        on_end,
        on_lost: arguments.on_lost,
        quiet: arguments.quiet,
    };
    super::block_on(async {
        let store = node::store(&config).await?;
        let telemetry = Telemetry::of(&config)?;
        let builder = telemetry.told(node::builder(&config, store.clone()));
        let (node, mut events) = builder.build_with_events()?;
        let least = if job.quiet { Level::Error } else { Level::Info };
        let notice = notice::of_this_node(&config, Some(node.id()), &*store).await;
        node::introduce(&node, notice.as_ref(), least);
        let finished = tokio::select! {
            biased;
            finished = crate::run::run(&node, &*store, &job) => finished,
            () = log::follow(&mut events, least) => unreachable!("it goes on for ever"),
            never = reap_orphans() => match never {},
        };
        log::catch_up(&mut events, least);
        match finished? {
            Finished::Command(ending) | Finished::Asked(Some(ending)) => {
                Ok(Exit::Command(code_of(ending)))
            }
            Finished::Asked(None) => Ok(Exit::Done),
            Finished::Lost => {
                log::warn("leadership was lost, and --on-lost exit was given");
                Ok(Exit::Lost)
            }
            Finished::Departed(departure) => departed(&node, departure),
        }
    })
}

/// As a shell puts it.
fn code_of(ending: Ending) -> u8 {
    match ending {
        Ending::Code(code) => u8::try_from(code).unwrap_or(u8::MAX),
        Ending::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
    }
}
