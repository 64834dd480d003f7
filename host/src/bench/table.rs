//! A table as HTML, as Markdown and for a terminal.
//!
//! **Choices**
//! - A cell has a text for people and a number to sort by. Missing values sort last in either
//!   order.
//! - The best of a column is bold, by value, so that all ties are bold.

use std::fmt::Write;
use std::ops::Range;

use crate::bench::stats::{Estimate, is_level};
use crate::bench::text;
use crate::draw::svg::escape;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// `None` if there is no number to sort by, so that the text decides.
    pub(crate) key: Option<f64>,
    pub(crate) is_strong: bool,
}

impl Cell {
    pub(crate) fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), key: None, is_strong: false }
    }

    pub(crate) fn number(key: f64, text: String) -> Self {
        Self { text, key: Some(key), is_strong: false }
    }

    pub(crate) fn count(n: usize) -> Self {
        Self::number(n as f64, n.to_string())
    }

    /// A missing value.
    pub(crate) fn none() -> Self {
        Self::words("–")
    }

    pub(crate) fn estimate(estimate: Option<Estimate>) -> Self {
        estimate.map_or_else(Self::none, |estimate| Self::number(estimate.mean, text::with_error(&estimate)))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) head: Vec<String>,
    /// The first cell of a row names it.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(id: &str, title: &str, note: &str, head: &[&str]) -> Self {
        let head = head.iter().map(|name| (*name).into()).collect();
        Self { id: id.into(), title: title.into(), note: note.into(), head, rows: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Makes the smallest value of each of these columns bold.
    pub(crate) fn embolden(mut self, columns: Range<usize>) -> Self {
        for column in columns {
            let keys = self.rows.iter().filter_map(|row| row[column].key).filter(|key| key.is_finite());
            let least = keys.fold(f64::INFINITY, f64::min);
            let cells = self.rows.iter_mut().map(|row| &mut row[column]);
            cells.for_each(|cell| {
                cell.is_strong = cell.key.is_some_and(|key| key.is_finite() && is_level(key, least));
            });
        }
        self
    }

    /// The table as part of a page.
    pub(crate) fn html(&self) -> String {
        let (id, title) = (escape(&self.id), escape(&self.title));
        let mut html = format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"{id}-title\">\n\
             <table id=\"{id}\">\n<caption id=\"{id}-title\">{title}</caption>\n<thead><tr>"
        );
        for name in &self.head {
            let name = escape(name);
            let _ = write!(html, "<th scope=\"col\" aria-sort=\"none\"><button type=\"button\">{name}</button></th>");
        }
        html += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            html += "<tr>";
            for (i, cell) in row.iter().enumerate() {
                let text = escape(&cell.text);
                let text = if cell.is_strong { format!("<b>{text}</b>") } else { text };
                let key = cell.key.map(|key| if key.is_finite() { key.to_string() } else { "Infinity".into() });
                let key = key.map(|key| format!(" data-key=\"{key}\"")).unwrap_or_default();
                let _ = match i {
                    0 => write!(html, "<th scope=\"row\"{key}>{text}</th>"),
                    _ => write!(html, "<td{key}>{text}</td>"),
                };
            }
            html += "</tr>\n";
        }
        html += "</tbody>\n</table>\n</div>\n";
        if !self.note.is_empty() {
            let _ = writeln!(html, "<p class=\"note\">{}</p>", escape(&self.note));
        }
        html
    }

    /// The table for a terminal: the first column to the left, numbers to the right.
    pub(crate) fn plain(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| Some(row.get(column)?.text.chars().count()));
            cells.chain(self.head.get(column).map(|name| name.chars().count())).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let line = |cells: Vec<&str>| {
            let padded = cells.iter().zip(&widths).enumerate().map(|(i, (cell, width))| match i {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
        };
        let mut text = format!("{}\n\n", self.title) + &line(self.head.iter().map(String::as_str).collect());
        text.extend(self.rows.iter().map(|row| line(row.iter().map(|cell| cell.text.as_str()).collect())));
        if !self.note.is_empty() {
            let _ = writeln!(text, "\n{}", self.note);
        }
        text
    }

    /// The table with its heading, its note and the command that made it.
    pub(crate) fn markdown(&self, command: &str) -> String {
        let cell = |text: &str| text.replace('|', "\\|");
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("## {}\n\n", self.title);
        text += &row(self.head.iter().map(|name| cell(name)).collect());
        text += &row(self.head.iter().enumerate().map(|(i, _)| if i == 0 { "---" } else { "---:" }.into()).collect());
        for cells in &self.rows {
            let strong = |own: &Cell| if own.is_strong { format!("**{}**", cell(&own.text)) } else { cell(&own.text) };
            text += &row(cells.iter().map(strong).collect());
        }
        if !self.note.is_empty() {
            let _ = write!(text, "\n{}\n", self.note);
        }
        text + &format!("\n```sh\n{command}\n```\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("t", "A < B", "note | note", &["name", "x", "n"]);
        for (name, x, n) in [("a|b", 2.0, 1), ("c", 1.0, 2), ("d", 1.0, 3)] {
            table.rows.push(vec![Cell::words(name), Cell::number(x, format!("{x}")), Cell::count(n)]);
        }
        table.embolden(1..2)
    }

    #[test]
    fn the_least_of_a_column_is_bold_ties_too() {
        let strong: Vec<Vec<bool>> =
            table().rows.iter().map(|row| row.iter().map(|cell| cell.is_strong).collect()).collect();
        assert_eq!(strong, [[false, false, false], [false, true, false], [false, true, false]]);
    }

    /// An infinite value, such as an optimum that was never found, is not the best of anything.
    #[test]
    fn infinite_values_are_never_bold() {
        for values in [[f64::INFINITY, 28.0], [f64::INFINITY, f64::INFINITY]] {
            let mut table = Table::new("t", "t", "", &["x"]);
            table.rows.extend(values.map(|x| vec![Cell::number(x, format!("{x}"))]));
            let strong: Vec<bool> = table.embolden(0..1).rows.iter().map(|row| row[0].is_strong).collect();
            assert_eq!(strong, values.map(f64::is_finite));
        }
    }

    #[test]
    fn html_parses_and_says_what_headers_are_for() {
        let html = format!("<x>{}</x>", table().html());
        let document = roxmltree::Document::parse(&html).unwrap();
        let all = |name: &'static str| document.descendants().filter(move |node| node.has_tag_name(name));
        assert_eq!(all("caption").next().unwrap().text(), Some("A < B"));
        let scopes: Vec<_> = all("th").map(|th| th.attribute("scope").unwrap()).collect();
        assert_eq!(scopes, ["col", "col", "col", "row", "row", "row"]);
        assert_eq!(all("td").next().unwrap().attribute("data-key"), Some("2"));
    }

    #[test]
    fn markdown_by_hand() {
        let text = table().markdown("trimtab report runs");
        assert_eq!(
            text,
            "## A < B\n\n| name | x | n |\n| --- | ---: | ---: |\n| a\\|b | 2 | 1 |\n| c | **1** | 2 |\n| d | **1** \
             | 3 |\n\n\
             note | note\n\n```sh\ntrimtab report runs\n```\n\n"
        );
    }

    #[test]
    fn plain_by_hand() {
        let text = table().plain();
        assert_eq!(text, "A < B\n\nname  x  n\na|b   2  1\nc     1  2\nd     1  3\n\nnote | note\n");
    }
}
