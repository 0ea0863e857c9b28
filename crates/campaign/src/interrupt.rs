//! Ctrl-C and its relatives.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// Exit code of a campaign that was interrupted twice.
const ABORTED: i32 = 2;

/// Signals are the process's, so this is, too.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// A flag that the first interrupt sets; the second one ends the process at once.
pub fn stop_on_signals() -> io::Result<&'static AtomicBool> {
    if let Some(stop) = STOP.get() {
        return Ok(stop);
    }
    let stop = STOP.get_or_init(|| Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the flag is still unset when the first signal passes the conditional
        // shutdown.
        flag::register_conditional_shutdown(signal, ABORTED, Arc::clone(stop))?;
        flag::register(signal, Arc::clone(stop))?;
    }
    Ok(stop)
}
