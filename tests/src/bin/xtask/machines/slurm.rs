//! A cluster of one machine: Slurm's controller and node daemons, four processors that it believes in.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use trimtab_tests::root;

use super::{EXAMPLES, LIMIT, Place, install, port, same_race, wait_for};
use crate::setup;

const HOW_TO_GET: &str = "install Slurm and munge: on Debian as root, apt-get install slurm-wlm munge";

const NEEDS_ROOT: &str = "Slurm's daemons need root to start jobs";

/// Installs what is missing, and tries whether the daemons start.
pub(super) fn prepare() -> Result<()> {
    ensure!(setup::is_root(), NEEDS_ROOT);
    let has = |program: &str| Command::new(program).arg("-V").output().is_ok();
    if !["slurmctld", "slurmd", "sbatch", "munged"].into_iter().all(has) {
        install(&["slurm-wlm", "munge"], HOW_TO_GET)?;
    }
    Cluster::start()?.place.output(&["srun", "--ntasks=1", "true"]).map(drop)
}

struct Cluster {
    place: Place,
}

impl Cluster {
    fn start() -> Result<Self> {
        ensure!(setup::is_root(), NEEDS_ROOT);
        let mut place = Place::new("slurm")?;
        let folder = place.folder.display().to_string();
        let hostname = place.output(&["hostname", "-s"])?.trim().to_string();
        for name in ["spool", "state"] {
            fs::create_dir(place.path(name))?;
        }
        place.output(&["sh", "-c", "umask 077; head -c 1024 /dev/urandom > munge.key"])?;
        let files = ["socket=munge.sock", "key-file=munge.key", "pid-file=munged.pid", "log-file=munged.log"];
        let files: Vec<String> =
            files.iter().map(|file| format!("--{}", file.replace('=', &format!("={folder}/")))).collect();
        let seed = format!("--seed-file={folder}/munge.seed");
        let words =
            [&["munged", "--foreground", "--force", &seed], &files.iter().map(String::as_str).collect::<Vec<_>>()[..]];
        place.start(&words.concat())?;
        let (controller, node) = (port()?, port()?);
        fs::write(
            place.path("slurm.conf"),
            format!(
                "ClusterName=trimtab\nSlurmctldHost={hostname}(127.0.0.1)\nSlurmctldPort={controller}\nSlurmdPort={node}\n\
                 CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\nAuthType=auth/munge\nAuthInfo=socket={folder}/munge.sock\n\
                 CredType=cred/munge\nSlurmUser=root\nSlurmdUser=root\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
                 SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nMpiDefault=none\nReturnToService=2\n\
                 StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\nSlurmctldPidFile={folder}/slurmctld.pid\n\
                 SlurmdPidFile={folder}/slurmd.pid\nSlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n\
                 SlurmdParameters=config_overrides\nNodeName={hostname} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN\n\
                 PartitionName=all Nodes={hostname} Default=YES OverSubscribe=YES State=UP\n"
            ),
        )?;
        place.environment.push(("SLURM_CONF", place.path("slurm.conf")));
        let soon = Duration::from_secs(15);
        wait_for("socket of munge", soon, || Ok(Path::new(&place.path("munge.sock")).exists()))?;
        place.start(&["slurmctld", "-D", "-f", &place.path("slurm.conf")])?;
        let cluster = Self { place };
        wait_for("answer of Slurm's controller", soon, || Ok(cluster.state().is_ok()))?;
        let Self { mut place } = cluster;
        place.start(&["slurmd", "-D", "-f", &place.path("slurm.conf")])?;
        let cluster = Self { place };
        wait_for("idle node of Slurm", soon, || Ok(cluster.state()?.trim() == "idle"))?;
        Ok(cluster)
    }

    fn state(&self) -> Result<String> {
        self.place.output(&["sinfo", "--noheader", "--format=%T"])
    }

    /// Submits a job and returns its number.
    fn submit(&self, words: &str) -> Result<String> {
        println!("$ sbatch {words}");
        let words: Vec<&str> = ["sbatch", "--parsable"].into_iter().chain(words.split(' ')).collect();
        Ok(self.place.output(&words)?.trim().to_string())
    }

    /// The jobs, tasks or steps that are not over, as `squeue` names them.
    fn queue(&self, options: &[&str]) -> Result<Vec<String>> {
        let text = self.place.output(&[&["squeue", "--noheader"], options].concat())?;
        Ok(text.lines().map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect())
    }

    fn wait_for_the_end(&self) -> Result<()> {
        wait_for("end of the jobs", LIMIT, || Ok(self.queue(&[])?.is_empty()))
    }
}

/// Before the daemons end, their jobs do.
struct Jobs<'a>(&'a Cluster);

impl Drop for Jobs<'_> {
    fn drop(&mut self) {
        if let Ok(jobs) = self.0.queue(&["--format=%A"]) {
            for job in jobs {
                let _ = self.0.place.output(&["scancel", "--signal=KILL", "--full", &job]);
                let _ = self.0.place.output(&["scancel", &job]);
            }
        }
        let _ = self.0.wait_for_the_end();
    }
}

pub(super) fn run(program: &Path) -> Result<()> {
    let mut cluster = Cluster::start()?;
    cluster.place.install(program)?;
    let jobs = Jobs(&cluster);
    a_race_by_slurm_with_a_worker_killed(&cluster)?;
    a_run_by_slurm_with_a_measurement_lost(&cluster)?;
    the_paper_by_slurm(&cluster, program)?;
    drop(jobs);
    println!(
        "Slurm: a race with a worker killed, a run with a measurement lost and its job killed, the paper's shares"
    );
    Ok(())
}

const RACE: &str = "--problem bqp,board --method trimtab,heat,random --seeds 8 --budget 40";
const RUNS: usize = 2 * 3 * 8;

/// Four workers, one of them killed; submitted again, all is there, and is what one process finds.
fn a_race_by_slurm_with_a_worker_killed(cluster: &Cluster) -> Result<()> {
    let place = &cluster.place;
    let written = || -> usize {
        let problems = ["bqp", "board"].map(|problem| fs::read_dir(place.folder.join("runs").join(problem)));
        let files = problems.into_iter().flatten().flatten().flatten();
        files.filter(|file| file.path().extension().is_some_and(|ending| ending == "jsonl")).count()
    };
    let job = cluster.submit(&format!("--array=0-3 bench.sbatch {RACE} --out runs"))?;
    wait_for("first run of the race", LIMIT, || Ok(written() > 0))?;
    place.output(&["scancel", "--signal=KILL", "--full", &format!("{job}_2")])?;
    cluster.wait_for_the_end()?;
    let before = written();
    ensure!((1..RUNS).contains(&before), "{before} of {RUNS} runs, though a worker was killed");
    place.block(
        "sbatch --wait bench.sbatch",
        &[("bench.sbatch --problem all --method all --mask both", &format!("--array=0-3 bench.sbatch {RACE}"))],
    )?;
    ensure!(written() == RUNS, "{} of {RUNS} runs", written());
    let words = format!("trimtab bench {RACE} --quiet --out whole");
    place.output(&words.split(' ').collect::<Vec<_>>())?;
    ensure!(same_race(place, "runs", "whole")? == RUNS);
    Ok(())
}

/// A measurement is cancelled, then the whole job; submitted again, the log goes on, and no combination is blamed.
fn a_run_by_slurm_with_a_measurement_lost(cluster: &Cluster) -> Result<()> {
    let place = &cluster.place;
    let measure = fs::read_to_string(place.path("measure.sh"))?;
    place.script(
        "measure.sh",
        &measure.replacen('\n', "\n[ -e fast ] || sleep 2\necho $SLURM_STEP_ID >> measured\n", 1),
    )?;
    let tells = || place.counts("run.jsonl").ok().and_then(|counts| counts.get("tell").copied()).unwrap_or(0);
    let environment = "--export=ALL,BUDGET=24";
    let job = cluster.submit(&format!("--ntasks=4 {environment} tune.sbatch"))?;
    wait_for("outcomes of the run", LIMIT, || Ok(tells() >= 4))?;
    let said = || fs::read_to_string(place.path(&format!("slurm-{job}.out")));
    let is_lost = || Ok(said()?.contains("to be measured again: exit code "));
    // A step that was about to end may have ended when it is cancelled: then the next one is.
    let cancel = || {
        let steps = cluster.queue(&["--steps", "--format=%i"])?;
        let number = |step: &String| step.rsplit('.').next().and_then(|number| number.parse::<u32>().ok());
        if let Some(step) = steps.iter().filter(|step| number(step).is_some()).max_by_key(|step| number(step)) {
            place.output(&["scancel", step])?;
        }
        Ok(wait_for("loss", Duration::from_secs(3), is_lost).is_ok())
    };
    wait_for("lost measurement", LIMIT / 4, cancel).with_context(|| said().unwrap_or_default())?;
    place.output(&["scancel", "--signal=KILL", "--full", &job])?;
    place.output(&["scancel", &job])?;
    cluster.wait_for_the_end()?;
    let counts = place.counts("run.jsonl")?;
    ensure!(counts["tell"] < 24 && counts["ask"] > counts["tell"] && !counts.contains_key("failed"), "{counts:?}");
    fs::write(place.path("fast"), "")?;
    place.block("sbatch --wait tune.sbatch", &[("--wait", &format!("--wait --ntasks=4 {environment}"))])?;
    let counts = place.counts("run.jsonl")?;
    ensure!(counts["tell"] == 24 && counts["ask"] == 24 && !counts.contains_key("failed"), "{counts:?}");
    let mut asked: Vec<String> = place
        .events("run.jsonl")?
        .iter()
        .filter(|line| line["event"] == "ask")
        .map(|line| line["config"].to_string())
        .collect();
    asked.sort();
    asked.dedup();
    ensure!(asked.len() == 24, "a combination was asked twice");
    Ok(())
}

/// Two of the paper's 594 quick runs, each a task of an array.
fn the_paper_by_slurm(cluster: &Cluster, program: &Path) -> Result<()> {
    let place = &cluster.place;
    let top = root().canonicalize()?;
    let (script, out) = (top.join(EXAMPLES).join("paper.sbatch"), place.path("paper"));
    cluster.submit(&format!(
        "--array=0,21 --export=ALL,SHARDS=594 --chdir={} --output={}/paper-%a.out {} --quick --out {out} --program {}",
        top.display(),
        place.folder.display(),
        script.display(),
        program.display()
    ))?;
    cluster.wait_for_the_end()?;
    for name in ["trimtab", "random"] {
        let run = place.folder.join(format!("paper/paper/thumbs-up/{name}-0-masked.jsonl"));
        let said = || fs::read_to_string(place.path("paper-0.out")).unwrap_or_default();
        let text = fs::read_to_string(&run).with_context(|| format!("no {}: {}", run.display(), said()))?;
        if text.lines().count() != 60 {
            bail!("{} has {} evaluations", run.display(), text.lines().count());
        }
    }
    Ok(())
}
