//! `baton tasklists list`: a line for each task list.

use baton::partitions::{TaskList, TaskListStatus};

use super::{TaskListReport, client, status_word, told};
use crate::commands::StoreArguments;
use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};

pub async fn run(arguments: &StoreArguments) -> Result<Exit, CommandError> {
    let opened = arguments.open_to_read().await?;
    let lists = client(&opened).read().await.map_err(|problem| told(&opened, problem))?;
    let report = |list| TaskListReport { list, declared: lists.is_declared(&list.id) };
    let reports: Vec<_> = lists.all().iter().map(report).collect();
    stdout::json_or_text(arguments.json, &reports, || match reports.is_empty() {
        true => format!(
            "there are no task lists in namespace {} yet; add one: baton tasklists add NAME \
             --partitions 12\n",
            opened.namespace()
        ),
        false => table(&reports).render(stdout::width()),
    });
    Ok(Exit::DONE)
}

fn table(reports: &[TaskListReport<'_>]) -> Table {
    let mut table =
        Table::new(&["NAME", ">PARTITIONS", ">WEIGHT", "STATUS", "REQUIRES", "DECLARED BY"]);
    for TaskListReport { list, declared } in reports {
        table.row([
            list.id.to_string().into(),
            list.partitions.to_string().into(),
            list.weight.to_string().into(),
            status(list),
            required(list).into(),
            if *declared { "the service" } else { "hand" }.into(),
        ]);
    }
    table
}

fn status(list: &TaskList) -> Cell {
    let tone = if list.status == TaskListStatus::Paused { Tone::Warn } else { Tone::Plain };
    Cell::new(status_word(list.status), tone)
}

fn required(list: &TaskList) -> String {
    let labels = list.requires.iter().map(|(name, value)| format!("{name}={value}"));
    match labels.collect::<Vec<_>>().join(" ") {
        none if none.is_empty() => "-".to_owned(),
        labels => labels,
    }
}
