//! Times and change sequence numbers.

use std::borrow::Cow;

use super::form::Form;
use super::invalid::{InvalidValue, Normal};
use super::resolver::NameResolver;
use crate::calendar::{civil_from_days, days_from_civil};

/// generalizedTimeMatch and its relatives.
pub(super) static GENERALIZED_TIME: Form = Form::new(|_, value| generalized_time(value));

/// CSNMatch and its relatives.
pub(super) static CSN: Form = Form::new(|_, value| csn(value));

/// Returns true if the value is a Generalized Time (RFC 4517, section 3.3.13).
pub(crate) fn is_generalized_time(value: &[u8]) -> bool {
    Utc::read(value).is_ok()
}

/// Returns a time in UTC as `YYYYmmddHHMMSS` and, when there is one, `.fraction` without trailing
/// zeros.
pub(super) fn generalized_time(value: &[u8]) -> Result<Cow<'static, [u8]>, InvalidValue> {
    let utc = Utc::read(value)?;
    let (year, month, day) = utc.date;
    let (rest, second) = (utc.second_of_day, utc.second_of_day % 60 + utc.leap);
    let mut out = format!(
        "{year:04}{month:02}{day:02}{:02}{:02}{second:02}",
        rest / 3600,
        rest / 60 % 60
    );
    if !utc.fraction.is_empty() {
        out.push('.');
        out.push_str(&utc.fraction);
    }
    Ok(Cow::Owned(out.into_bytes()))
}

/// A time as it is in UTC.
struct Utc<'v> {
    /// Year, month, day.
    date: (i64, i64, i64),
    second_of_day: i64,
    /// One in a leap second.
    leap: i64,
    /// Decimals of the second, without trailing zeros.
    fraction: Cow<'v, str>,
}

impl<'v> Utc<'v> {
    fn read(value: &'v [u8]) -> Result<Utc<'v>, InvalidValue> {
        let mut scan = Scan { rest: value };
        let year = scan.number(4)?;
        let month = scan.number(2)?;
        let day = scan.number(2)?;
        let hour = scan.number(2)?;
        let minute = scan.optional_number(2)?;
        let second = if minute.is_some() {
            scan.optional_number(2)?
        } else {
            None
        };
        let fraction = scan.fraction()?;
        let offset_minutes = scan.zone()?;
        let valid = (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour <= 23
            && minute.unwrap_or(0) <= 59
            && second.unwrap_or(0) <= 60;
        if !valid || !scan.rest.is_empty() {
            return Err(InvalidValue);
        }
        let unit_seconds = match (minute, second) {
            (None, _) => 3600,
            (Some(_), None) => 60,
            (Some(_), Some(_)) => 1,
        };
        let (carried, fraction) = scale_fraction(fraction, unit_seconds);
        let leap = second == Some(60);
        let in_day = hour * 3600
            + minute.unwrap_or(0) * 60
            + if leap { 59 } else { second.unwrap_or(0) }
            + carried;
        let total = days_from_civil(year, month, day) * 86_400 + in_day - offset_minutes * 60;
        let (year, month, day) = civil_from_days(total.div_euclid(86_400));
        if !(0..=9999).contains(&year) {
            return Err(InvalidValue);
        }
        Ok(Utc {
            date: (year, month, day),
            second_of_day: total.rem_euclid(86_400),
            leap: i64::from(leap),
            fraction,
        })
    }
}

/// Returns the whole seconds in a fraction of a unit, and the rest as decimal digits without
/// trailing zeros. Nine digits of the fraction count when the unit is not a second; seconds keep
/// all of theirs.
fn scale_fraction(digits: &[u8], unit_seconds: i64) -> (i64, Cow<'_, str>) {
    if unit_seconds == 1 {
        let digits = str::from_utf8(digits).unwrap_or_default();
        return (0, digits.trim_end_matches('0').into());
    }
    let mut nanos: i64 = 0;
    for place in 0..9 {
        nanos = nanos * 10 + digits.get(place).map_or(0, |b| i64::from(b - b'0'));
    }
    let scaled = nanos * unit_seconds;
    (
        scaled / 1_000_000_000,
        format!("{:09}", scaled % 1_000_000_000)
            .trim_end_matches('0')
            .to_owned()
            .into(),
    )
}

struct Scan<'v> {
    rest: &'v [u8],
}

impl<'v> Scan<'v> {
    fn number(&mut self, digits: usize) -> Result<i64, InvalidValue> {
        let (number, rest) = self.rest.split_at_checked(digits).ok_or(InvalidValue)?;
        if !number.iter().all(u8::is_ascii_digit) {
            return Err(InvalidValue);
        }
        self.rest = rest;
        Ok(number.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0')))
    }

    fn optional_number(&mut self, digits: usize) -> Result<Option<i64>, InvalidValue> {
        match self.rest.first() {
            Some(b) if b.is_ascii_digit() => self.number(digits).map(Some),
            _ => Ok(None),
        }
    }

    fn fraction(&mut self) -> Result<&'v [u8], InvalidValue> {
        let Some((b'.' | b',', rest)) = self.rest.split_first() else {
            return Ok(&[]);
        };
        let end = rest
            .iter()
            .position(|b| !b.is_ascii_digit())
            .unwrap_or(rest.len());
        let (digits, rest) = rest.split_at_checked(end).ok_or(InvalidValue)?;
        self.rest = rest;
        if digits.is_empty() {
            Err(InvalidValue)
        } else {
            Ok(digits)
        }
    }

    /// Minutes east of UTC.
    fn zone(&mut self) -> Result<i64, InvalidValue> {
        let (&sign, rest) = self.rest.split_first().ok_or(InvalidValue)?;
        self.rest = rest;
        let sign = match sign {
            b'Z' => return Ok(0),
            b'+' => 1,
            b'-' => -1,
            _ => return Err(InvalidValue),
        };
        let hours = self.number(2)?;
        let minutes = self.optional_number(2)?.unwrap_or(0);
        if hours > 23 || minutes > 59 {
            return Err(InvalidValue);
        }
        Ok(sign * (hours * 60 + minutes))
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns true if the value is a CSN: `YYYYmmddHHMMSS.ffffffZ#cccccc#sss#mmmmmm`.
pub(crate) fn is_csn(value: &[u8]) -> bool {
    csn(value).is_ok()
}

/// Returns a CSN in lower case, its time with six decimals and its server id with three digits.
fn csn(value: &[u8]) -> Result<Cow<'_, [u8]>, InvalidValue> {
    let mut parts = value.split(|&b| b == b'#');
    let (time, count, server, change) = match (
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
    ) {
        (Some(time), Some(count), Some(server), Some(change), None) => {
            (time, count, server, change)
        }
        _ => return Err(InvalidValue),
    };
    let hex = |part: &[u8], lengths: &[usize]| {
        lengths.contains(&part.len()) && part.iter().all(u8::is_ascii_hexdigit)
    };
    if !hex(count, &[6]) || !hex(server, &[2, 3]) || !hex(change, &[6]) || !is_csn_time(time) {
        return Err(InvalidValue);
    }
    if value.len() == 40 && !value.iter().any(|b| (b'A'..=b'F').contains(b)) {
        return Ok(Cow::Borrowed(value));
    }
    let mut out = time.strip_suffix(b"Z").ok_or(InvalidValue)?.to_vec();
    if out.len() == 14 {
        out.extend_from_slice(b".000000");
    }
    out.extend_from_slice(b"Z#");
    for (part, width, end) in [(count, 6, "#"), (server, 3, "#"), (change, 6, "")] {
        out.extend(std::iter::repeat_n(b'0', width - part.len()));
        out.extend(part.iter().map(u8::to_ascii_lowercase));
        out.extend_from_slice(end.as_bytes());
    }
    Ok(Cow::Owned(out))
}

/// Makes the normal form of a server id: one to three hexadecimal digits become three, as in a CSN.
pub(super) fn server_id<'v>(_: &dyn NameResolver, assertion: &'v [u8]) -> Normal<'v> {
    if !(1..=3).contains(&assertion.len()) || !assertion.iter().all(u8::is_ascii_hexdigit) {
        return Err(InvalidValue);
    }
    let mut padded = vec![b'0'; 3 - assertion.len()];
    padded.extend(assertion.iter().map(u8::to_ascii_lowercase));
    Ok(Cow::Owned(padded))
}

/// Tests that a normal CSN has this server id.
pub(super) fn has_server_id(csn: &[u8], id: &[u8]) -> bool {
    csn_server_id(csn) == Some(id)
}

/// Returns the server id of a normal CSN.
fn csn_server_id(normal: &[u8]) -> Option<&[u8]> {
    normal.split(|&b| b == b'#').nth(2)
}

fn is_csn_time(time: &[u8]) -> bool {
    matches!(time.len(), 15 | 22)
        && (time.len() == 15 || time.get(14) == Some(&b'.'))
        && is_generalized_time(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_utc() {
        for (value, normal) in [
            ("199412161032Z", "19941216103200"),
            ("199412160532-0500", "19941216103200"),
            ("1994121610Z", "19941216100000"),
            ("1994121610.5Z", "19941216103000"),
            ("199412161032,25Z", "19941216103215"),
            ("19941216103200.500Z", "19941216103200.5"),
            ("20000229235959+0100", "20000229225959"),
            ("20240101003000+0530", "20231231190000"),
            ("20161231235960Z", "20161231235960"),
            (
                "19700101000000.123456789012Z",
                "19700101000000.123456789012",
            ),
        ] {
            let got = generalized_time(value.as_bytes())
                .map(|n| String::from_utf8(n.into_owned()).unwrap());
            assert_eq!(got.as_deref(), Ok(normal), "{value}");
        }
        for bad in [
            "",
            "19941216",
            "199412161032",
            "19941316103200Z",
            "19940230103200Z",
            "19941216243200Z",
            "199412161060Z",
            "19941216103200.Z",
            "19941216103200Zx",
            "19941216103200+2400",
            "1994121610320Z",
            "00000101000000+0100",
        ] {
            assert!(!is_generalized_time(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn fractions_sort_after_whole_seconds() {
        let normal = |v: &str| generalized_time(v.as_bytes()).unwrap();
        assert!(normal("20200101000000Z") < normal("20200101000000.5Z"));
        assert!(normal("20200101000000.5Z") < normal("20200101000001Z"));
    }

    #[test]
    fn every_day_of_four_centuries_survives() {
        for day in -100_000..50_000 {
            let (y, m, d) = civil_from_days(day);
            assert_eq!(days_from_civil(y, m, d), day);
            assert!(d <= days_in_month(y, m));
        }
    }

    #[test]
    fn change_sequence_numbers() {
        let full = b"20240131101112.123456Z#00000a#001#000000";
        assert!(matches!(csn(full), Ok(Cow::Borrowed(_))));
        assert_eq!(
            csn(b"20240131101112.123456Z#00000A#01#000000")
                .unwrap()
                .as_ref(),
            full
        );
        assert_eq!(
            csn(b"20240131101112Z#000000#00#000000").unwrap().as_ref(),
            b"20240131101112.000000Z#000000#000#000000"
        );
        assert_eq!(csn_server_id(full), Some(&b"001"[..]));
        for bad in [
            "",
            "20240131101112.123456Z",
            "x#0#0#0",
            "20240131101112.123456Z#00000a#001#00000g",
        ] {
            assert!(!is_csn(bad.as_bytes()), "{bad}");
        }
    }
}
