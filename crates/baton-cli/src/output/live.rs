//! A region of the terminal that is drawn again and again in the same place.

use super::stdout;

/// The region. On anything but a terminal it would be noise: print lines there instead.
#[derive(Debug, Default)]
pub struct LiveRegion {
    drawn: usize,
}

impl LiveRegion {
    /// Replaces what was drawn. What does not fit on the screen is left out at the end, since a
    /// region that scrolls cannot be drawn over.
    pub fn draw(&mut self, text: &str) {
        let (back, text) = self.frame(text, stdout::height());
        stdout::control(&back);
        stdout::text(&text);
    }

    fn frame(&mut self, text: &str, height: usize) -> (String, String) {
        let back = match self.drawn {
            0 => "\x1b[J".to_owned(),
            lines => format!("\x1b[{lines}A\r\x1b[J"),
        };
        let lines: Vec<&str> = text.lines().take(height.saturating_sub(1)).collect();
        self.drawn = lines.len();
        (back, lines.iter().map(|line| format!("{line}\n")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_goes_back_to_where_the_last_began() {
        let mut live = LiveRegion::default();
        let pair = |back: &str, text: &str| (back.to_owned(), text.to_owned());
        assert_eq!(live.frame("a\nb\n", 24), pair("\x1b[J", "a\nb\n"));
        assert_eq!(live.frame("c\n", 24), pair("\x1b[2A\r\x1b[J", "c\n"));
        assert_eq!(live.frame("d\ne\nf\n", 3), pair("\x1b[1A\r\x1b[J", "d\ne\n"));
    }
}
