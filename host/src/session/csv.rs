//! Tables as spreadsheets write them: fields between commas, quotes around what needs them.
//!
//! **Choices**
//! - A first line with semicolons or tabs and without commas says what separates; with those, numbers
//!   may have a comma for the point.
//! - Quoted fields may contain separators, line ends and doubled quotes.
//! - Blank lines are skipped; every other line must have as many fields as the first.

use std::borrow::Cow;

/// A table and what separates its fields.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Row>,
    separator: char,
}

/// One row, and the line on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) line: usize,
    pub(crate) fields: Vec<String>,
}

impl Table {
    /// Parses a table; an error names the line.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let first = text.lines().next().unwrap_or("");
        let separator = match [',', ';', '\t'].into_iter().find(|separator| first.contains(*separator)) {
            Some(separator) => separator,
            None => return Err("line 1 must name the columns, with commas between them".into()),
        };
        let mut rows = split(text, separator)?.into_iter();
        let heads = rows.next().map(|row| row.fields).unwrap_or_default();
        let rows: Vec<Row> = rows.collect();
        match rows.iter().find(|row| row.fields.len() != heads.len()) {
            None => Ok(Self { heads, rows, separator }),
            Some(row) => Err(format!(
                "line {} has {} fields, but line 1 names {} columns; put quotes around a field with a separator in it",
                row.line,
                row.fields.len(),
                heads.len()
            )),
        }
    }

    /// A number's text with a point, also if it was written with a comma.
    pub(crate) fn pointed<'a>(&self, field: &'a str) -> Cow<'a, str> {
        match self.separator != ',' && !field.contains('.') && field.matches(',').count() == 1 {
            true => field.replace(',', ".").into(),
            false => field.into(),
        }
    }
}

/// Splits a text into rows of trimmed fields.
fn split(text: &str, separator: char) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let (mut line, mut begun) = (1, 1);
    let (mut fields, mut field, mut is_quoted, mut was_quoted) = (Vec::new(), String::new(), false, false);
    let mut letters = text.chars().chain(['\n']).peekable();
    while let Some(letter) = letters.next() {
        line += usize::from(letter == '\n');
        match letter {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' if is_quoted => is_quoted = false,
            '"' if field.trim().is_empty() && !was_quoted => {
                (is_quoted, was_quoted, field) = (true, true, String::new());
            }
            // The line end that was added above.
            '\n' if is_quoted && letters.peek().is_none() => {
                return Err(format!("a quote in line {begun} has no end; write \" after the field, too"));
            }
            _ if is_quoted => field.push(letter),
            '\n' => {
                finish(&mut fields, &mut field, &mut was_quoted);
                let fields = std::mem::take(&mut fields);
                if fields.iter().any(|field| !field.is_empty()) {
                    rows.push(Row { line: begun, fields });
                }
                begun = line;
            }
            _ if letter == separator => finish(&mut fields, &mut field, &mut was_quoted),
            _ => field.push(letter),
        }
    }
    Ok(rows)
}

fn finish(fields: &mut Vec<String>, field: &mut String, was_quoted: &mut bool) {
    let text = std::mem::take(field);
    fields.push(if std::mem::take(was_quoted) { text } else { text.trim().to_string() });
}

/// A field as a table has it.
pub(crate) fn written(field: &str) -> Cow<'_, str> {
    let is_plain = field.trim() == field && !field.contains([',', ';', '\t', '"', '\n', '\r']);
    match is_plain {
        true => field.into(),
        false => format!("\"{}\"", field.replace('"', "\"\"")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(usize, Vec<String>)> {
        Table::parse(text).unwrap().rows.into_iter().map(|row| (row.line, row.fields)).collect()
    }

    #[test]
    fn tables_as_spreadsheets_write_them() {
        for text in ["a,b\n1,x\n2,y\n", "\u{feff}a;b\r\n1;x\r\n2;y\r\n", "a\tb\n 1 \t\"x\"\n2\ty"] {
            let wanted = [(2, vec!["1".to_string(), "x".into()]), (3, vec!["2".into(), "y".into()])];
            assert_eq!(fields(text), wanted, "{text:?}");
        }
        let odd = fields("a,b\n\n\"x, \"\"y\"\"\",\"two\nlines\"\n ,\n3,4\n");
        assert_eq!(odd, [(3, vec!["x, \"y\"".to_string(), "two\nlines".into()]), (6, vec!["3".into(), "4".into()])]);
        assert_eq!(Table::parse("a;b\n").unwrap().pointed("1,5"), "1.5");
        assert_eq!(Table::parse("a,b\n").unwrap().pointed("1,5"), "1,5");
    }

    #[test]
    fn what_is_no_table_says_why() {
        for (text, wanted) in [
            ("", "line 1 must name the columns"),
            ("a\n1\n", "line 1 must name the columns"),
            ("a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, but line 1 names 2 columns"),
            ("a,b\n1\n", "line 2 has 1 fields"),
            ("a,b\n1,\"2\n3,4\n", "a quote in line 2 has no end"),
        ] {
            let error = Table::parse(text).unwrap_err();
            assert!(error.contains(wanted), "{text:?}: {error}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
        let letters = ['a', ',', '"', '\n', ' ', ';', '\t', 'é', '\r', '0'];
        for _ in 0..500 {
            let mut field = || -> String {
                let length = random.random_range(1..6);
                (0..length).map(|_| letters[random.random_range(0..letters.len())]).collect()
            };
            let row = [field(), field() + "x"];
            let text = format!("a,b\n{},{}\n", written(&row[0]), written(&row[1]));
            assert_eq!(fields(&text), [(2, row.to_vec())], "{text:?}");
        }
    }
}
