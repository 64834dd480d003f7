//! Every program on a real HAL builds and links as it would be flashed, and keeps clear of its journal.

use std::fs;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionFlags};
use trimtab_tests::hal::PROGRAMS;
use trimtab_tests::{golden, root};

/// The value of a linker symbol.
fn symbol(file: &object::File<'_>, name: &str) -> Option<u64> {
    file.symbols().find(|symbol| symbol.name() == Ok(name)).map(|symbol| symbol.address())
}

#[test]
fn each_builds_and_its_image_ends_before_its_journal() {
    for program in PROGRAMS {
        program.cargo(&["fmt", "--check"]).unwrap();
        let bytes = fs::read(program.build().unwrap()).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let chip = program.chip;
        // The place of the log on an ESP32 is in its partition table, beside the image by design.
        if chip == "esp32c3" {
            continue;
        }
        let flash = if chip.starts_with("rp") { 0x1000_0000 } else { symbol(&file, "__vector_table").unwrap() };
        let (start, end) = (symbol(&file, "_journal_start").unwrap(), symbol(&file, "_journal_end").unwrap());
        assert!(start < end && (end - start) % 8192 == 0, "{chip}: {start:#x}..{end:#x}");
        let mut seen = 0;
        for section in file.sections().filter(|section| section.size() > 0) {
            let SectionFlags::Elf { sh_flags } = section.flags() else { panic!("an image is an ELF file") };
            // SHF_ALLOC, below RAM: the section takes flash.
            if sh_flags & 2 != 0 && section.address() < 0x2000_0000 {
                assert!(section.address() + section.size() <= flash + start, "{chip}: {:?}", section.name());
                seen += 1;
            }
        }
        assert!(seen >= 3, "{chip}: only {seen} sections in flash");
    }
}

#[test]
fn each_is_short() {
    for program in PROGRAMS {
        let lines = fs::read_to_string(program.folder().join("src/main.rs")).unwrap().lines().count();
        assert!((30..80).contains(&lines), "{}: {lines} lines", program.chip);
    }
}

#[test]
fn the_guide_shows_one_and_names_all() {
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let guide = text("firmware/docs/guide.md");
    let shown = guide.split("```rust\n").find(|part| part.contains("embassy_stm32")).unwrap();
    let [expected, got]: [Vec<_>; 2] = [
        text("firmware/hal/stm32f411/src/main.rs").lines().map(String::from).collect(),
        shown.split("```").next().unwrap().lines().map(String::from).collect(),
    ];
    assert_eq!(golden::first_difference(&expected, &got), None);
    for program in PROGRAMS {
        for word in [format!("`firmware/hal/{}`", program.chip), format!("`{}`", program.target)] {
            assert!(guide.contains(&word), "firmware/docs/guide.md does not name {word}");
        }
    }
}
