//! Small plots as SVG, made here. They need neither script nor style from elsewhere.

use maud::{Markup, html};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 48.0;

/// Returns a line through values, and their text for those who cannot see it.
pub(crate) fn line(title: &str, values: &[f64]) -> Markup {
    let top = values.iter().copied().fold(1.0, f64::max);
    // One value is a line, too.
    let values = match values {
        [only] => &[*only, *only],
        more => more,
    };
    let step = WIDTH / (values.len().max(2) - 1) as f64;
    let points = values.iter().enumerate().map(|(at, value)| {
        let (x, y) = (
            at as f64 * step,
            HEIGHT - 2.0 - value / top * (HEIGHT - 4.0),
        );
        format!("{x:.1},{y:.1}")
    });
    let points = points.collect::<Vec<_>>().join(" ");
    let last = values.last().copied().unwrap_or_default();
    html! {
        figure {
            figcaption { (title) ": " strong { (format!("{last:.1}")) } " now, " (format!("{top:.1}")) " at most" }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("{title}, {} samples", values.len())) {
                polyline points=(points) {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_values_is_a_line() {
        for values in [&[][..], &[3.0], &[0.0, 4.0]] {
            let text = line("<b>", values).into_string();
            assert!(
                text.contains("&lt;b&gt;") && !text.contains("NaN") && !text.contains("inf"),
                "{text}"
            );
        }
        assert!(
            line("x", &[0.0, 4.0])
                .into_string()
                .contains("\"0.0,46.0 240.0,2.0\"")
        );
    }
}
