//! Tables, labelled values and sentences for a terminal: columns as wide as their cells, and cut
//! where the terminal ends.

use super::style::Tone;

const GAP: &str = "  ";

/// No column is cut below this.
const CELL_MIN: usize = 6;

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A cell in a tone.
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Tone::Plain)
    }
}

/// Rows under a head.
pub struct Table {
    /// Each title, and whether its cells lean right, as numbers do.
    columns: Vec<(String, bool)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table. A title after `>` is that of a column of numbers.
    pub fn new<T: AsRef<str>>(titles: &[T]) -> Self {
        let column = |title: &T| match title.as_ref().strip_prefix('>') {
            Some(number) => (number.to_owned(), true),
            None => (title.as_ref().to_owned(), false),
        };
        Self { columns: titles.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row, a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// The table as text. With a width, the widest column gives way until it fits.
    pub fn render(&self, width: Option<usize>) -> String {
        let widths = self.widths(width);
        let head = self.columns.iter().map(|(title, _)| Cell::new(title, Tone::Head)).collect();
        let mut text = String::new();
        for cells in std::iter::once(&head).chain(&self.rows) {
            text.push_str(&self.line(cells, &widths));
            text.push('\n');
        }
        text
    }

    fn widths(&self, width: Option<usize>) -> Vec<usize> {
        let column = |at: usize, title: &str| {
            let cells = self.rows.iter().map(|row| length(&row[at].text));
            cells.chain([length(title)]).max().unwrap_or_default()
        };
        let titles = self.columns.iter().enumerate();
        let mut widths: Vec<usize> = titles.map(|(at, (title, _))| column(at, title)).collect();
        let gaps = GAP.len() * (widths.len() - 1);
        let limit = width.unwrap_or(usize::MAX);
        while widths.iter().sum::<usize>() + gaps > limit {
            let widest = (0..widths.len()).max_by_key(|at| widths[*at]).expect("it has columns");
            if widths[widest] <= CELL_MIN {
                break;
            }
            widths[widest] -= 1;
        }
        widths
    }

    fn line(&self, cells: &[Cell], widths: &[usize]) -> String {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let text = cut(&cell.text, widths[at]);
            let space = " ".repeat(widths[at] - length(&text));
            let painted = cell.tone.paint(&text);
            if at > 0 {
                line.push_str(GAP);
            }
            match self.columns[at].1 {
                true => line.extend([space, painted]),
                // Nothing leans on the end of a line.
                false if at + 1 == cells.len() => line.push_str(&painted),
                false => line.extend([painted, space]),
            }
        }
        line
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Cuts the middle out of a text that is too long: names differ at both ends.
pub fn cut(text: &str, width: usize) -> String {
    let count = length(text);
    if count <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let head: String = text.chars().take(kept / 2).collect();
    let tail: String = text.chars().skip(count - (kept - kept / 2)).collect();
    format!("{head}…{tail}")
}

/// Width of the column of labels above a table.
pub const LABEL: usize = 13;

/// A value behind its label, cut where the terminal ends.
pub fn labelled(label: &str, value: &str, tone: Tone, width: Option<usize>) -> String {
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(LABEL));
    let label = Tone::Faint.paint(&format!("{label:<LABEL$}"));
    format!("{label}{}\n", tone.paint(&cut(value, room)))
}

/// The text in lines of at most `width` characters, broken at spaces. A word that is longer than a
/// line has one of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn columns_line_up_and_numbers_lean_right() {
        let mut table = Table::new(&["NODE", ">LOAD"]);
        table.row(["a".into(), "7".into()]);
        table.row([Cell::new("node-b", Tone::Good), "12".into()]);
        assert_eq!(plain(&table.render(None)), "NODE    LOAD\na          7\nnode-b    12\n");
    }

    #[test]
    fn the_widest_column_gives_way_from_its_middle() {
        let mut table = Table::new(&["NODE", "STATE"]);
        table.row(["worker-1734567890123-0123456789abcdef".into(), "candidate".into()]);
        for width in [30, 40] {
            let text = plain(&table.render(Some(width)));
            assert!(text.lines().all(|line| length(line) <= width), "{text}");
            assert!(
                text.contains("worker") && text.contains("…") && text.contains("def"),
                "{text}"
            );
        }
        assert_eq!(cut("abcdefghij", 5), "ab…ij");
    }

    #[test]
    fn lines_are_broken_at_spaces_and_words_are_kept_whole() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a worker-1734567890123 b", 6), ["a", "worker-1734567890123", "b"]);
        assert_eq!(wrapped("short", 80), ["short"]);
    }
}
