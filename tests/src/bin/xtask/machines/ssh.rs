//! A rack of boards over ssh: five names of this machine, one of them a board that is switched off.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::{Place, done, install, port, same_race, wait_for};

const HOW_TO_GET: &str = "install GNU parallel and OpenSSH's server and client";
/// Debian's place; it is not on everybody's path.
const SSHD: &str = "/usr/sbin/sshd";
/// Where the server wants an empty folder when it runs as root.
const EMPTY: &str = "/run/sshd";

/// Installs what is missing, and tries whether a server starts and lets us in.
pub(super) fn prepare() -> Result<()> {
    for (program, question, package) in
        [("ssh", "-V", "openssh-client"), (SSHD, "-?", "openssh-server"), ("parallel", "--version", "parallel")]
    {
        if Command::new(program).arg(question).output().is_err() {
            install(&[package], HOW_TO_GET)?;
        }
    }
    Rack::start()?.place.output(&["ssh", "board1", "true"]).map(drop)
}

/// Boards 1, 2, 4 and 5 are there; nothing listens where board 3 should be.
struct Rack {
    place: Place,
    ports: Vec<u16>,
    made: bool,
}

impl Rack {
    fn start() -> Result<Self> {
        let mut place = Place::new("ssh")?;
        let folder = place.folder.display().to_string();
        for key in ["host", "user"] {
            done(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(place.path(key)))?;
        }
        let ports = (0..5).map(|_| port()).collect::<Result<Vec<_>>>()?;
        let listen: String =
            ports.iter().enumerate().filter(|(i, _)| *i != 2).map(|(_, port)| format!("Port {port}\n")).collect();
        // A board begins in its own folder and knows its own number, by its port. `trimtab` is on its path.
        let begin = format!(
            "cd {folder}; PATH={folder}/bin:$PATH; export BOARD=${{SSH_CONNECTION##* }}; eval \"$SSH_ORIGINAL_COMMAND\""
        );
        fs::write(
            place.path("sshd_config"),
            format!(
                "{listen}ListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nPidFile none\n\
                 UsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nStrictModes no\nMaxStartups 64\n\
                 ForceCommand {begin}\n"
            ),
        )?;
        let mut hosts = String::new();
        for (i, port) in ports.iter().enumerate() {
            hosts += &format!("Host board{0} host{0}\n  Port {port}\n", i + 1);
        }
        hosts += &format!(
            "Host *\n  HostName 127.0.0.1\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n  BatchMode yes\n  LogLevel ERROR\n  \
             UserKnownHostsFile {folder}/known\n  StrictHostKeyChecking no\n  ConnectTimeout 10\n"
        );
        fs::write(place.path("ssh_config"), hosts)?;
        place.script("bin/ssh", &format!("#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh_config \"$@\"\n"))?;
        let path = std::env::var("PATH").unwrap_or_default();
        place.environment.push(("PATH", format!("{folder}/bin:{path}")));
        // GNU parallel keeps files there, and asks for a citation once.
        place.environment.push(("PARALLEL_HOME", place.path("parallel")));
        let made = !Path::new(EMPTY).exists() && fs::create_dir(EMPTY).is_ok();
        place.start(&[SSHD, "-D", "-e", "-f", &place.path("sshd_config")])?;
        let rack = Self { place, ports, made };
        let mut said = String::new();
        let is_up = || match rack.place.output(&["ssh", "board1", "true"]) {
            Ok(_) => Ok(true),
            Err(error) => {
                said = format!("{error:#}");
                Ok(false)
            }
        };
        let waited = wait_for("answer of the ssh server on loopback", Duration::from_secs(10), is_up);
        waited.map_err(|error| anyhow::anyhow!("{error}: {}", said.replace('\n', " ")))?;
        Ok(rack)
    }

    /// How often each board measured, since the last time.
    fn measured(&self) -> Result<Vec<usize>> {
        let file = self.place.folder.join("measured");
        let text = fs::read_to_string(&file)?;
        fs::remove_file(file)?;
        ensure!(!text.contains("busy"), "a board got two measurements at once");
        let count = |port: &u16| text.lines().filter(|line| *line == port.to_string()).count();
        Ok(self.ports.iter().map(count).collect())
    }
}

impl Drop for Rack {
    fn drop(&mut self) {
        if self.made {
            let _ = fs::remove_dir(EMPTY);
        }
    }
}

pub(super) fn run(program: &Path) -> Result<()> {
    let mut rack = Rack::start()?;
    rack.place.install(program)?;
    let place = &rack.place;
    // A board refuses a second measurement at a time, and writes down that it measured.
    let measure = fs::read_to_string(place.path("measure.sh"))?;
    let busy = "mkdir busy$BOARD || { echo busy >> measured; exit 9; }\ntrap 'rmdir busy$BOARD' EXIT\nsleep 0.05\necho $BOARD >> measured\n";
    place.script("measure.sh", &measure.replacen('\n', &format!("\n{busy}"), 1))?;
    a_rack_of_boards_over_ssh(&rack)?;
    rounds_of_gnu_parallel(&rack)?;
    a_race_over_gnu_parallel(&rack.place)?;
    println!("ssh: a rack with a dead board, rounds and a race over GNU parallel");
    Ok(())
}

/// One measurement at a time per board; what the dead board lost is measured elsewhere.
fn a_rack_of_boards_over_ssh(rack: &Rack) -> Result<()> {
    let out = rack.place.block("trimtab tune", &[("--jobs 30", "--jobs 5"), ("--budget 200", "--budget 40")])?;
    ensure!(out.contains("best      ") && out.contains("\n          ssh board1 ./measure.sh "), "{out}");
    let counts = rack.place.counts("run.jsonl")?;
    ensure!(counts["tell"] == 40 && counts["ask"] == 40 && !counts.contains_key("failed"), "{counts:?}");
    let measured = rack.measured()?;
    let others = [0, 1, 3, 4].map(|board| measured[board]);
    ensure!(measured[2] == 0 && others.iter().sum::<usize>() == 40 && others.iter().all(|n| *n >= 4), "{measured:?}");
    Ok(())
}

fn rounds_of_gnu_parallel(rack: &Rack) -> Result<()> {
    let out = rack.place.block("BOARDS=", &[("BOARDS=", "BUDGET=24 BOARDS="), ("board3", "board5")])?;
    ensure!(out.lines().count() == 1 && out.split_whitespace().count() == 4, "{out}");
    let measured = rack.measured()?;
    let others = [0, 1, 3, 4].map(|board| measured[board]);
    ensure!(measured[2] == 0 && others.iter().sum::<usize>() == 24 && others.iter().all(|n| *n >= 3), "{measured:?}");
    Ok(())
}

fn a_race_over_gnu_parallel(place: &Place) -> Result<()> {
    const RACE: &str = "--problem bqp --method trimtab,random --seeds 3 --budget 20";
    let replacements = [("--problem all --method all", RACE), ("seq 0 15", "seq 0 3"), ("/16", "/4")];
    place.block("seq 0 15", &replacements)?;
    let words = format!("trimtab bench {RACE} --quiet --out whole");
    place.output(&words.split(' ').collect::<Vec<_>>())?;
    ensure!(same_race(place, "runs", "whole")? == 6);
    Ok(())
}
