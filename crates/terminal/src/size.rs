//! Sizes and rates as text.

/// Returns a number of bytes with a unit, with three figures at least.
#[must_use]
pub fn bytes_text(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    if count < 10_000 {
        return format!("{count} bytes");
    }
    let mut amount = count as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1000.0 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", units[unit])
}

/// Returns a duration with the bytes per second.
#[must_use]
pub fn rate_text(bytes: u64, seconds: f64) -> String {
    if seconds < 0.001 {
        return "at once".to_owned();
    }
    format!("{:.1} s, {:.0} MB/s", seconds, bytes as f64 / seconds / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit_that_fits() {
        assert_eq!(bytes_text(4096), "4096 bytes");
        assert_eq!(bytes_text(1 << 20), "1.0 MiB");
        assert_eq!(bytes_text(999 << 10), "999.0 KiB");
        assert_eq!(bytes_text(5 << 50), "5120.0 TiB");
    }
}
