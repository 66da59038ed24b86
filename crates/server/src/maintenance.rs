//! Upkeep in the background: old versions, checkpoints, dropped tables, old log files.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::{Condvar, Mutex};
use selkie_binlog::LogPosition;
use selkie_engine::Timestamp;
use selkie_session::instance::Instance;

/// How often old versions are let go.
const OLDEST_INTERVAL: Duration = Duration::from_millis(100);
/// A checkpoint follows so much log: what a restart has to replay.
const CHECKPOINT_LOG_BYTES: u64 = 64 << 20;
/// Or so much time, if anything was written.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(60);
/// How often old log files are looked for.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(60);
/// Room on the disk that is kept for what the engine has yet to write of commits already made: this, and a quarter of its
/// cache, but never more than the second number. An engine that meets a full disk itself must end.
const DISK_RESERVE_BYTES: (u64, u64) = (32 << 20, 1 << 30);
/// How long to wait after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// The upkeep thread. It ends when this is dropped.
pub struct Maintenance {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Stop {
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Maintenance {
    /// Starts the thread. `keeps_checkpoints`: the engine still has its checkpoints after a restart.
    pub fn start(instance: Arc<Instance>, keeps_checkpoints: bool) -> std::io::Result<Maintenance> {
        let stop = Arc::new(Stop::default());
        let mut upkeep = Upkeep::new(instance, keeps_checkpoints);
        let stopped = stop.clone();
        let run = move || {
            let mut stop = stopped.stopped.lock();
            while !*stop {
                parking_lot::MutexGuard::unlocked(&mut stop, || upkeep.step());
                if !*stop {
                    stopped.changed.wait_for(&mut stop, OLDEST_INTERVAL);
                }
            }
        };
        let thread = std::thread::Builder::new().name("maintenance".into()).spawn(run)?;
        Ok(Maintenance { stop, thread: Some(thread) })
    }
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        *self.stop.stopped.lock() = true;
        self.stop.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the maintenance thread ended by an internal error");
        }
    }
}

struct Upkeep {
    instance: Arc<Instance>,
    keeps_checkpoints: bool,
    checkpoint_at: Timestamp,
    /// `None`: since the start there was none.
    checkpoint_time: Option<Instant>,
    expiry_time: Instant,
    not_before: Instant,
    disk_low: bool,
}

impl Upkeep {
    fn new(instance: Arc<Instance>, keeps_checkpoints: bool) -> Upkeep {
        let checkpoint_at = instance.txns.engine.recovered();
        let now = Instant::now();
        Upkeep {
            instance,
            keeps_checkpoints,
            checkpoint_at,
            // What recovery replayed need not be replayed by the next one: a checkpoint is due at once.
            checkpoint_time: None,
            expiry_time: now,
            not_before: now,
            disk_low: false,
        }
    }

    fn step(&mut self) {
        if Instant::now() < self.not_before {
            return;
        }
        if let Err(why) = self.all() {
            if self.instance.txns.pipeline.poisoned().is_none() {
                tracing::error!("maintenance: {why}");
            }
            self.not_before = Instant::now() + RETRY_INTERVAL;
        }
    }

    /// Refuses commits while the disk is nearly full, so that the engine never finds it full.
    fn watch_disk(&mut self) {
        let Ok(disk) = rustix::fs::statvfs(&self.instance.datadir) else { return };
        let cache = self.instance.globals.read().u64("innodb_buffer_pool_size");
        let reserve = (DISK_RESERVE_BYTES.0 + cache / 4).min(DISK_RESERVE_BYTES.1);
        let low = disk.f_bavail.saturating_mul(disk.f_frsize) < reserve;
        if low != self.disk_low {
            self.disk_low = low;
            let datadir = self.instance.datadir.display().to_string();
            if low {
                tracing::error!("the disk of {datadir} is nearly full: commits are refused until there is room");
            } else {
                tracing::info!("the disk of {datadir} has room again");
            }
            self.instance.txns.pipeline.refuse(low.then_some(datadir));
        }
    }

    fn all(&mut self) -> Result<(), String> {
        if self.keeps_checkpoints {
            self.watch_disk();
        }
        let txns = &self.instance.txns;
        match txns.advance_oldest() {
            Err(selkie_txn::TxnError::Engine(selkie_engine::EngineError::Closed)) => {
                txns.pipeline.poison("the storage engine has failed; the server ends and recovers at its next start".into());
                self.instance.request_shutdown();
                return Err("the storage engine has failed".into());
            }
            other => other.map_err(|e| e.to_string())?,
        };
        let written = txns.pipeline.ordered();
        let due = written.saturating_sub(self.checkpoint_at) >= CHECKPOINT_LOG_BYTES
            || written > self.checkpoint_at
                && self.checkpoint_time.is_none_or(|at| at.elapsed() >= CHECKPOINT_INTERVAL);
        if due && self.keeps_checkpoints {
            self.checkpoint(written)?;
        }
        if self.keeps_checkpoints && self.expiry_time.elapsed() >= EXPIRY_INTERVAL {
            self.expiry_time = Instant::now();
            self.expire_logs()?;
        }
        Ok(())
    }

    fn checkpoint(&mut self, written: Timestamp) -> Result<(), String> {
        let txns = &self.instance.txns;
        let started = Instant::now();
        let at = txns.checkpoint().map_err(|e| e.to_string())?;
        txns.pipeline.with_log(|l| l.log().note_checkpoint(LogPosition(at))).map_err(|e| e.to_string())?;
        // What was written meanwhile counts for the next one.
        self.checkpoint_at = written.min(at.max(self.checkpoint_at));
        self.checkpoint_time = Some(Instant::now());
        txns.engine.drop_pending().map_err(|e| e.to_string())?;
        tracing::debug!("checkpoint at {at} in {:?}", started.elapsed());
        Ok(())
    }

    /// Removes log files that are older than `binlog_expire_logs_seconds` or `expire_logs_days` says.
    fn expire_logs(&self) -> Result<(), String> {
        let (seconds, days) = {
            let globals = self.instance.globals.read();
            (globals.u64("binlog_expire_logs_seconds"), globals.get("expire_logs_days").parse().unwrap_or(0.0))
        };
        let age = if seconds > 0 { Duration::from_secs(seconds) } else { Duration::from_secs_f64(days * 86_400.0) };
        let Some(limit) = SystemTime::now().checked_sub(age).filter(|_| !age.is_zero()) else { return Ok(()) };
        let watch = self.instance.txns.pipeline.with_log(|l| l.log().watch());
        let files = watch.files();
        let recent = |name: &str| {
            // A file that cannot be looked at is not removed.
            let modified = std::fs::metadata(self.instance.datadir.join(name)).and_then(|m| m.modified());
            modified.map_or(true, |at| at >= limit)
        };
        let Some(first_kept) = files.iter().find(|f| recent(&f.name)).or(files.last()) else { return Ok(()) };
        if files.first().is_some_and(|f| f.name == first_kept.name) {
            return Ok(());
        }
        let purged = self.instance.txns.pipeline.with_log(|l| l.log().purge_to(&first_kept.name, |_| false));
        for file in purged.map_err(|e| e.to_string())? {
            tracing::info!("log file '{}' has expired and was removed", file.name);
        }
        Ok(())
    }
}
