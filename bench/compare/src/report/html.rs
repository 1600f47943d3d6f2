//! One page without external files: plots first, then the tables.

use std::fmt::Write as _;

use super::pieces::Everything;
use super::plots;
use crate::results::{Half, Results, Row};
use crate::workload::Part;

const STYLE: &str = "
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 1180px; margin: 2em auto; padding: 0 1em; }
h1, h2 { font-weight: 600; } h2 { margin-top: 2.2em; border-bottom: 1px solid #ddd; }
.plots { display: flex; flex-wrap: wrap; gap: 1em; }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0; display: block; overflow-x: auto; }
td, th { border-bottom: 1px solid #e4e4e4; padding: .25em .6em; text-align: left; white-space: nowrap; }
th { background: #f6f6f6; } .short { color: #b00020; font-weight: 600; } .fine { color: #1b7a3d; }
svg { max-width: 100%; height: auto; }
";

/// The page of all that was measured, the table of what was asked first.
/// # Errors
/// A plot that cannot be drawn.
pub(crate) fn page(everything: &Everything, summary: &str) -> anyhow::Result<String> {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Fulgurite, measured beside its peers</title>\
         <style>{STYLE}</style></head><body>\n<h1>Fulgurite, measured beside its peers</h1>\n"
    );
    out.push_str(&of_markdown(summary));
    if let Some(limits) = &everything.limits {
        out.push_str(&of_markdown(&super::machine::limits(limits)));
    }
    if !everything.shared.is_empty() {
        out.push_str(&of_markdown(&super::machine::shared(&everything.shared)));
    }
    let directories: Vec<&Results> = (everything.runs.iter())
        .filter(|run| run.half == Half::Directory)
        .collect();
    let growth = plots::directory_growth(&directories)?;
    if !growth.is_empty() {
        let _ = writeln!(
            out,
            "<h2>As the directory grows</h2>\n<div class=\"plots\">{growth}</div>"
        );
    }
    for run in &everything.runs {
        of_run(run, &mut out)?;
    }
    out.push_str("</body></html>\n");
    Ok(out)
}

fn of_run(results: &Results, out: &mut String) -> anyhow::Result<()> {
    let title = inline(&results.title);
    let reference = inline(results.title_of(&results.reference));
    let _ = writeln!(
        out,
        "<h1>{title}</h1>\n<h2>Ours, and {reference}</h2>\n<p>How many times as fast, workload by workload; the line is 1, the mark what is asked.</p>"
    );
    out.push_str(&plots::overview(results)?);
    for part in results.parts() {
        let rows: Vec<&Row> = (results.rows.iter())
            .filter(|row| row.part == part && !row.played.is_empty())
            .collect();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(out, "<h2>{part}</h2>\n<div class=\"plots\">");
        match part {
            _ if part == Part::Growth.title() => out.push_str(&plots::growth(results, &rows)?),
            _ if part == Part::Cores.title() => out.push_str(&plots::cores(results, &rows)?),
            _ => {
                for row in rows {
                    out.push_str(&plots::bars(results, row)?);
                }
            }
        }
        out.push_str("</div>\n");
    }
    out.push_str("<h2>All figures</h2>\n");
    out.push_str(&of_markdown(&super::markdown::tables(results)));
    Ok(())
}

/// The tables again: of Markdown, the headings, lists, tables and bold words that they use.
fn of_markdown(text: &str) -> String {
    let mut out = String::new();
    let mut open = "";
    for line in text.lines() {
        let kind = match line {
            line if line.starts_with("| ") => "table",
            line if line.starts_with("- ") => "ul",
            _ => "",
        };
        let is_new = kind != open;
        if is_new {
            if !open.is_empty() {
                let _ = writeln!(out, "</{open}>");
            }
            if !kind.is_empty() {
                let _ = writeln!(out, "<{kind}>");
            }
            open = kind;
        }
        match kind {
            "table" => table_line(line, is_new, &mut out),
            "ul" => {
                let _ = writeln!(out, "<li>{}</li>", inline(line.trim_start_matches("- ")));
            }
            _ => paragraph(line, &mut out),
        }
    }
    if !open.is_empty() {
        let _ = writeln!(out, "</{open}>");
    }
    out
}

fn table_line(line: &str, is_head: bool, out: &mut String) {
    if line.starts_with("| ---") {
        return;
    }
    let cell = if is_head { "th" } else { "td" };
    out.push_str("<tr>");
    let line = line.trim().trim_start_matches('|').trim_end_matches('|');
    for text in line.split('|').map(str::trim) {
        let class = match text {
            "**falls short**" => " class=\"short\"",
            "met" | "hoped for" if !is_head => " class=\"fine\"",
            _ => "",
        };
        let _ = write!(out, "<{cell}{class}>{}</{cell}>", inline(text));
    }
    out.push_str("</tr>\n");
}

fn paragraph(line: &str, out: &mut String) {
    if let Some(title) = line.strip_prefix("## ") {
        let _ = writeln!(out, "<h3>{}</h3>", inline(title));
    } else if !line.is_empty() && !line.starts_with('#') {
        let _ = writeln!(out, "<p>{}</p>", inline(line));
    }
}

/// Text with its bold words, harmless in HTML.
fn inline(text: &str) -> String {
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let mut out = String::new();
    for (index, piece) in escaped.split("**").enumerate() {
        if index > 0 {
            out.push_str(if index % 2 == 1 { "<b>" } else { "</b>" });
        }
        out.push_str(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_html() {
        let html = of_markdown(
            "# Title\n\n- a <b>: c\n\n| x | y |\n| --- | --- |\n| **1** | **falls short** |\n\nEnd",
        );
        let expected = "<ul>\n<li>a &lt;b&gt;: c</li>\n</ul>\n<table>\n<tr><th>x</th><th>y</th></tr>\n\
            <tr><td><b>1</b></td><td class=\"short\"><b>falls short</b></td></tr>\n</table>\n<p>End</p>\n";
        assert_eq!(html, expected);
    }
}
