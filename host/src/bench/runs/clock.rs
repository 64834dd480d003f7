//! The processor time of a thread.
//!
//! **Choices**
//! - A run is one thread, and a bench may have more threads than free cores: wall time would
//!   include the others.
//! - Linux, macOS and FreeBSD report the processor time of a thread. Windows counts it in steps of
//!   about 16 ms, so there and elsewhere the clock shows wall time.
//!
//! **Cost.** A system call, less than a microsecond.

use std::time::Duration;

/// This thread's processor time at the start. The same thread must read it.
pub(super) struct Clock(Duration);

impl Clock {
    pub(super) fn start() -> Self {
        Self(now())
    }

    /// Seconds since the start.
    pub(super) fn seconds(&self) -> f64 {
        now().saturating_sub(self.0).as_secs_f64()
    }
}

#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
fn now() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    // These systems have had this clock for ten years or more. Without it times would be 0, which
    // is visibly wrong.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
fn now() -> Duration {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
mod tests {
    use super::*;

    #[test]
    fn work_counts_and_sleep_does_not() {
        let clock = Clock::start();
        let wall = std::time::Instant::now();
        std::thread::sleep(Duration::from_millis(300));
        // A thread's processor time cannot exceed the wall time; asleep it does not advance.
        let asleep = clock.seconds();
        assert!(asleep < 0.5 * wall.elapsed().as_secs_f64(), "{asleep}");
        // Ends only if work counts.
        let mut state = 1u64;
        while clock.seconds() <= asleep + 1e-3 {
            state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
        assert!(clock.seconds() <= wall.elapsed().as_secs_f64());
    }
}
