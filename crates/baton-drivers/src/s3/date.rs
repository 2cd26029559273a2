//! The date of an HTTP answer: `Sun, 06 Nov 1994 08:49:37 GMT`.

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The Unix time in seconds; `None` if it is no such date.
pub(super) fn unix_seconds(date: &str) -> Option<u64> {
    let (_, rest) = date.split_once(", ")?;
    let mut parts = rest.split(' ');
    let day: u64 = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64 + 1;
    let year: u64 = parts.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = parts.next()?.splitn(3, ':').map(str::parse::<u64>);
    let mut next = || clock.next()?.ok();
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    Some(days(year, month, day)? * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}

/// Days since 1970-01-01, counting years from March so that a leap day is a year's last.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    (year * 365 + leaps + (month * 153 + 2) / 5 + day).checked_sub(719_469)
}

#[cfg(test)]
mod tests {
    use super::unix_seconds;

    #[test]
    fn dates_are_read() {
        assert_eq!(unix_seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(unix_seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(unix_seconds("Thu, 29 Feb 2024 12:00:00 GMT"), Some(1_709_208_000));
        assert_eq!(unix_seconds("yesterday"), None);
    }
}
