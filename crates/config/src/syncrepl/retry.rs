//! The words of `interval` and `retry`.

use fulgurite_policy::RetryList;

/// Reads `dd:hh:mm:ss`, seconds, or numbers with units.
pub(super) fn interval(text: &str) -> Result<u64, String> {
    let refuse = |part: &str| {
        let part = match part {
            "" => String::new(),
            part => format!(", unable to parse {part}"),
        };
        format!("Error: parse_syncrepl_line: invalid interval \"{text}\"{part}.")
    };
    if !text.contains(':') {
        return with_units(text).ok_or_else(|| refuse(""));
    }
    let parts = [
        ("days", u64::MAX / 100_000, 86_400),
        ("hours", 24, 3_600),
        ("minutes", 60, 60),
        ("seconds", 60, 1),
    ];
    let mut fields = text.split(':');
    let mut seconds = 0;
    for (at, (name, below, unit)) in parts.into_iter().enumerate() {
        // Fewer parts than four leave the hours unread.
        let name = match (at, text.split(':').count()) {
            (1.., count) if count != 4 => "hours",
            _ => name,
        };
        let field = fields.next().and_then(|field| field.parse::<u64>().ok());
        let field = field.filter(|field| *field < below || (at == 0 && *field == below));
        seconds += field.ok_or_else(|| refuse(name))? * unit;
    }
    match fields.next() {
        None => Ok(seconds),
        Some(_) => Err(refuse("seconds")),
    }
}

/// Reads `99`, `2d` or `1h30m`.
fn with_units(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let mut seconds: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        let unit = match rest.get(digits..digits + 1)? {
            "d" => 86_400,
            "h" => 3_600,
            "m" => 60,
            "s" => 1,
            _ => return None,
        };
        seconds = seconds.checked_add(number.checked_mul(unit)?)?;
        rest = rest.get(digits + 1..)?;
    }
    (!text.is_empty()).then_some(seconds)
}

/// Reads pairs of a pause and a number of attempts; `None` for `undefined`.
pub(super) fn retry(text: &str) -> Result<Option<RetryList>, String> {
    if text == "undefined" {
        return Ok(None);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let incomplete = || Err("Error: incomplete syncrepl retry list.".to_owned());
    if words.is_empty() || !words.len().is_multiple_of(2) {
        return incomplete();
    }
    let mut steps: Vec<(u64, Option<u32>)> = Vec::new();
    for (at, pair) in words.chunks_exact(2).enumerate() {
        let [pause, count] = pair else {
            return incomplete();
        };
        let pause = pause
            .parse()
            .map_err(|_| format!("Error: invalid retry interval \"{pause}\" (#{at})."))?;
        let count = match *count {
            "+" => None,
            number => match number.parse() {
                Ok(number) if number > 0 => Some(number),
                _ => {
                    let text = "Error: invalid initial retry number";
                    return Err(format!("{text} \"{number}\" (#{at})."));
                }
            },
        };
        steps.push((pause, count));
        // Nothing comes after a step that never ends.
        if count.is_none() {
            break;
        }
    }
    Ok(Some(RetryList { steps }))
}
