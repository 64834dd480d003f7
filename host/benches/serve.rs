//! The time of an ask and a tell through `trimtab serve`, beside Optuna's TPE on the same problem.
//!
//! 24 binary knobs; the cost is a sum over pairs of them with weights of both signs. The real
//! binary is driven over its pipes, one process per row, so a time includes the tuner,
//! JSON and two process switches. Optuna's times, measured inside its own process
//! (`optuna_tpe.py`), do not. Optuna is installed from PyPI into cargo's target directory; without
//! Python or a network it is left out, and a line says so.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

const KNOBS: usize = 24;
const SEED: u64 = 1;
/// Evaluations, and most milliseconds for a mean ask and tell.
const BARS: [(usize, f64); 2] = [(100, 2.0), (500, 20.0)];
const OPTUNA: &str = "optuna==5.0.0";

/// The result of a run.
struct Row {
    milliseconds: f64,
    best: f64,
}

fn main() {
    // `cargo test --benches` only checks that it runs.
    let is_test = !std::env::args().any(|word| word == "--bench");
    let rows = if is_test { vec![(10, f64::INFINITY)] } else { BARS.to_vec() };
    let optuna = if is_test { Err("not asked in a test".into()) } else { install() };
    if let Err(why) = &optuna {
        println!("Optuna is left out: {why}\n");
    }
    println!("{KNOBS} binary knobs, seed {SEED}; mean milliseconds of an ask and a tell\n");
    println!("| evaluations | trimtab serve | bar | Optuna TPE | best of trimtab | best of Optuna |");
    println!("|---:|---:|---:|---:|---:|---:|");
    for (evaluations, bar) in rows {
        let own = serve(evaluations);
        let other = optuna.as_ref().ok().and_then(|python| tpe(python, evaluations));
        let shown = |value: Option<f64>, digits: usize| value.map_or("-".into(), |value| format!("{value:.digits$}"));
        println!(
            "| {evaluations} | {:.3}{} | {bar} | {} | {:.3} | {} |",
            own.milliseconds,
            if own.milliseconds < bar { "" } else { " (too slow)" },
            shown(other.as_ref().map(|row| row.milliseconds), 3),
            own.best,
            shown(other.as_ref().map(|row| row.best), 3),
        );
    }
}

/// The same in `optuna_tpe.py`.
fn cost(bits: &[f64]) -> f64 {
    let pairs = (0..KNOBS).flat_map(|i| [1, 7].map(|step| (i, (i + step) % KNOBS, step)));
    let weight = |i: usize, step: usize| ((i * 7919 + step * 104_729) % 17) as f64 / 8.0 - 1.0;
    pairs.map(|(i, j, step)| weight(i, step) * (2.0 * bits[i] - 1.0) * (2.0 * bits[j] - 1.0)).sum()
}

fn serve(evaluations: usize) -> Row {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trimtab"));
    let mut child = command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut line = String::new();
    let mut call = |message: String| -> String {
        to.write_all(message.as_bytes()).unwrap();
        line.clear();
        from.read_line(&mut line).unwrap();
        assert!(!line.starts_with("{\"error\""), "{line}");
        line.clone()
    };
    let names: Vec<_> = (0..KNOBS).map(|i| format!("b{i}")).collect();
    let knobs: Value = names.iter().map(|name| json!({"name": name, "levels": [0, 1], "kind": "nominal"})).collect();
    call(format!("{}\n", json!({"op": "init", "knobs": knobs, "seed": SEED, "budget": evaluations})));
    let (mut seconds, mut best) = (0.0, f64::INFINITY);
    for _ in 0..evaluations {
        let before = Instant::now();
        let asked = call("{\"op\":\"ask\"}\n".into());
        seconds += before.elapsed().as_secs_f64();
        let asked: Value = serde_json::from_str(&asked).unwrap();
        let bits: Vec<_> = names.iter().map(|name| asked["config"][name].as_f64().unwrap()).collect();
        let value = cost(&bits);
        best = value.min(best);
        let message = format!("{}\n", json!({"op": "tell", "id": asked["id"], "value": value}));
        let before = Instant::now();
        call(message);
        seconds += before.elapsed().as_secs_f64();
    }
    drop(to);
    child.wait().unwrap();
    Row { milliseconds: seconds / evaluations as f64 * 1e3, best }
}

/// Python with Optuna.
fn install() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("optuna");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python3" });
    let run = |command: &mut Command| match command.stdout(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
        Err(error) => Err(error.to_string()),
    };
    if run(Command::new(&python).args(["-c", "import optuna"])).is_ok() {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))
        .map_err(|error| format!("no python3 with venv: {error}"))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", OPTUNA]))
        .map_err(|error| format!("pip did not install {OPTUNA}: {error}"))?;
    Ok(python)
}

fn tpe(python: &Path, evaluations: usize) -> Option<Row> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/optuna_tpe.py");
    let mut command = Command::new(python);
    let output =
        command.arg(script).args([KNOBS.to_string(), evaluations.to_string(), SEED.to_string()]).output().ok()?;
    match serde_json::from_slice::<Value>(&output.stdout) {
        Ok(row) => Some(Row { milliseconds: row["milliseconds"].as_f64()?, best: row["best"].as_f64()? }),
        Err(_) => {
            println!("Optuna failed: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
    }
}
