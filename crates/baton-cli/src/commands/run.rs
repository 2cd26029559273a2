//! `baton run -- COMMAND`: the command runs only while this node leads.

use std::ffi::OsString;

use crate::config::NodeFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::guard::{Ending, is_supported, reap_orphans};
use crate::output::log::{self, Level};
use crate::run::{Finished, Job, OnEnd, OnLost};
use crate::telemetry::Telemetry;
use crate::{crash_notice, node, open_store};

use super::serve::departed;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    node: NodeFlags,
    /// When the command fails, run it again after a pause; when it ends with code 0, exit. Every
    /// other instance then runs it too: once per instance, not once in total.
    #[arg(long, conflicts_with = "restart", help_heading = "The command")]
    once: bool,
    /// When the command ends, with any code, run it again on this instance after a pause.
    #[arg(long, help_heading = "The command")]
    restart: bool,
    /// What to do when this node no longer leads.
    #[arg(
        long,
        value_enum,
        default_value = "wait",
        value_name = "ACTION",
        help_heading = "The command"
    )]
    on_lost: OnLost,
    /// Write only errors to stderr.
    #[arg(long)]
    quiet: bool,
    /// Command to run and its arguments, after `--`.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const AFTER_HELP: &str = "\
The command has BATON_EPOCH, BATON_NODE_ID, BATON_NAMESPACE and BATON_STORE (the
URL of the store without its password) in its environment.

When this node no longer leads, the command and all processes that it started
get the signal TERM, and KILL before the lease ends, even if baton itself is
killed or paused. HUP, QUIT, USR1 and USR2 are forwarded to the command. On TERM
or INT baton stops the command, hands over and leaves, within stop_grace and one
second.

When the command ends by itself, baton hands over and exits with the same code
(128 + n for signal n), and another instance runs the command; with --restart
this instance runs it again. Work that must be done only once, such as a
migration, must record that it is done and check this record first.";

pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    is_supported().map_err(|problem| CommandError::System { what: "baton run", problem })?;
    let config = open_store::load_node(&arguments.node.0)?;
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
        let builder = telemetry.attach(node::builder(&config, store.clone()));
        let (node, mut events) = builder.build_with_events()?;
        let least = if job.quiet { Level::Error } else { Level::Info };
        let notice = crash_notice::of_this_node(&config, Some(node.id()), &*store).await;
        node::introduce(&node, notice.as_ref(), least);
        let finished = tokio::select! {
            biased;
            finished = crate::run::run(&node, &*store, &job) => finished,
            () = log::follow(&mut events, least) => unreachable!("it goes on for ever"),
            never = reap_orphans() => match never {},
        };
        log::catch_up(&mut events, least);
        match finished? {
            Finished::Command(ending) | Finished::Stopped(Some(ending)) => {
                Ok(Exit::Command(code_of(ending)))
            }
            Finished::Stopped(None) => Ok(Exit::Done),
            Finished::Lost => {
                log::warn("leadership was lost: exiting because of --on-lost exit");
                Ok(Exit::Lost)
            }
            Finished::Departed(departure) => departed(&node, departure),
        }
    })
}

/// The exit code that a shell would give.
fn code_of(ending: Ending) -> u8 {
    match ending {
        Ending::Code(code) => u8::try_from(code).unwrap_or(u8::MAX),
        Ending::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
    }
}
