//! Bars and curves, as SVG to be put into a page.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::amounts::amount;
use crate::results::{Results, Row};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const OURS: RGBColor = RGBColor(226, 99, 32);
const OURS_TOO: RGBColor = RGBColor(242, 164, 98);
const ORIGINAL: RGBColor = RGBColor(58, 93, 148);
const OTHERS: RGBColor = RGBColor(176, 184, 192);
const TEXT: RGBColor = RGBColor(60, 60, 60);

fn colour(results: &Results, engine: &str) -> RGBColor {
    match results.ours.iter().position(|ours| ours == engine) {
        Some(0) => OURS,
        Some(_) => OURS_TOO,
        None if engine == results.reference => ORIGINAL,
        None => OTHERS,
    }
}

/// Draws on a white sheet of this size in pixels.
fn sheet(
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        draw(&area)?;
        area.present().map_err(failed)?;
    }
    Ok(svg)
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("a plot cannot be drawn: {error}")
}

/// One bar of a chart: the label, its length, the text behind it.
struct Bar {
    label: String,
    length: f64,
    text: String,
    colour: RGBColor,
    /// Where on the scale a mark is to be.
    mark: Option<f64>,
}

/// Bars below each other, with a line across all where one is wanted.
fn draw_bars(
    area: &Area<'_>,
    title: &str,
    bars: &[Bar],
    line_at: Option<f64>,
) -> anyhow::Result<()> {
    const LEFT: i32 = 150;
    const BAR: i32 = 18;
    const TOP: i32 = 30;
    let width = i32::try_from(area.dim_in_pixel().0)?;
    let longest = bars
        .iter()
        .map(|bar| bar.length.max(bar.mark.unwrap_or(0.0)))
        .chain(line_at)
        .fold(f64::MIN_POSITIVE, f64::max);
    let x = |length: f64| LEFT + (length / longest * f64::from(width - LEFT - 90)) as i32;
    let font = ("sans-serif", 12).into_font().color(&TEXT);
    let heading = ("sans-serif", 14).into_font().color(&BLACK);
    area.draw(&Text::new(title.to_owned(), (6, 8), heading))
        .map_err(failed)?;
    for (bar, top) in bars.iter().zip((TOP..).step_by(BAR as usize)) {
        area.draw(&Text::new(bar.label.clone(), (6, top + 1), font.clone()))
            .map_err(failed)?;
        let corners = [(LEFT, top), (x(bar.length), top + BAR - 4)];
        area.draw(&Rectangle::new(corners, bar.colour.filled()))
            .map_err(failed)?;
        let end = x(bar.length.max(bar.mark.unwrap_or(0.0)));
        area.draw(&Text::new(
            bar.text.clone(),
            (end + 5, top + 1),
            font.clone(),
        ))
        .map_err(failed)?;
        if let Some(mark) = bar.mark {
            let corners = [(x(mark) - 1, top - 1), (x(mark) + 1, top + BAR - 3)];
            area.draw(&Rectangle::new(corners, BLACK.filled()))
                .map_err(failed)?;
        }
    }
    if let Some(at) = line_at {
        let bottom = TOP + BAR * i32::try_from(bars.len())?;
        let points = vec![(x(at), TOP - 4), (x(at), bottom)];
        area.draw(&PathElement::new(points, TEXT)).map_err(failed)?;
    }
    Ok(())
}

fn height_of(bars: usize) -> u32 {
    u32::try_from(bars).unwrap_or(0) * 18 + 40
}

/// How fast everybody is at one workload: longer is better.
pub(crate) fn bars(results: &Results, row: &Row) -> anyhow::Result<String> {
    let bars: Vec<Bar> = (row.played.iter())
        .filter_map(|played| {
            let median = row.median(&played.engine)?.median;
            Some(Bar {
                label: results.title_of(&played.engine).to_owned(),
                length: 1e9 / median,
                text: amount(row, median),
                colour: colour(results, &played.engine),
                mark: None,
            })
        })
        .collect();
    sheet((560, height_of(bars.len())), |area| {
        draw_bars(area, &row.title, &bars, None)
    })
}

/// Ours against the original, all workloads.
pub(crate) fn overview(results: &Results) -> anyhow::Result<String> {
    let mut bars = Vec::new();
    for row in &results.rows {
        for (ours, suffix) in results.ours.iter().zip(["", ", Rust"]) {
            let Some(ratio) = row.ratio(ours, &results.reference) else {
                continue;
            };
            let line = results.wanted(&row.name, ours);
            bars.push(Bar {
                label: format!("{}{suffix}", row.name),
                length: ratio.median,
                text: format!("{:.2}", ratio.median),
                colour: colour(results, ours),
                mark: line.map(|line| line.asked),
            });
        }
    }
    // Factors of a hundred would leave nothing to see of the others; the number behind a bar is not
    // cut.
    for bar in &mut bars {
        bar.length = bar.length.min(12.0);
        bar.mark = bar.mark.filter(|mark| *mark <= 12.0);
    }
    let title = format!("times as fast as {}", results.title_of(&results.reference));
    sheet((1000, height_of(bars.len())), |area| {
        draw_bars(area, &title, &bars, Some(1.0))
    })
}

/// Time over the number of records, a chart for each kind of workload.
pub(crate) fn growth(results: &Results, rows: &[&Row]) -> anyhow::Result<String> {
    let mut out = String::new();
    for (prefix, title) in [
        ("grow-get-", "random read"),
        ("grow-scan-", "sequential read"),
        ("grow-overwrite-", "random overwrites"),
    ] {
        let rows: Vec<&Row> = (rows.iter().copied())
            .filter(|row| row.name.starts_with(prefix))
            .collect();
        let curves = curves_of(results, &rows, |row, nanoseconds| {
            ((row.records as f64).log10(), nanoseconds)
        });
        out += &draw_curves(&format!("{title}: ns over records"), &curves, |x| {
            format!("{:.0}", 10_f64.powf(x))
        })?;
    }
    Ok(out)
}

/// A directory's rows over the number of people, from all runs that have them.
pub(crate) fn directory_growth(runs: &[&Results]) -> anyhow::Result<String> {
    let Some(widest) = runs.iter().max_by_key(|run| run.engines.len()) else {
        return Ok(String::new());
    };
    let mut out = String::new();
    for (name, each) in [
        ("uid-16", false),
        ("substring-16", false),
        ("scan", true),
        ("load", true),
    ] {
        let rows: Vec<&Row> = (runs.iter().flat_map(|run| &run.rows))
            .filter(|row| row.name == name)
            .collect();
        let points = rows
            .iter()
            .map(|row| row.records)
            .collect::<std::collections::HashSet<_>>();
        let Some(first) = rows.first().filter(|_| points.len() > 1) else {
            continue;
        };
        // Of the whole database, what an entry takes.
        let title = format!(
            "{}: us over people{}",
            first.title,
            if each { ", an entry" } else { "" }
        );
        let mut curves = curves_of(widest, &rows, |row, nanoseconds| {
            let shared = if each { row.records as f64 } else { 1.0 };
            ((row.records as f64).log10(), nanoseconds / shared / 1e3)
        });
        for curve in &mut curves {
            curve.points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        out += &draw_curves(&title, &curves, |x| format!("{:.0}", 10_f64.powf(x)))?;
    }
    Ok(out)
}

/// Reads a second over the number of threads.
pub(crate) fn cores(results: &Results, rows: &[&Row]) -> anyhow::Result<String> {
    let curves = curves_of(results, rows, |row, nanoseconds| {
        (row.threads as f64, 1e3 / nanoseconds)
    });
    draw_curves(
        "random read: millions a second over threads",
        &curves,
        |x| format!("{x:.0}"),
    )
}

struct Curve {
    label: String,
    colour: RGBColor,
    points: Vec<(f64, f64)>,
}

fn curves_of(
    results: &Results,
    rows: &[&Row],
    point: impl Fn(&Row, f64) -> (f64, f64),
) -> Vec<Curve> {
    let curve = |name: &str, title: &str| Curve {
        label: title.to_owned(),
        colour: colour(results, name),
        points: rows
            .iter()
            .filter_map(|row| Some(point(row, row.median(name)?.median)))
            .collect(),
    };
    results
        .engines
        .iter()
        .map(|one| curve(&one.name, &one.title))
        .filter(|curve| !curve.points.is_empty())
        .collect()
}

fn draw_curves(
    title: &str,
    curves: &[Curve],
    x_text: impl Fn(f64) -> String,
) -> anyhow::Result<String> {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let low = points().map(|(x, _)| x).fold(f64::INFINITY, f64::min);
    let high = points().map(|(x, _)| x).fold(f64::NEG_INFINITY, f64::max);
    let top = points().map(|(_, y)| y).fold(0.0, f64::max);
    if !low.is_finite() {
        return Ok(String::new());
    }
    sheet((560, 340), |area| {
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 15))
            .margin(10)
            .x_label_area_size(28)
            .y_label_area_size(56)
            .build_cartesian_2d(low..high.max(low + 1e-9), 0.0..top * 1.1)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_labels(5)
            .x_label_formatter(&|x| x_text(*x))
            .draw()
            .map_err(failed)?;
        for curve in curves {
            let colour = curve.colour;
            let line = LineSeries::new(curve.points.clone(), colour.stroke_width(2)).point_size(3);
            chart
                .draw_series(line)
                .map_err(failed)?
                .label(curve.label.clone())
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2))
                });
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .draw()
            .map_err(failed)?;
        Ok(())
    })
}
