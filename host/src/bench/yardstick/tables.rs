//! The yardstick's tables.

use super::{Field, Ratio, SHARES};
use crate::bench::problem::Group;
use crate::bench::table::{Cell, Table};

/// Every method's ratio of evaluations to target, over all targets and for each; the best first.
/// Empty unless another method has runs that pair with the reference's.
pub(crate) fn ratios(field: &Field<'_>, methods: &[String], reference: usize) -> Table {
    let name = methods.get(reference).map_or("", String::as_str);
    let note = format!(
        "Measurements to reach a target, relative to {name} on the same problem, mask and seed: geometric mean over \
         pairs, 95 % interval over problems and instances. Above 1: needs more than {name}. A target is a share of \
         {name}'s regret after 4 measurements; 0 % is the best known value. A missed target counts 1.5 budgets.",
    );
    let shares = SHARES.map(|share| format!("{} %", (100.0 * share).round()));
    let mut head = vec!["method", "all targets"];
    head.extend(shares.iter().map(String::as_str));
    head.push("instances");
    let mut table = Table::new("ratios", &format!("Evaluations to target, relative to {name}"), &note, &head);
    for (method, own) in methods.iter().enumerate() {
        let Some(found) = field.ratios(method, reference, |_| true) else { continue };
        let mut row = vec![Cell::words(own), cell(&found.all, method == reference)];
        row.extend(found.targets.iter().map(|ratio| cell(ratio, method == reference)));
        row.push(Cell::count(found.instances));
        table.rows.push(row);
    }
    finished(table)
}

/// The ratios over all targets, by group of problems.
pub(crate) fn groups(field: &Field<'_>, methods: &[String], reference: usize) -> Table {
    let name = methods.get(reference).map_or("", String::as_str);
    let there: Vec<Group> = Group::ALL.into_iter().filter(|group| field.has(*group)).collect();
    let mut head = vec!["method", "all problems"];
    head.extend(there.iter().map(|group| group.name()));
    let note = "Over all targets, as above. Binary: all knobs have two levels; nominal: some have more; graded: some \
                are graded; small boards: the problem `board`.";
    let title = format!("Evaluations to target by kind of problem, relative to {name}");
    let mut table = Table::new("ratios-by-group", &title, note, &head);
    for (method, own) in methods.iter().enumerate() {
        let ratio = |keep: &dyn Fn(Group) -> bool| {
            let found = field.ratios(method, reference, |trace| keep(trace.group));
            found.map_or_else(Cell::none, |found| cell(&found.all, method == reference))
        };
        let mut row = vec![Cell::words(own), ratio(&|_| true)];
        row.extend(there.iter().map(|group| ratio(&|own| own == *group)));
        if row[1].key.is_some() {
            table.rows.push(row);
        }
    }
    finished(table)
}

fn cell(ratio: &Ratio, is_reference: bool) -> Cell {
    if is_reference { Cell::number(1.0, "1".into()) } else { Cell::number(ratio.mean, ratio.text()) }
}

/// Sorts by the first number. A table of the reference alone says nothing.
fn finished(mut table: Table) -> Table {
    if table.rows.len() < 2 {
        table.rows.clear();
    }
    table.rows.sort_by(|a, b| a[1].key.unwrap_or(f64::INFINITY).total_cmp(&b[1].key.unwrap_or(f64::INFINITY)));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::yardstick::Trace;

    #[test]
    fn rows_and_groups_by_hand() {
        let trace = |method, problem, group, bests: &[f64]| {
            let (bests, outcome) = (bests.to_vec(), Default::default());
            Trace { method, problem, group, seed: 0, mask: false, bests, optimum: Some(0.0), outcome }
        };
        let slow = [8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 0.0];
        let fast = [8.0, 8.0, 8.0, 0.0];
        let traces = [
            trace(0, 0, Group::Binary, &slow),
            trace(1, 0, Group::Binary, &fast),
            trace(0, 1, Group::Boards, &fast),
            trace(1, 1, Group::Boards, &slow),
        ];
        let (field, methods) = (Field::new(&traces), ["trimtab", "rival", "absent"].map(String::from));
        let texts = |table: Table| -> Vec<Vec<String>> {
            table.rows.into_iter().map(|row| row.into_iter().map(|cell| cell.text).collect()).collect()
        };
        // Half as many on bits; twice as many on boards, where the reference has nothing left to
        // gain after 4, so that all targets are the best known.
        let rows = texts(groups(&field, &methods, 0));
        assert_eq!(rows, [["trimtab", "1", "1", "1"], ["rival", "1.00 (0.50–2.00)", "0.50", "2.00"]]);
        let rows = texts(ratios(&field, &methods, 0));
        assert_eq!(rows[1][1..3], ["1.00 (0.50–2.00)", "1.00 (0.50–2.00)"]);
        assert_eq!((rows.len(), rows[1].last().unwrap().as_str()), (2, "2"));
        assert!(ratios(&field, &methods, 2).rows.is_empty());
    }
}
