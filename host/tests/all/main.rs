//! `trimtab` end to end: the real binary, run as a user runs it. One test target, because each one
//! costs a link.

#[path = "../common/mod.rs"]
mod common;
#[path = "../peers/mod.rs"]
mod rivals;
#[path = "../synthetic/mod.rs"]
mod synthetic;

mod bench;
mod cli;
mod docs;
mod doors;
mod learn;
mod peers;
mod serve;
mod sizes;
mod trust;
mod tune;
mod watch;
