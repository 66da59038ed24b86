//! Signals: SIGTERM and SIGINT shut the server down, SIGHUP reopens its logs.

use std::sync::Arc;

use selkie_session::instance::Instance;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::error_log;

/// Listens to signals until this is dropped.
pub struct SignalThread(Handle);

impl SignalThread {
    /// Starts listening.
    pub fn start(instance: Arc<Instance>) -> std::io::Result<SignalThread> {
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        let handle = signals.handle();
        let run = move || {
            for signal in signals.forever() {
                if signal == SIGHUP {
                    error_log::reopen();
                    tracing::info!("SIGHUP: logs are reopened");
                } else if !instance.is_shutting_down() {
                    let name = if signal == SIGTERM { "SIGTERM" } else { "SIGINT" };
                    tracing::info!("selkie (initiated by: {name}): Normal shutdown");
                    instance.request_shutdown();
                }
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(run)?;
        Ok(SignalThread(handle))
    }
}

impl Drop for SignalThread {
    fn drop(&mut self) {
        self.0.close();
    }
}
