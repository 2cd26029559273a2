//! What each command does.

use std::process::ExitCode;

use baton_testbed::server::Detached;
use baton_testbed::{Kind, Program};

use crate::failure::Failure;
use crate::list::List;

/// Installs what is missing of these servers, and of programs that tests run.
pub async fn install(kinds: Vec<Kind>, programs: Vec<Program>) -> Result<ExitCode, Failure> {
    let install = move || {
        kinds.into_iter().try_for_each(Detached::install)?;
        programs.iter().try_for_each(|program| program.find().map(|_| ()))
    };
    let done = tokio::task::spawn_blocking(install).await;
    done.expect("installing does not panic")?;
    Ok(ExitCode::SUCCESS)
}

/// Starts them. Each is written down before the next is started.
pub async fn up(kinds: &[Kind]) -> Result<ExitCode, Failure> {
    let list = List::here()?;
    if !list.read()?.is_empty() {
        return Err(list.already_up());
    }
    let mut servers = Vec::new();
    for &kind in kinds {
        servers.push(Detached::start(kind).await?);
        list.write(&servers)?;
    }
    show(&servers).await;
    for server in &servers {
        println!("export {}='{}'", server.kind.variable(), server.url);
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows them. Succeeds if all of them answer.
pub async fn status() -> Result<ExitCode, Failure> {
    let servers = List::here()?.read()?;
    if servers.is_empty() {
        eprintln!("no servers are up; start them: cargo xtask servers up");
    }
    let all_answer = show(&servers).await;
    Ok(if all_answer { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Ends them, the last first, and crosses each off the list.
pub async fn down() -> Result<ExitCode, Failure> {
    let list = List::here()?;
    let mut servers = list.read()?;
    while let Some(server) = servers.last() {
        let ran = server.stop().await?;
        let found = if ran { "stopped" } else { "was gone already" };
        eprintln!("{:<10} {found}", server.kind.name());
        servers.pop();
        list.write(&servers)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One line each; says whether all of them answer.
async fn show(servers: &[Detached]) -> bool {
    let mut all_answer = true;
    for server in servers {
        let state = match (server.is_alive(), server.answers().await) {
            (true, true) => "answers",
            (true, false) => "silent",
            (false, _) => "dead",
        };
        all_answer &= state == "answers";
        let (name, pid, address) = (server.kind.name(), server.pid, server.address);
        eprintln!("{name:<10} {state:<8} {pid:>8}  {address}  {}", server.folder.display());
    }
    all_answer
}
