//! `baton transfer`: leadership goes to a named node.

use baton::lifeline::probe;
use baton_core::ids::NodeId;
use baton_core::protocol::Wish;
use baton_core::settings::Settings;
use baton_core::time::whole_ms;
use baton_core::{LifelineReport, TransferRefusal, foresee_refusal};

use super::handover::{HandoverArguments, hand_over, leader};
use crate::config::ConfigError;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::open_store::OpenStore;
use crate::snapshot::{MemberState, Snapshot, State};

/// The most nodes that an error names instead of one that cannot lead.
const SUGGESTED_MAX: usize = 5;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Id of the node that is to lead.
    #[arg(long, value_name = "NODE")]
    to: String,
    #[command(flatten)]
    handover: HandoverArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let to = NodeId::new(&arguments.to)
        .map_err(|problem| ConfigError::Name { place: "--to".to_owned(), problem })?;
    let HandoverArguments { store, timeout } = &arguments.handover;
    super::block_on(async {
        let opened = store.open_to_write().await?;
        let snapshot = opened.snapshot().await?;
        leader(&snapshot)?;
        check_target(&opened, &snapshot, &to).await?;
        let handover = hand_over(&opened, &snapshot, Wish::Transfer(to.clone()), *timeout).await?;
        if handover.leader != to {
            let (leads, epoch) = (handover.leader, handover.epoch);
            return Err(CommandError::WentElsewhere { leads, epoch, meant: to });
        }
        handover.print(store.json);
        Ok(Exit::Done)
    })
}

/// Says why the leader would refuse this node: it reports a refusal to its own log only.
async fn check_target(
    opened: &OpenStore,
    snapshot: &Snapshot,
    to: &NodeId,
) -> Result<(), CommandError> {
    let lease = opened.lease().await?;
    let members = opened.store.members(opened.namespace()).await;
    let members = members.map_err(|problem| opened.error(problem))?;
    let settings = &opened.config.settings;
    let Some(reason) = foresee_refusal(to, lease.as_ref(), &members, settings) else {
        return Ok(());
    };
    let remedy = match reason {
        TransferRefusal::NotEligible => "start it without --eligible false".to_owned(),
        TransferRefusal::LeadsAlready => "there is nothing to do".to_owned(),
        _ => match live_candidates(snapshot, settings).await.as_slice() {
            [] => "there is no other candidate: start one".to_owned(),
            names => format!("candidates are {}", names.join(", ")),
        },
    };
    Err(CommandError::NotATarget { to: to.clone(), reason, remedy })
}

/// The first few nodes that leadership can be handed to. A record outlives its process by a while,
/// so only a successor is named that has beaten lately and whose port is not closed.
async fn live_candidates<'a>(snapshot: &'a Snapshot, settings: &Settings) -> Vec<&'a str> {
    // The store may leave out every second record that says nothing new.
    let lately = whole_ms(2 * (settings.heartbeat_interval + settings.heartbeat_jitter));
    let is_live_successor = |member: &&MemberState| {
        member.state == State::Candidate
            && snapshot.successors.contains(&member.node)
            && member.silent_ms.is_none_or(|silent| silent <= lately)
    };
    let mut live = Vec::new();
    for member in snapshot.members.iter().filter(is_live_successor) {
        if live.len() < SUGGESTED_MAX && !is_closed(member).await {
            live.push(member.node.as_str());
        }
    }
    live
}

/// Whether the node's port refuses connections or belongs to another process by now.
async fn is_closed(member: &MemberState) -> bool {
    let Some(address) = &member.lifeline else { return false };
    match probe(address).await {
        LifelineReport::Refused => true,
        LifelineReport::OtherBoot(boot) => boot != member.boot,
        _ => false,
    }
}
