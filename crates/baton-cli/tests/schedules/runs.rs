//! What the commands wrote: a line for each start.

use std::collections::BTreeMap;

/// One start of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The slot, as the command was told.
    pub slot: String,
    pub attempt: u32,
    pub node: String,
}

/// All starts, in the order in which they were written down.
#[derive(Clone, Debug, Default)]
pub struct Runs(pub Vec<Start>);

impl Runs {
    /// Reads whole lines: the last one may not be.
    pub fn read(text: &str) -> Self {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let start = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            let slot = words.next()?;
            let attempt = words.next()?.parse().ok()?;
            Some(Start { slot, attempt, node: words.next()? })
        };
        Self(whole.lines().map(|line| start(line).expect(line)).collect())
    }

    pub fn slots(&self) -> Vec<&str> {
        self.0.iter().map(|start| start.slot.as_str()).collect()
    }

    /// Checks that every slot from the first to the last was started, that no attempt was started
    /// twice, and that attempts of a slot come in order. Returns the slots that were run again.
    pub fn check_every_second(&self) -> Result<Vec<String>, String> {
        let mut attempts = BTreeMap::<i64, Vec<u32>>::new();
        for Start { slot, attempt, .. } in &self.0 {
            attempts.entry(seconds(slot)).or_default().push(*attempt);
        }
        let (Some((first, _)), Some((last, _))) =
            (attempts.first_key_value(), attempts.last_key_value())
        else {
            return Err("nothing was started".to_owned());
        };
        let missing: Vec<i64> = (*first..=*last).filter(|at| !attempts.contains_key(at)).collect();
        if !missing.is_empty() {
            return Err(format!("slots were lost: {missing:?}"));
        }
        for (at, attempts) in &attempts {
            if attempts.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(format!("slot {at} was started as attempts {attempts:?}"));
            }
        }
        let again = |(at, attempts): (&i64, &Vec<u32>)| {
            (attempts.last() > Some(&1)).then(|| format!("{at}: attempts {attempts:?}"))
        };
        Ok(attempts.iter().filter_map(again).collect())
    }
}

/// A slot in UTC, in seconds since 1970.
fn seconds(slot: &str) -> i64 {
    let at = humantime::parse_rfc3339(slot).expect("a time in UTC");
    let since = at.duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_secs()).expect("a time of ours")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(lines: &[(&str, u32)]) -> Runs {
        let line = |(at, attempt): &(&str, u32)| format!("2026-11-19T08:44:{at}Z {attempt} a\n");
        Runs::read(&lines.iter().map(line).collect::<String>())
    }

    #[test]
    fn lost_and_doubled_slots_are_found_and_repeated_ones_are_named() {
        assert!(runs(&[("01", 1), ("03", 1)]).check_every_second().is_err());
        assert!(runs(&[("01", 1), ("02", 1), ("02", 1)]).check_every_second().is_err());
        assert!(runs(&[]).check_every_second().is_err());
        let again = runs(&[("01", 1), ("02", 1), ("02", 2)]).check_every_second();
        assert_eq!(again.map(|again| again.len()), Ok(1));
    }
}
