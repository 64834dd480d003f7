//! What an image streams over its serial port is a run that this machine repeats, bit by bit.

use std::fs;
use std::path::{Path, PathBuf};

use trimtab_firmware::relays::{OBSERVATIONS, RelayTuner, space};
use trimtab_firmware::telemetry::{Checked, check};
use trimtab_tests::image::{Image, Profile};
use trimtab_tests::qemu::Session;

/// A file of one test's own, gone when the test ends.
struct Uart(PathBuf);

impl Uart {
    fn new(name: &str) -> Self {
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.uart", std::process::id())))
    }
}

impl Drop for Uart {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What an image sends while it runs.
fn sent(name: &str) -> Vec<u8> {
    let uart = Uart::new(name);
    let elf = Image::find(name).and_then(|image| image.build(Profile::Release)).unwrap();
    let session = Session { uart: Some(&uart.0), ..Session::default() };
    session.run(&elf, &mut |_| ()).unwrap().success().unwrap();
    fs::read(&uart.0).unwrap()
}

#[test]
fn relays() {
    let stream = sent("stream");
    let checked = check(&mut Box::new(RelayTuner::new()), &space().unwrap(), &stream);
    let whole = Checked { runs: 1, proposals: OBSERVATIONS as u32, ..Checked::default() };
    assert_eq!(checked, Ok(whole));
}
