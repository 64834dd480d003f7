//! The firmware's images: which there are, how to build one, and its bytes of flash and RAM.
//!
//! **Choices.** Cargo is the only list: bins, their features and the built file come from its
//! metadata and messages, so a new bin is found by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use object::{Object as _, ObjectSection as _};
use serde_json::Value;

use crate::board::{Board, Channel, STM32F405};
use crate::workspace;

/// The default board's target: a Cortex-M4 with single-precision floating-point unit.
pub const TARGET: &str = STM32F405.target;

/// The package that holds the images.
pub const PACKAGE: &str = "trimtab-firmware";

/// How to build an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Without optimization, with overflow checks.
    Debug,
    /// As flashed.
    Release,
}

impl Profile {
    /// Cargo's name of the profile.
    pub fn name(self) -> &'static str {
        match self {
            // `arguments` sets `opt-level = 0`. Sharing `dev` shares its macros and build scripts.
            Self::Debug => "dev",
            Self::Release => "firmware",
        }
    }

    /// Cargo's arguments.
    fn arguments(self) -> Vec<String> {
        let level = (self == Self::Debug).then(|| ["--config".into(), "profile.dev.opt-level=0".into()]);
        [["--profile".into(), self.name().into()]].into_iter().chain(level).flatten().collect()
    }
}

/// A program for the chip.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its name.
    pub name: String,
    /// Its kind in cargo: `bin` or `example`.
    pub kind: String,
    /// The first line of its documentation.
    pub about: String,
    features: Vec<String>,
}

impl Image {
    /// Whether it runs on any board, and not on one with a device that others do not have.
    pub fn is_for_any_board(&self) -> bool {
        !self.features.iter().any(|feature| feature == "microbit")
    }

    /// All images of the firmware.
    pub fn all() -> Result<Vec<Self>> {
        let package = workspace::package(PACKAGE)?;
        let targets = package["targets"].as_array().context("cargo lists no targets")?;
        Ok(targets.iter().filter_map(Self::from_metadata).collect())
    }

    /// The image of this name. The error lists all images.
    pub fn find(name: &str) -> Result<Self> {
        let mut all = Self::all()?;
        match all.iter().position(|image| image.name == name) {
            Some(position) => Ok(all.swap_remove(position)),
            None => bail!("the firmware has no image `{name}`. There are:\n\n{}", list(&all)),
        }
    }

    fn from_metadata(target: &Value) -> Option<Self> {
        let kind = target["kind"][0].as_str().filter(|kind| matches!(*kind, "bin" | "example"))?;
        let features = target["required-features"].as_array().into_iter().flatten();
        let source = fs::read_to_string(target["src_path"].as_str()?).ok()?;
        let about = source.lines().find_map(|line| line.strip_prefix("//! ")).unwrap_or_default();
        Some(Self {
            name: target["name"].as_str()?.into(),
            kind: kind.into(),
            about: about.into(),
            features: features.filter_map(|feature| feature.as_str().map(String::from)).collect(),
        })
    }

    /// The command that builds the image for the default board.
    pub fn build_command(&self, profile: Profile) -> Command {
        self.build_command_for(STM32F405, profile)
    }

    /// The command that builds the image for a board.
    pub fn build_command_for(&self, board: Board, profile: Profile) -> Command {
        self.build_command_over(board, board.channel(), profile)
    }

    /// The command that builds the image for a board and, if it only logs, for this channel.
    pub fn build_command_over(&self, board: Board, channel: Channel, profile: Profile) -> Command {
        let mut command = workspace::cargo();
        // Nobody builds these twice while editing.
        command.env("CARGO_INCREMENTAL", "0");
        command.args(["build", "--package", PACKAGE, "--target", board.target]).args(profile.arguments());
        command.args([&format!("--{}", self.kind), &self.name]);
        let logs = self.features.iter().any(|feature| feature == "log");
        let own = self.features.iter().map(String::as_str).chain([board.name]);
        let features = own.chain(logs.then_some(channel.name())).collect::<Vec<_>>().join(",");
        command.args(["--no-default-features", "--features", &features]);
        command
    }

    /// Builds the image for the default board and returns its path. Cargo's progress goes to
    /// standard error.
    pub fn build(&self, profile: Profile) -> Result<PathBuf> {
        self.build_for(STM32F405, profile)
    }

    /// Builds the image for a board and returns its path. Images of all boards of a target share a
    /// file.
    pub fn build_for(&self, board: Board, profile: Profile) -> Result<PathBuf> {
        self.build_over(board, board.channel(), profile)
    }

    /// Builds the image for a board and, if it only logs, for this channel.
    pub fn build_over(&self, board: Board, channel: Channel, profile: Profile) -> Result<PathBuf> {
        self.built_by(self.build_command_over(board, channel, profile))
            .with_context(|| format!("no {} for {}", self.name, board.name))
    }

    /// Builds the image for a board with this variable in the environment.
    pub fn build_with(&self, board: Board, profile: Profile, variable: Option<(&str, &str)>) -> Result<PathBuf> {
        let mut command = self.build_command_for(board, profile);
        command.envs(variable);
        self.built_by(command).with_context(|| format!("no {} for {}", self.name, board.name))
    }

    /// Builds the image for the default board as flashed, but at this `opt-level`, in the syntax of
    /// cargo's configuration.
    pub fn build_at(&self, level: &str) -> Result<PathBuf> {
        let mut command = self.build_command(Profile::Release);
        command.args(["--config", &format!("profile.{}.opt-level={level}", Profile::Release.name())]);
        self.built_by(command).with_context(|| format!("no {} at opt-level {level}", self.name))
    }

    fn built_by(&self, mut command: Command) -> Result<PathBuf> {
        command.args(["--message-format", "json-render-diagnostics"]);
        let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
        let name = &self.name;
        ensure!(output.status.success(), "building {name} failed; if the target is missing: cargo xtask setup");
        let messages = String::from_utf8(output.stdout)?;
        let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut paths = artifacts.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
        paths.next().with_context(|| format!("cargo built {name} but named no file"))
    }
}

/// The bins, one per line, with what each does.
pub fn list(images: &[Image]) -> String {
    let bins = images.iter().filter(|image| image.kind == "bin");
    bins.map(|image| format!("  {:<14}{}\n", image.name, image.about)).collect()
}

/// Bytes of an image, section by section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Addresses of the exception and interrupt handlers, fixed by the chip.
    pub vectors: u64,
    /// Code.
    pub text: u64,
    /// Constants.
    pub rodata: u64,
    /// Variables that do not start as zero: in RAM, with their initial values in flash.
    pub data: u64,
    /// Variables that start as zero, in RAM alone.
    pub bss: u64,
}

impl Sizes {
    /// Reads the sizes from a built image.
    pub fn of(elf: &Path) -> Result<Self> {
        let bytes = fs::read(elf).with_context(|| format!("cannot read {}", elf.display()))?;
        let file = object::File::parse(&*bytes)?;
        let size = |name| file.section_by_name(name).map_or(0, |section| section.size());
        ensure!(size(".text") > 0, "{} has no code", elf.display());
        Ok(Self {
            vectors: size(".vector_table"),
            text: size(".text"),
            rodata: size(".rodata"),
            data: size(".data"),
            bss: size(".bss"),
        })
    }
}
