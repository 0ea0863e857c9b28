//! Ctrl-C and its relatives.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// Exit code of a campaign that was interrupted twice.
const ABORTED: i32 = 2;

/// Signals are the process's, so this is, too.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Some send a signal to a process and then to its group: that is one interrupt.
const ONE_INTERRUPT: Duration = Duration::from_millis(500);

/// A flag that the first interrupt sets; a later one ends the process at once.
pub fn stop_on_signals() -> io::Result<&'static AtomicBool> {
    if let Some(stop) = STOP.get() {
        return Ok(stop);
    }
    let stop = STOP.get_or_init(|| Arc::new(AtomicBool::new(false)));
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register_conditional_shutdown(signal, ABORTED, Arc::clone(&is_over))?;
        flag::register(signal, Arc::clone(stop))?;
    }
    let first = Arc::clone(stop);
    std::thread::spawn(move || {
        while !first.load(Ordering::Relaxed) {
            std::thread::sleep(ONE_INTERRUPT / 10);
        }
        std::thread::sleep(ONE_INTERRUPT);
        is_over.store(true, Ordering::Relaxed);
    });
    Ok(stop)
}
