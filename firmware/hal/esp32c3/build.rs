//! Tells the linker how to lay out the image: by esp-hal's script, and defmt's for the log.

fn main() {
    for argument in ["-Tlinkall.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
