//! Reads clauses in the DIMACS formats: CNF, and WCNF of the MaxSAT Evaluations, the older one with
//! a `p` line and the newer one without.
//!
//! | line | meaning |
//! |---|---|
//! | `c …` | a comment, as is an empty line |
//! | `p cnf V C` | every clause weighs 1 |
//! | `p wcnf V C [TOP]` | a clause begins with its weight, and those with weight TOP or more are hard |
//! | no `p` line | a clause begins with its weight, or with `h` if it is hard |
//! | `3 -1 0` | a clause: variable 3 is true or variable 1 is false |
//!
//! **Choices**
//! - A hard clause weighs one more than all soft ones together, so that breaking it is worse than
//!   breaking all of them.
//! - With a `p` line a clause may span several lines, as in DIMACS; without, it is one line.
//! - Fewer clauses than the `p` line announces are refused: the file was cut. More are common.
//! - `%` ends a file, as in old collections.

/// Clauses with weights.
#[derive(Debug, PartialEq)]
pub(super) struct Formula {
    pub(super) variables: usize,
    pub(super) clauses: Vec<Clause>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Clause {
    pub(super) weight: f64,
    pub(super) literals: Literals,
}

/// Variables counted from 0, each with the value that satisfies the clause.
type Literals = Vec<(usize, bool)>;

/// Most variables, as many as a search has knobs.
pub(super) const MOST: usize = 256;

enum Format {
    Cnf,
    Wcnf { top: Option<f64> },
    Headless,
}

/// A clause whose end has not been read yet.
#[derive(Default)]
struct Open {
    weight: Option<f64>,
    is_hard: bool,
    literals: Literals,
    is_begun: bool,
}

/// Parses a file. An error names the line.
pub(super) fn parse(text: &str) -> Result<Formula, String> {
    let mut format = Format::Headless;
    let (mut variables, mut announced, mut is_declared) = (0, 0, false);
    // Hard clauses have no weight yet.
    let mut found: Vec<(Option<f64>, Literals)> = Vec::new();
    let mut open = Open::default();
    let mut last = 0;
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let fault = |what: &str| format!("line {number}: {what}");
        let mut words = line.split_whitespace().peekable();
        match words.peek() {
            None => continue,
            Some(word) if word.starts_with('c') => continue,
            Some(&"%") => break,
            Some(&"p") => {
                if is_declared || !found.is_empty() || open.is_begun {
                    return Err(fault("a `p` line must come once, before all clauses"));
                }
                let words: Vec<&str> = words.collect();
                (format, variables, announced) = header(&words)
                    .ok_or_else(|| fault("write `p cnf VARIABLES CLAUSES` or `p wcnf VARIABLES CLAUSES TOP`"))?;
                is_declared = true;
                if !(1..=MOST).contains(&variables) {
                    return Err(fault(&format!("{variables} variables; the number must be from 1 to {MOST}")));
                }
                continue;
            }
            Some(_) => {}
        }
        last = number;
        for word in words {
            if !open.is_begun {
                open.is_begun = true;
                match format {
                    Format::Cnf => open.weight = Some(1.0),
                    Format::Headless if word == "h" => {
                        open.is_hard = true;
                        continue;
                    }
                    Format::Wcnf { .. } | Format::Headless => {
                        let weight = word.parse().ok().filter(|weight: &f64| *weight >= 0.0 && weight.is_finite());
                        let weight = weight
                            .ok_or_else(|| fault(&format!("`{word}` is not a clause weight; write 0 or more")))?;
                        open.is_hard = matches!(format, Format::Wcnf { top: Some(top) } if weight >= top);
                        open.weight = Some(weight);
                        continue;
                    }
                }
            }
            let literal: i64 =
                word.parse().map_err(|_| fault(&format!("`{word}` is not a literal; write 3, -3 or 0")))?;
            if literal == 0 {
                let Open { weight, is_hard, literals, .. } = std::mem::take(&mut open);
                found.push((weight.filter(|_| !is_hard), literals));
                continue;
            }
            let variable = literal.unsigned_abs() as usize;
            if is_declared && variable > variables {
                return Err(fault(&format!("variable {variable} exceeds the {variables} of the `p` line")));
            }
            if variable > MOST {
                return Err(fault(&format!("variable {variable} is too large; use at most {MOST} variables")));
            }
            variables = variables.max(variable);
            open.literals.push((variable - 1, literal > 0));
        }
        if !is_declared && open.is_begun {
            return Err(fault("the clause must end with 0"));
        }
    }
    if open.is_begun {
        return Err(format!("line {last}: the last clause must end with 0"));
    }
    if found.len() < announced {
        return Err(format!("{} clauses, but the `p` line announces {announced}; is the file cut?", found.len()));
    }
    if found.is_empty() {
        return Err("it contains no clauses".into());
    }
    let hard = found.iter().filter_map(|(weight, _)| *weight).sum::<f64>() + 1.0;
    let clauses = found.into_iter().map(|(weight, literals)| Clause { weight: weight.unwrap_or(hard), literals });
    Ok(Formula { variables, clauses: clauses.collect() })
}

/// The format, the number of variables and the number of clauses.
fn header(words: &[&str]) -> Option<(Format, usize, usize)> {
    let (format, rest) = match words {
        ["p", "cnf", rest @ ..] => (Format::Cnf, rest),
        ["p", "wcnf", variables, clauses, top] => {
            (Format::Wcnf { top: Some(top.parse().ok()?) }, &[*variables, *clauses][..])
        }
        ["p", "wcnf", rest @ ..] => (Format::Wcnf { top: None }, rest),
        _ => return None,
    };
    let [variables, clauses] = rest else { return None };
    Some((format, variables.parse().ok()?, clauses.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clause(weight: f64, literals: &[(usize, bool)]) -> Clause {
        Clause { weight, literals: literals.to_vec() }
    }

    #[test]
    fn every_format() {
        let cnf = parse("c hello\np cnf 3 2\n1 -2\n 0 3 0\n%\n0\n").unwrap();
        assert_eq!(cnf.variables, 3);
        assert_eq!(cnf.clauses, [clause(1.0, &[(0, true), (1, false)]), clause(1.0, &[(2, true)])]);
        // The soft clauses weigh 2 + 0.5, so the hard one weighs 3.5.
        let expected = [clause(3.5, &[(0, true)]), clause(2.0, &[(0, false)]), clause(0.5, &[(1, true)])];
        assert_eq!(parse("p wcnf 2 3 10\n10 1 0\n2 -1 0\n0.5 2 0\n").unwrap().clauses, expected);
        assert_eq!(parse("c new\nh 1 0\n2 -1 0\n0.5 2 0\n").unwrap().clauses, expected);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("p cnf 2 1\n1 3 0\n", "line 2: variable 3"),
            ("p cnf 2 1\n1 x 0\n", "line 2: `x`"),
            ("p dnf 2 1\n", "line 1: write `p cnf"),
            ("p cnf 0 1\n", "line 1: 0 variables"),
            ("p cnf 2 1\n1 0\np cnf 2 1\n", "line 3: a `p` line"),
            ("p wcnf 2 1\n-3 1 0\n", "line 2: `-3` is not a clause weight"),
            ("2 1 -2\n3 1 0\n", "line 1: the clause must end"),
            ("p cnf 2 1\n1 2\n", "line 2: the last clause"),
            ("2 300 0\n", "line 1: variable 300"),
            ("c nothing\n", "no clauses"),
            ("p cnf 2 3\n1 0\n2 0\n", "2 clauses, but the `p` line announces 3"),
            ("p wcnf 2 2 9\n1 1 0\n", "1 clauses, but the `p` line announces 2"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
