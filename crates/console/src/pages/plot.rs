//! Small plots as SVG, made here. They need neither script nor style from elsewhere.

use maud::{Markup, html};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 48.0;

/// Returns a line through values, and their text for those who cannot see it.
pub(crate) fn line(title: &str, values: &[f64]) -> Markup {
    let highest = values.iter().copied().fold(0.0, f64::max);
    let top = highest.max(1.0);
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
            figcaption { (title) ": " strong { (number(last)) } " now, highest " (number(highest)) }
            // The line fills its frame. Its width does not grow with it.
            svg preserveAspectRatio="none" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("{title}, {} samples", values.len())) {
                polyline points=(points) {}
            }
        }
    }
}

/// Returns a number with one decimal, unless it is whole.
fn number(value: f64) -> String {
    match value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => format!("{value:.1}"),
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
        let text = line("x", &[0.0, 4.0]).into_string();
        assert!(text.contains("\"0.0,46.0 240.0,2.0\""), "{text}");
        assert!(
            text.contains("<strong>4</strong> now, highest 4<"),
            "{text}"
        );
        let text = line("x", &[0.3, 0.21]).into_string();
        assert!(
            text.contains("<strong>0.2</strong> now, highest 0.3<"),
            "{text}"
        );
    }
}
