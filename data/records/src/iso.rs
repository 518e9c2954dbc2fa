//! Days and times as ISO texts, and back.

use std::fmt::Write as _;

/// A day since 1970 as year, month and day (after Howard Hinnant's `civil_from_days`).
pub fn date(days: i64) -> String {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02}")
}

/// A time since 1970 in so many parts of a second.
pub fn timestamp(value: i64, parts: i64) -> String {
    let (seconds, part) = (value.div_euclid(parts), value.rem_euclid(parts));
    format!("{} {}", date(seconds.div_euclid(86_400)), time(seconds.rem_euclid(86_400) * parts + part, parts))
}

/// A time of day in so many parts of a second.
pub fn time(value: i64, parts: i64) -> String {
    let (seconds, part) = (value.div_euclid(parts), value.rem_euclid(parts));
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if part != 0 {
        let width = parts.ilog10() as usize;
        let digits = format!("{part:0width$}");
        let _ = write!(text, ".{}", digits.trim_end_matches('0'));
    }
    text
}

/// The day since 1970 that a text says, as [`date`] writes it; none where it says no day.
pub fn days(text: &str) -> Option<i32> {
    let [year, month, day] = numbers(text, '-', [4, 2, 2])?;
    // Years from March on (`days_from_civil`).
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    // Of a day that its month does not have comes another one.
    i32::try_from(days).ok().filter(|_| date(days) == text)
}

/// The microseconds since 1970 that a text says: a day, or a day and a time behind a blank or a `T`.
pub fn micros(text: &str) -> Option<i64> {
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
    let (time, part) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let is_part = (1..=6).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if hour > 23 || minute > 59 || second > 59 || !is_part {
        return None;
    }
    let part: i64 = format!("{part:0<6}").parse().ok()?;
    Some((i64::from(days(day)?) * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000 + part)
}

/// Numbers of so many digits with a mark between.
fn numbers<const N: usize>(text: &str, mark: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(mark);
    let mut found = [0; N];
    for (number, digits) in found.iter_mut().zip(digits) {
        let is_number = |part: &&str| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = parts.next().filter(is_number)?.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAYS: [(i64, &str); 6] = [
        (0, "1970-01-01"),
        (19_782, "2024-02-29"),
        (-1, "1969-12-31"),
        (-719_162, "0001-01-01"),
        (47_541, "2100-03-01"),
        (2_932_896, "9999-12-31"),
    ];

    #[test]
    fn dates_and_times() {
        for (days, text) in DAYS {
            assert_eq!(date(days), text);
        }
        assert_eq!(timestamp(1_709_210_096_500_000, 1_000_000), "2024-02-29 12:34:56.5");
        assert_eq!(timestamp(-1, 1_000), "1969-12-31 23:59:59.999");
        assert_eq!(time(3_661_000_000_001, 1_000_000_000), "01:01:01.000000001");
    }

    #[test]
    fn and_back() {
        for (number, text) in DAYS {
            assert_eq!(days(text).map(i64::from), Some(number), "{text}");
            assert_eq!(micros(text), Some(number * 86_400_000_000), "{text}");
        }
        for value in [0, -1, 1_709_210_096_500_000, -62_135_596_800_000_000] {
            assert_eq!(micros(&timestamp(value, 1_000_000)), Some(value));
        }
        assert_eq!(micros("1970-01-01T00:00:01.5"), Some(1_500_000));
        for text in ["", "2023-02-29", "2024-13-01", "2024-00-01", "24-01-01", "2024-1-1", "2024-01-01-", "+024-01-01"]
        {
            assert_eq!((days(text), micros(text)), (None, None), "{text}");
        }
        for text in [
            "2024-01-01 24:00:00", "2024-01-01 12:00", "2024-01-01 12:00:00+00", "2024-01-01 12:00:00.",
            "2024-01-01 12:00:00.1234567", "12:00:00",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
    }
}
