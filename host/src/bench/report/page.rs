//! The page: one self-contained HTML file.
//!
//! **Choices**
//! - It is also well-formed XML, so that tests can parse it.
//! - A policy in its head forbids every request, which enforces "needs no network".
//! - Without its script the page is the same, except that nothing can be sorted or hidden.
//! - The legend stands beside the figures on a wide screen and above them on a narrow one.

use std::fmt::Write;

use super::figure::{self, Figure};
use super::information;
use super::panel;
use super::runs::{Race, Runs};
use super::style::{Style, sheet};
use super::tables;
use super::theory;
use super::verdict::Verdict;
use crate::bench::table::Table;
use crate::bench::text;
use crate::bench::yardstick::{self, Field};
use crate::draw::ABOUT;
use crate::draw::svg::{Svg, escape};

const STYLE: &str = include_str!("../../draw/page.css");
const SCRIPT: &str = include_str!("page.js");

/// One part of the page.
struct Section {
    id: String,
    title: String,
    /// Sentences at the top.
    said: Vec<String>,
    /// Sentences about losses.
    losses: Vec<String>,
    figures: Vec<Figure>,
    tables: Vec<Table>,
}

/// The contents of a report.
pub(super) struct Page {
    command: String,
    facts: String,
    notes: Vec<String>,
    methods: Vec<(String, Style)>,
    sections: Vec<Section>,
}

impl Page {
    pub(super) fn of(runs: &Runs, reference: &str, command: &str) -> Self {
        let traces = runs.traces();
        let field = Field::new(&traces);
        let verdict = Verdict::of(runs, &field, reference);
        let slugs = slugs(runs);
        let mut sections = vec![summary(runs, &field, &verdict)];
        for (problem, slug) in runs.problems.iter().zip(&slugs) {
            let about = problem.about().map(|about| format!("{}.", about.trim_end_matches('.')));
            sections.push(Section {
                id: slug.clone(),
                title: problem.name.clone(),
                said: about.into_iter().collect(),
                losses: verdict.of_problem(&problem.name),
                figures: figure::of_problem(runs, problem, slug),
                tables: vec![tables::of_problem(runs, problem, slug)],
            });
        }
        sections.push(Section {
            id: "time".into(),
            title: "Time".into(),
            said: Vec::new(),
            losses: Vec::new(),
            figures: vec![figure::seconds(runs)],
            tables: vec![tables::seconds(runs)],
        });
        let theory = runs
            .problems
            .iter()
            .zip(&slugs)
            .flat_map(|(p, slug)| [theory::cumulative_regret(runs, p, slug), information::figure(runs, p, slug)]);
        sections.push(Section {
            id: "theory".into(),
            title: "Theory and measurement".into(),
            said: Vec::new(),
            losses: Vec::new(),
            figures: theory.flatten().chain(std::iter::once(theory::distortion())).collect(),
            tables: Vec::new(),
        });
        let (least, most) = runs.seeds();
        let seeds = if least == most { text::count(most, "seed") } else { format!("{least} to {most} seeds") };
        let facts = format!(
            "{}: {} on {}, {seeds} each.",
            text::count(runs.count(), "run"),
            text::count(runs.methods.len(), "method"),
            text::count(runs.problems.len(), "problem"),
        );
        Self { command: command.into(), facts, notes: notes(runs), methods: runs.methods.clone(), sections }
    }

    pub(super) fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|section| &section.figures)
    }

    /// The tables as Markdown.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("# Tables of the report\n\n{}\n\n", self.facts);
        for note in &self.notes {
            let _ = write!(text, "{note}\n\n");
        }
        for section in &self.sections {
            if section.id == "summary" {
                for sentence in &section.said {
                    let _ = write!(text, "{sentence}\n\n");
                }
            }
            for table in section.tables.iter().filter(|table| !table.is_empty()) {
                text += &table.markdown(&self.command);
            }
        }
        text.trim_end().to_string() + "\n"
    }

    pub(super) fn html(&self) -> String {
        let mut html = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
        html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
                 <meta name=\"color-scheme\" content=\"light dark\"/>\n\
                 <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
                 script-src 'unsafe-inline'; img-src data:\"/>\n\
                 <link rel=\"icon\" href=\"data:,\"/>\n<title>trimtab: report of benchmark runs</title>\n";
        let _ = write!(html, "<style>\n{}{STYLE}</style>\n</head>\n<body>\n", sheet());
        html += &self.aside();
        html += "<main>\n<header>\n<h1>Report of benchmark runs</h1>\n";
        let _ = write!(html, "<p>{}</p>\n<pre><code>{}</code></pre>\n", escape(&self.facts), escape(&self.command));
        for note in &self.notes {
            let _ = writeln!(html, "<p class=\"note\">{}</p>", escape(note));
        }
        html += "</header>\n";
        for section in &self.sections {
            html += &section.html();
        }
        let _ = write!(html, "{ABOUT}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
        html
    }

    /// The legend and the contents.
    fn aside(&self) -> String {
        let mut html = String::from(
            "<aside>\n<details id=\"legend\" open=\"open\">\n<summary>Methods</summary>\n\
             <p class=\"note\">Click to hide or show.</p>\n<div class=\"toggles\">\n",
        );
        for (name, style) in &self.methods {
            let name = escape(name);
            let _ = writeln!(
                html,
                "<button type=\"button\" data-toggle=\"{name}\" aria-pressed=\"true\">{}<span>{name}</span></button>",
                sample(*style)
            );
        }
        html += "</div>\n<div class=\"all\"><button type=\"button\" data-all=\"true\">show all</button>\
                 <button type=\"button\" data-all=\"false\">hide all</button></div>\n</details>\n\
                 <nav aria-label=\"Contents\">\n<ul>\n";
        for section in &self.sections {
            let _ = writeln!(html, "<li><a href=\"#{}\">{}</a></li>", escape(&section.id), escape(&section.title));
        }
        html + "</ul>\n</nav>\n</aside>\n"
    }
}

impl Section {
    fn html(&self) -> String {
        let mut html = format!("<section id=\"{}\">\n<h2>{}</h2>\n", escape(&self.id), escape(&self.title));
        for sentence in &self.said {
            let _ = writeln!(html, "<p>{}</p>", escape(sentence));
        }
        if !self.losses.is_empty() {
            html += "<ul class=\"loss\">\n";
            html.extend(self.losses.iter().map(|sentence| format!("<li>{}</li>\n", escape(sentence))));
            html += "</ul>\n";
        }
        for figure in &self.figures {
            let _ = write!(html, "<figure id=\"{}\">\n<h3>{}</h3>\n", escape(&figure.id), escape(&figure.title));
            html += "<div class=\"panels\">\n";
            html.extend(figure.panels.iter().map(|panel| panel.part(&figure.title)));
            html += "</div>\n<figcaption>";
            // The page's legend has only methods; other lines get a key here.
            for (name, style, _) in figure.legend().into_iter().filter(|(_, _, is_method)| !is_method) {
                let _ = write!(html, "<span class=\"key\">{}{}</span>", sample(style), escape(name));
            }
            let _ = write!(html, "{}</figcaption>\n</figure>\n", escape(&figure.caption));
        }
        html.extend(self.tables.iter().filter(|table| !table.is_empty()).map(Table::html));
        html + "</section>\n"
    }
}

/// A line and a mark, for legends.
fn sample(style: Style) -> String {
    let mut svg = Svg::ornament(36.0, 14.0);
    svg.begin_group(&[("class", &style.classes())], "");
    panel::sample(&mut svg, (1.0, 7.0), style);
    svg.end_group();
    svg.finish()
}

/// The section about wins and losses.
fn summary(runs: &Runs, field: &Field<'_>, verdict: &Verdict) -> Section {
    let own = &verdict.own;
    let lost = tables::findings(
        "losses",
        &format!("Where {own} loses"),
        "Final values, one per instance: the mean of its masked and its unmasked run; mean ± standard error. p: the \
         chance that equal methods look this different, after Holm's correction.",
        own,
        &verdict.worse,
    );
    let behind = tables::findings(
        "behind",
        &format!("Where {own} is behind, but not beyond chance"),
        "Its mean is worse, and the signed-rank test does not exclude chance.",
        own,
        &verdict.behind,
    );
    let (names, reference) = (runs.names(), runs.method(own).unwrap_or(usize::MAX));
    Section {
        id: "summary".into(),
        title: "Summary".into(),
        said: vec![verdict.statement()],
        losses: Vec::new(),
        figures: Vec::new(),
        tables: vec![
            yardstick::tables::ratios(field, &names, reference),
            yardstick::tables::groups(field, &names, reference),
            yardstick::noisy::recommendations(field, &names),
            yardstick::failing::failures(field, &names),
            yardstick::settled::stops(field, &names),
            tables::ranking(runs),
            lost,
            behind,
            tables::pairwise(runs),
            tables::finals(runs),
            tables::evaluations(runs),
            tables::test_errors(runs),
            tables::fallbacks(runs),
        ],
    }
}

/// Caveats for comparisons.
fn notes(runs: &Runs) -> Vec<String> {
    let mut notes = Vec::new();
    for (problem, mask, race) in runs.races() {
        let name = if mask { format!("{}, masked", problem.name) } else { problem.name.clone() };
        let least = race.all().map(|run| run.bests.len()).min().unwrap_or(0);
        if least < race.horizon() {
            let most = race.horizon();
            notes.push(format!(
                "{name}: runs have {least} to {most} evaluations; shorter ones keep their last best value."
            ));
        }
        let seeds: Vec<usize> = race.runs.iter().map(Vec::len).filter(|n| *n > 0).collect();
        if let (Some(least), Some(most)) = (seeds.iter().min(), seeds.iter().max())
            && least < most
        {
            notes.push(format!("{name}: methods have {least} to {most} seeds; comparisons use those that both have."));
        }
        let missing = race.runs.iter().zip(&runs.methods).filter(|(runs, _)| runs.is_empty());
        let missing: Vec<String> = missing.map(|(_, (name, _))| name.clone()).collect();
        if !missing.is_empty() {
            notes.push(format!("{name}: no runs of {}.", text::list(&missing)));
        }
    }
    let is_single = runs.races().all(|(_, _, race): (_, _, &Race)| race.runs.iter().all(|runs| runs.len() < 2));
    if is_single {
        notes.push("There is one seed per method: no standard errors, and every difference may be chance.".into());
    }
    notes
}

/// A unique name for every problem, safe in paths and addresses.
fn slugs(runs: &Runs) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for problem in &runs.problems {
        let plain = super::slug(&problem.name);
        let taken = |name: &String, all: &[String]| {
            all.contains(name) || ["summary", "time", "theory"].contains(&name.as_str())
        };
        let numbered = (2..).map(|n| format!("{plain}-{n}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken(name, &all));
        all.push(free.unwrap_or(plain));
    }
    all
}
