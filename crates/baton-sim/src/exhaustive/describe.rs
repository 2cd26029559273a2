//! A path of steps in words.

use baton_core::protocol::{Acquire, LeaseIntent, Reply, Request};

use super::bounds::Model;
use super::state::{Payload, State};
use super::step::{ReplyTime, Step};

/// Takes the steps again and says what happens, a line each.
pub fn describe(model: &Model, steps: &[Step]) -> Vec<String> {
    let mut state = State::first(model);
    let mut lines = Vec::new();
    for step in steps {
        let what = sentence(&state, *step);
        state = state.apply(model, *step).state;
        let open = state.answers().into_iter().filter_map(|one| Some((one.slot, one.open?)));
        let open: String =
            open.map(|(slot, epoch)| format!("  [n{slot} trusts {epoch}]")).collect();
        lines.push(format!("{:>3}  {what}{open}", state.tick));
    }
    lines
}

fn sentence(state: &State, step: Step) -> String {
    let message = |at: u8| {
        let message = &state.flying[usize::from(at)];
        let (slot, id) = (message.slot, message.id.0);
        match &message.payload {
            Payload::Request(request) => format!("n{slot}'s {} #{id}", request_name(request)),
            Payload::Reply(reply) => format!("the reply to n{slot}'s #{id} ({})", outcome(reply)),
        }
    };
    match step {
        Step::Tick => "tick".to_owned(),
        Step::Start(slot) => format!("n{slot} starts"),
        Step::Timer(slot, timer) => format!("n{slot}'s {timer:?} timer fires"),
        Step::Serve(at, ReplyTime::Now) => format!("{} is served", message(at)),
        Step::Serve(at, ReplyTime::Later) => {
            format!("{} is served, the reply is slow", message(at))
        }
        Step::Serve(at, ReplyTime::Never) => format!("{} is served, no reply comes", message(at)),
        Step::Deliver(at) => format!("{} arrives", message(at)),
        Step::Lose(at) => format!("{} is lost", message(at)),
        Step::Slow(at) => format!("{} takes its time", message(at)),
        Step::Delay(at) => format!("{} is late", message(at)),
        Step::TimeOut(slot, number) => format!("n{slot} gives up waiting ({number})"),
        Step::Stopped(slot) => format!("n{slot}'s work has stopped"),
        Step::Hint(at) => format!("a hint reaches n{}", state.hints[usize::from(at)].0),
        Step::Prove(slot) => format!("n{slot} is shown that the holder is dead"),
        Step::Refuse(slot) => format!("a firewall keeps n{slot} from the holder's lifeline"),
        Step::Resign(slot) => format!("n{slot} is asked to resign"),
        Step::Pause(slot) => format!("n{slot} is paused"),
        Step::Resume(slot) => format!("n{slot} resumes"),
        Step::Crash(slot) => format!("n{slot} crashes"),
        Step::Restart(slot) => format!("n{slot} starts anew"),
    }
}

fn request_name(request: &Request) -> String {
    match request {
        Request::Beat(beat) => match &beat.lease {
            LeaseIntent::Acquire(Acquire { claim, .. }) => format!("acquire ({claim:?})"),
            _ => request.kind().to_owned(),
        },
        _ => request.kind().to_owned(),
    }
}

fn outcome(reply: &Reply) -> String {
    match reply {
        Reply::Beat(beat) => {
            let epoch = beat.lease.as_ref().map_or(0, |lease| lease.version.epoch.0);
            beat.outcome.map_or(format!("epoch {epoch}"), |come| format!("{come:?}, epoch {epoch}"))
        }
        Reply::Members(members) => format!("{} members", members.len()),
        Reply::Done(outcome) => format!("{outcome:?}"),
    }
}
