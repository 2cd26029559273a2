//! The few colours, by what they mean.

use anstyle::{AnsiColor, Style};
use baton::Event;
use baton_core::Level;
use baton_core::health::Verdict;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// The head of a table.
    Head,
    /// The leader, and what is well.
    Good,
    /// What deserves a look.
    Warn,
    /// What is wrong.
    Bad,
    /// What is less important.
    Faint,
}

impl Tone {
    /// The tone in which an event is shown.
    pub fn of(event: &Event) -> Self {
        match (event, event.level()) {
            (Event::CoordinatorPromoted { .. } | Event::BreakerClosed, _)
            | (Event::HealthChanged { verdict: Verdict::Healthy, .. }, _) => Self::Good,
            (_, Level::Error) => Self::Bad,
            (_, Level::Warn) => Self::Warn,
            (_, Level::Info | Level::Debug) => Self::Plain,
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Head => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Faint => Style::new().dimmed(),
        }
    }

    /// The text in this tone.
    pub fn paint(self, text: &str) -> String {
        let style = self.style();
        format!("{style}{text}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_colour_of_its_level_unless_it_is_good_news() {
        let promoted = Event::CoordinatorPromoted { epoch: baton_core::ids::Epoch(1) };
        let health = |verdict| Event::HealthChanged { verdict, reasons: Vec::new() };
        let cases = [
            (promoted, Tone::Good),
            (Event::BreakerClosed, Tone::Good),
            (health(Verdict::Healthy), Tone::Good),
            (health(Verdict::Degraded), Tone::Warn),
            (health(Verdict::Critical), Tone::Bad),
            (Event::StoreRejected, Tone::Bad),
            (Event::BreakerHalfOpen, Tone::Warn),
            (Event::ElectionCheck { current: None }, Tone::Plain),
        ];
        for (event, tone) in cases {
            assert_eq!(Tone::of(&event), tone, "{event}");
        }
    }
}
