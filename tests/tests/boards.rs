//! Every board: its images build and fit its memory, and QEMU runs those it can.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs, process};

use object::{Object as _, ObjectSection as _, SectionFlags};
use trimtab::{Knob, Scale, fleet_fingerprint};
use trimtab_tests::board::{BOARDS, Board, MPS2_AN386, STM32F405};
use trimtab_tests::image::{Image, Profile};
use trimtab_tests::qemu::Session;
use trimtab_tests::{golden, root, template};

/// Images of all boards of a target share a file, so only one is built and examined at a time.
static BUILDING: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    BUILDING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn build(name: &str, board: Board) -> PathBuf {
    Image::find(name).and_then(|image| image.build_for(board, Profile::Release)).unwrap()
}

/// Runs an image, which must succeed, and returns its lines.
fn run(name: &str, board: Board) -> Vec<String> {
    let elf = build(name, board);
    Session { board, ..Session::default() }.run(&elf, &mut |_| ()).unwrap().success().unwrap()
}

/// A memory of a board's layout, by an independent reading of the linker script.
fn memory(board: &str, name: &str) -> Range<u64> {
    let layout = fs::read_to_string(root().join(format!("firmware/boards/{board}.x"))).unwrap();
    let line = layout.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    let after = |word: &str| line.split(word).nth(1).unwrap().trim_start_matches([' ', '=']);
    let origin = u64::from_str_radix(after("ORIGIN").split(',').next().unwrap().trim_start_matches("0x"), 16).unwrap();
    let kibibytes: u64 = after("LENGTH").trim_end().trim_end_matches('K').parse().unwrap();
    origin..origin + kibibytes * 1024
}

/// Checks that every section lies in flash or RAM, with the vectors first.
fn lies_in_memory(elf: &Path, board: &str) {
    let bytes = fs::read(elf).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let (flash, ram) = (memory(board, "FLASH"), memory(board, "RAM"));
    let mut seen = 0;
    for section in file.sections().filter(|section| section.size() > 0) {
        // SHF_ALLOC: the section takes memory on the chip.
        let SectionFlags::Elf { sh_flags } = section.flags() else { panic!("an image is an ELF file") };
        if sh_flags & 2 != 0 {
            let (name, begin) = (section.name().unwrap(), section.address());
            let end = begin + section.size();
            let is_within = |memory: &Range<u64>| memory.start <= begin && end <= memory.end;
            assert!(is_within(&flash) || is_within(&ram), "{board}: {name} at {begin:#x}..{end:#x}");
            seen += 1;
        }
    }
    assert!(seen >= 4, "{board}: only {seen} sections");
    let vectors = file.section_by_name(".vector_table").map(|section| section.address());
    assert_eq!(vectors, Some(flash.start), "{board}");
    if board == "rp2350" {
        // The boot ROM looks for the image's block in the first 4 KiB.
        let block = file.section_by_name(".start_block").unwrap();
        assert!(block.address() + block.size() <= flash.start + 4096);
        assert_eq!(block.data().unwrap()[..4], 0xFFFF_DED3_u32.to_le_bytes());
    }
}

#[test]
fn images_of_every_board_lie_where_its_memory_is() {
    let _guard = alone();
    for board in BOARDS.iter().copied().filter(|board| board.probe.is_some()) {
        lies_in_memory(&build("fetch", board), board.name);
    }
}

#[test]
fn the_layout_of_another_board_is_noticed() {
    let _guard = alone();
    let elf = build("rtic_style", STM32F405);
    let noticed = std::panic::catch_unwind(|| lies_in_memory(&elf, "nrf52840"));
    assert!(noticed.is_err());
}

#[test]
fn fetch_runs_on_both_machines_and_counts_the_same_whatever_the_setting() {
    let _guard = alone();
    // Knobs and settings as in the tables of `trimtab_firmware::chip`. The smaller space is
    // measured whole.
    for (board, knobs, settings, measured) in [(STM32F405, 7, 512, 32), (MPS2_AN386, 3, 8, 8)] {
        let lines = run("fetch", board);
        let says = |text: &str| lines.iter().any(|line| line.contains(text));
        assert!(says("this is QEMU: it counts instructions"), "{lines:#?}");
        assert!(says(&format!("{knobs} knobs, {settings} settings, {measured} measured, 0 failed")), "{lines:#?}");
        let count = |label: &str| {
            let line = lines.iter().find(|line| line.contains(label)).unwrap();
            let number = line.split(label).nth(1).unwrap().split_whitespace().next().unwrap();
            number.trim_end_matches(',').parse::<f32>().unwrap()
        };
        let (reset, best, worst) = (count("after reset: "), count("best found: "), count("worst: "));
        // An MPS2 counts in steps of 40.
        assert!(reset > 10_000.0 && (best - reset).abs() <= 40.0 && (worst - reset).abs() <= 40.0, "{lines:#?}");
    }
}

#[test]
fn parity_holds_on_a_machine_with_another_memory() {
    let _guard = alone();
    let lines = run("parity", MPS2_AN386);
    golden::check("parity.txt", &lines.join("\n"));
}

#[test]
fn slices_in_a_task_and_in_an_interrupt_give_the_same_bits() {
    let _guard = alone();
    for name in ["embassy", "rtic_style"] {
        let lines = run(name, STM32F405);
        assert!(lines.iter().any(|line| line.contains("24 proposals, the same bits")), "{name}: {lines:#?}");
    }
}

/// A folder outside the repository and its settings, removed at the end.
struct Elsewhere(PathBuf);

impl Elsewhere {
    fn new(name: &str) -> Self {
        Self(env::temp_dir().join(format!("trimtab-{name}-{}", process::id())))
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_copy_of_the_template_is_formatted_builds_and_runs() {
    let folder = Elsewhere::new("template");
    template::create(&folder.0).unwrap();
    let cargo = |words: &[&str]| {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // Reuses earlier builds.
        cargo.current_dir(&folder.0).env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("template"));
        let output = cargo.args(words).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo {}:\n{errors}", words.join(" "));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    cargo(&["fmt", "--check"]);
    let said = cargo(&["run", "--release"]);
    // As the guide shows: a best setting of the receiver is 0 off, and there are two of them.
    let guide = fs::read_to_string(root().join("firmware/docs/guide.md")).unwrap();
    assert!(said.contains("(0.0, Settings {") && guide.contains(said.trim()), "{said}");

    // With a prior, by the changes that its README lists.
    let (readme, main) = (folder.0.join("README.md"), folder.0.join("src/main.rs"));
    let changed = with_prior(&fs::read_to_string(&main).unwrap(), &fs::read_to_string(readme).unwrap());
    fs::write(&main, changed).unwrap();
    let bytes = prior().iter().map(|byte| format!("{byte}, ")).collect::<String>();
    let constant = format!("#[rustfmt::skip]\npub static PRIOR: [u8; {}] = [{bytes}];\n", prior().len());
    fs::write(folder.0.join("src/prior.rs"), constant).unwrap();
    cargo(&["fmt", "--check"]);
    let said = cargo(&["run", "--release"]);
    assert!(said.contains("(0.0, Settings { input: 1, gain: 6, picofarad: 47.0 })"), "{said}");

    let again = template::create(&folder.0).unwrap_err().to_string();
    assert!(again.contains("name a new folder"), "{again}");
}

/// The program after the changes in its README: lines with `-` become those with `+` after them.
fn with_prior(program: &str, readme: &str) -> String {
    let diff = readme.split("```diff\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut program = program.to_string();
    for change in diff.split("\n-").map(|change| change.trim_start_matches('-').trim_end()) {
        let (old, new) = change.split_once('\n').unwrap();
        let new: Vec<&str> = new.lines().map(|line| line.strip_prefix('+').unwrap()).collect();
        assert_eq!(program.matches(&format!("{old}\n")).count(), 1, "{old}");
        program = program.replace(&format!("{old}\n"), &format!("{}\n", new.join("\n")));
    }
    program
}

/// A prior of the template's knobs: one pseudo-point, which is its best.
fn prior() -> Vec<u8> {
    let knobs = [Knob::nominal(4), Knob::ranked(8), Knob::graded(&[10.0, 22.0, 47.0, 100.0, 220.0], Scale::Log)];
    let best = 1 | 6 << 2 | 2 << 5;
    let mut bytes = b"TTP2\0\0\0\0\0\x01\x06\0\x0a\0\0\0".to_vec();
    bytes.extend(fleet_fingerprint(&knobs).to_le_bytes());
    // Low, reach, centre, unit; the rest's variance, all of it by the product kernel; no noise; the mean's scale.
    for number in [0.0f32, 8.0, 0.5, 0.2, 0.5, 1.0, 1e-3, 0.0, 1e-3] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.push(best);
    bytes.extend((-1000i16).to_le_bytes());
    bytes.push(best);
    let length = (bytes.len() + 8) as u16;
    bytes[4..6].copy_from_slice(&length.to_le_bytes());
    let fnv = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    bytes.extend(sum.to_le_bytes());
    bytes
}

#[test]
fn the_guide_shows_the_template() {
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (guide, program) = (text("firmware/docs/guide.md"), text("firmware/template/src/main.rs"));
    let shown = guide.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let [expected, got]: [Vec<_>; 2] = [program.lines().collect(), shown.lines().collect()];
    assert_eq!(golden::first_difference(&expected, &got), None);
}

#[test]
fn boards_are_named_where_a_user_looks_for_them() {
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (embed, docs) = (text(".embed.toml"), text("firmware/docs/boards.md"));
    for board in BOARDS {
        assert!(root().join(format!("firmware/boards/{}.x", board.name)).is_file(), "{}", board.name);
        let Some(chip) = board.probe else { continue };
        let profile = format!("[{}.general]\nchip = \"{chip}\"\n", board.name);
        assert!(embed.contains(&profile), ".embed.toml has no\n{profile}");
        for word in [board.name, board.target, chip] {
            assert!(docs.contains(&format!("`{word}`")), "firmware/docs/boards.md does not name {word}");
        }
    }
}

/// Copies the sources of the workspace, without what was built.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        if ["target", "out", ".git", "docs", "corpus"].iter().any(|skipped| name == *skipped) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else if path.is_file() {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// What is flashed: the sections with a place in memory.
fn flashed(path: &Path) -> Vec<(String, u64, Vec<u8>)> {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let in_memory = |flags| matches!(flags, SectionFlags::Elf { sh_flags } if sh_flags & 2 != 0);
    let sections = file.sections().filter(|section| in_memory(section.flags()));
    sections.map(|s| (s.name().unwrap().into(), s.address(), s.data().unwrap().to_vec())).collect()
}

/// A customer who builds our sources in a folder of his own gets the bytes that we tested.
#[test]
fn an_image_has_the_same_bytes_wherever_it_is_built() {
    let _alone = alone();
    let image = Image::find("minimal").unwrap();
    let here = flashed(&image.build(Profile::Release).unwrap());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a folder elsewhere");
    let _ = fs::remove_dir_all(&folder);
    copy(&root(), &folder);
    let mut command = image.build_command(Profile::Release);
    let output = command.current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let built = folder.join("target").join(STM32F405.target).join(Profile::Release.name()).join("minimal");
    let there = flashed(&built);
    assert!(here.iter().map(|section| section.2.len()).sum::<usize>() > 1000, "nothing is flashed");
    for (here, there) in here.iter().zip(&there) {
        assert!(here == there, "section {} differs", here.0);
    }
    assert_eq!(here.len(), there.len());
    fs::remove_dir_all(&folder).unwrap();
}
