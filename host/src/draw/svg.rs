//! A small SVG writer: elements, escaped text, one style sheet.
//!
//! **Choices**
//! - Pictures stand alone: no script, no font, no other file.
//! - Colours live in the style sheet by class, so that one picture serves light and dark screens.
//! - Coordinates keep two decimals: an error of at most 0.005 pixels.

use std::fmt::{Display, Write};

/// A picture under construction.
pub(crate) struct Svg {
    text: String,
}

impl Svg {
    /// An empty picture with a size in pixels; title and description are for screen readers.
    pub(crate) fn new(width: f64, height: f64, title: &str, description: &str, style: &str) -> Self {
        let mut svg = Self::bare(width, height, title, description);
        let _ = writeln!(svg.text, "<style>\n{style}</style>");
        svg
    }

    /// An empty picture inside a page that has the style sheet.
    pub(crate) fn bare(width: f64, height: f64, title: &str, description: &str) -> Self {
        let mut svg = Self { text: String::new() };
        let (width, height) = (number(width), number(height));
        let _ = writeln!(
            svg.text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>",
            escape(title),
            escape(description)
        );
        svg
    }

    /// An empty decorative picture, hidden from screen readers.
    pub(crate) fn ornament(width: f64, height: f64) -> Self {
        let (width, height) = (number(width), number(height));
        let size = format!("width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\"");
        Self { text: format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {size} aria-hidden=\"true\">\n") }
    }

    /// Begins a group, which contains everything up to [`Svg::end_group`].
    pub(crate) fn begin_group(&mut self, attributes: &[(&str, &dyn Display)], title: &str) {
        self.open("g", attributes);
        let _ = writeln!(self.text, "><title>{}</title>", escape(title));
    }

    pub(crate) fn end_group(&mut self) {
        self.text.push_str("</g>\n");
    }

    /// An element without content.
    pub(crate) fn element(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.open(name, attributes);
        self.text.push_str("/>\n");
    }

    /// An element with a tooltip.
    pub(crate) fn element_with_title(&mut self, name: &str, attributes: &[(&str, &dyn Display)], title: &str) {
        self.open(name, attributes);
        let _ = writeln!(self.text, "><title>{}</title></{name}>", escape(title));
    }

    /// A text at a position.
    pub(crate) fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.open("text", &[("x", &number(x)), ("y", &number(y)), ("class", &class)]);
        let _ = writeln!(self.text, ">{}</text>", escape(text));
    }

    /// A text that reads upwards.
    pub(crate) fn upright_text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let (x, y) = (number(x), number(y));
        let turn = format!("rotate(-90 {x} {y})");
        self.open("text", &[("x", &x), ("y", &y), ("class", &class), ("transform", &turn)]);
        let _ = writeln!(self.text, ">{}</text>", escape(text));
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        self.element("line", &[("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2), ("class", &class)]);
    }

    pub(crate) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        let [x, y, width, height] = [x, y, width, height].map(number);
        self.element("rect", &[("x", &x), ("y", &y), ("width", &width), ("height", &height), ("class", &class)]);
    }

    pub(crate) fn circle(&mut self, x: f64, y: f64, radius: f64, class: &str) {
        let [x, y, radius] = [x, y, radius].map(number);
        self.element("circle", &[("cx", &x), ("cy", &y), ("r", &radius), ("class", &class)]);
    }

    pub(crate) fn path(&mut self, steps: &str, class: &str) {
        self.element("path", &[("d", &steps), ("class", &class)]);
    }

    /// Returns the finished picture.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        let _ = write!(self.text, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.text, " {key}=\"{}\"", escape(&value.to_string()));
        }
    }
}

/// A coordinate with at most two decimals.
pub(crate) fn number(x: f64) -> String {
    let rounded = (x * 100.0).round() / 100.0;
    // Adding 0 turns −0 into 0.
    format!("{}", rounded + 0.0)
}

/// Escapes a text for elements and attributes of SVG and HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 1.234_56, -0.001, 100.5].map(number), ["1", "1.23", "0", "100.5"]);
    }

    #[test]
    fn pictures_parse_and_read_back() {
        let mut svg = Svg::new(10.0, 20.0, "a < b & c", "\"d\"", ".x{fill:red}\n");
        svg.text(1.0, 2.0, "x", "R > 0 & \"X\"");
        svg.circle(3.0, 4.0, 5.0, "dot");
        let text = svg.finish();
        let document = roxmltree::Document::parse(&text).unwrap();
        let find = |name| document.descendants().find(|node| node.has_tag_name(name)).unwrap();
        assert_eq!(find("title").text(), Some("a < b & c"));
        assert_eq!(find("text").text(), Some("R > 0 & \"X\""));
        assert_eq!(find("circle").attribute("r"), Some("5"));
    }
}
