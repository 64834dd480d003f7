//! A little fuzzing without a fuzzer: files of the corpus as they are, changed, and random bytes.
//! Seeded, so that a failure repeats.

use std::path::Path;

/// Feeds a function with the files of `corpus/NAME`, `turns` changed ones and `turns` random ones.
pub(crate) fn run(name: &str, target: fn(&[u8]), turns: u64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus").join(name);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    // The order of a folder is anybody's guess.
    paths.sort();
    let files: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("a file of the corpus")).collect();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for file in &files {
        fed(name, target, file);
    }
    for _ in 0..turns {
        let file = files[random.below(files.len())].clone();
        let other = &files[random.below(files.len())];
        fed(name, target, &changed(file, other, &mut random));
        let length = random.below(64);
        let noise: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        fed(name, target, &noise);
    }
}

fn fed(name: &str, target: fn(&[u8]), bytes: &[u8]) {
    let _input = Input(name, bytes);
    target(bytes);
}

/// Shows the input of a target that panics.
struct Input<'a>(&'a str, &'a [u8]);

impl Drop for Input<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("target {}, input {:?}", self.0, self.1.escape_ascii().to_string());
        }
    }
}

/// Flips, cuts, inserts and repeats, one to four times.
fn changed(mut bytes: Vec<u8>, other: &[u8], random: &mut Random) -> Vec<u8> {
    for _ in 0..1 + random.below(4) {
        let place = random.below(bytes.len() + 1);
        match random.below(6) {
            0 => bytes.truncate(place),
            1 => bytes.insert(place, random.next() as u8),
            2 if place < bytes.len() => bytes[place] ^= 1 << random.below(8),
            3 if place < bytes.len() => drop(bytes.remove(place)),
            4 => {
                // A part of another file.
                let from = random.below(other.len() + 1);
                let to = from + random.below(other.len() - from + 1);
                drop(bytes.splice(place..place, other[from..to].iter().copied()));
            }
            _ => {
                let words: [&[u8]; 8] = [b"0", b"-", b"1e999", b"\"", b"\n", b"\0", b"{}", b"\xC3\xA9"];
                drop(bytes.splice(place..place, words[random.below(8)].iter().copied()));
            }
        }
    }
    bytes
}

/// xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
}
