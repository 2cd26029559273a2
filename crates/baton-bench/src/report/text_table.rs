//! A table of figures that are not spreads: a row for each thing that was looked at.

use baton_cli::output::table::Table;
use serde::Serialize;

use super::show::WIDTH;

/// Figures under a head, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextTable {
    /// What it shows.
    pub title: String,
    /// What is in each column; the first has names, the others figures.
    pub head: Vec<&'static str>,
    /// A cell for each column.
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table without rows.
    pub fn new(title: impl Into<String>, head: &[&'static str]) -> Self {
        Self { title: title.into(), head: head.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table as text.
    pub(super) fn text(&self) -> String {
        let lean = |at: usize| if at == 0 { "" } else { ">" };
        let columns =
            self.head.iter().enumerate().map(|(at, title)| format!("{}{title}", lean(at)));
        let mut table = Table::new(&columns.collect::<Vec<_>>());
        for row in &self.rows {
            table.row(row.iter().map(|cell| cell.as_str().into()));
        }
        format!("{}\n{}", self.title, table.render(Some(WIDTH)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lean_left_and_figures_right() {
        let mut table = TextTable::new("cost", &["STORE", "BEATS"]);
        table.row(["redis".to_owned(), "7".to_owned()]);
        let text = table.text();
        assert!(text.starts_with("cost\n"), "{text}");
        assert!(text.ends_with("redis      7\n"), "{text}");
    }
}
