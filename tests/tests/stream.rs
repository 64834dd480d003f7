//! This machine repeats, bit by bit, the run that an image streams over its serial port: through a
//! reset, a flash that fills up, and an antenna that moves.

use std::fs;
use std::path::{Path, PathBuf};

use trimtab_embedded::telemetry::{Checked, check};
use trimtab_firmware::antenna::{self, AntennaTuner};
use trimtab_firmware::relays::{self, RelayTuner};
use trimtab_tests::golden;
use trimtab_tests::image::{Image, Profile};
use trimtab_tests::qemu::Session;

/// The exit code of a power cut.
const CUT: i32 = 3;

/// The folder of a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stream-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The stream of a boot that ends with this code.
    fn boot(&self, image: &str, code: i32) -> Vec<u8> {
        let elf = Image::find(image).and_then(|image| image.build(Profile::Release)).unwrap();
        let uart = self.0.join("uart");
        let session = Session { folder: Some(&self.0), uart: Some(&uart), ..Session::default() };
        let run = session.run(&elf, &mut |_| ()).unwrap();
        assert_eq!(run.code, Some(code), "{run:#?}");
        fs::read(uart).unwrap()
    }

    /// The same of the antenna tuner under faults.
    fn survival(&self, scenario: &str, code: i32) -> Vec<u8> {
        fs::write(self.0.join("scenario.txt"), scenario).unwrap();
        self.boot("survival", code)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn checked(stream: &[u8]) -> Checked {
    check(&mut Box::new(AntennaTuner::new()), &antenna::space(), stream).unwrap()
}

#[test]
fn relays_with_a_random_map() {
    let stream = Folder::new("relays").boot("stream", 0);
    let found = check(&mut Box::new(RelayTuner::new()), &relays::space().unwrap(), &stream);
    let whole = Checked { runs: 1, proposals: relays::OBSERVATIONS as u32, ..Checked::default() };
    assert_eq!(found, Ok(whole));
}

#[test]
fn an_antenna_that_moves() {
    // 120 measurements, a restart from the best of them, 40 more.
    let stream = Folder::new("moves").boot("antenna", 0);
    let found = checked(&stream);
    assert_eq!(found, Checked { runs: 2, proposals: 160, ..Checked::default() });
    // The page in a browser repeats this stream.
    golden::check_bytes("antenna.log", &stream);
}

#[test]
fn a_flash_that_fills_up_and_a_power_cut() {
    const SHORT: &str = "budget 40\nstay\nrecords 6\n";
    let folder = Folder::new("full");
    let found = checked(&folder.survival(SHORT, 0));
    // Five pages of six records: the tuner is rebuilt whenever a page is dropped.
    assert_eq!((found.proposals, found.unchecked, found.lost, found.garbled), (40, 0, 0, 0));
    assert!(found.runs >= 2, "{found:?}");

    // The last cut leaves one free slot in a full flash. The mark of the next boot takes it, and
    // the oldest page is dropped.
    for cut in ["20 half", "35 all", "39 nothing"] {
        let folder = Folder::new("cut");
        let first = folder.survival(&format!("{SHORT}cut {cut}\n"), CUT);
        let second = folder.survival(SHORT, 0);
        let (before, both) = (checked(&first), checked(&[&first[..], &second].concat()));
        assert!(before.runs >= 1 && before.proposals > 0 && before.proposals < 40, "{cut}: {before:?}");
        // The boot continues from the log and sends its records again; at most one measurement is
        // repeated.
        assert!(both.runs > before.runs && (39..=41).contains(&both.proposals), "{cut}: {both:?}");
        assert_eq!((both.unchecked, both.lost, both.garbled), (0, 0, 0), "{cut}");
    }
}
