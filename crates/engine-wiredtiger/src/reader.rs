//! Readers and cursors.
//!
//! A reader at a timestamp is a WiredTiger transaction with snapshot isolation and that read timestamp: one session, on
//! which `get` and all cursors work.
//!
//! A reader at the latest state has no transaction: outside one, WiredTiger takes a snapshot when a cursor is positioned
//! and keeps it while any cursor of the session is at a row. So `get` leaves its row at once, and every [`Cursor`] has a
//! session of its own, so that it is fresh whenever it is positioned.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;

use selkie_engine::{Cursor, EngineError, IndexId, ReadAt, Reader, Result};

use crate::handle::{RawCursor, RawRow};
use crate::session::PooledSession;
use crate::{Shared, sys};

pub(crate) struct WiredTigerReader {
    shared: Arc<Shared>,
    at: ReadAt,
    /// Whether the session is in a transaction: unless `Latest`, and unless the last `set_read_at` has failed.
    in_transaction: bool,
    session: RefCell<PooledSession>,
}

impl WiredTigerReader {
    pub(crate) fn new(shared: Arc<Shared>, at: ReadAt) -> Result<Self> {
        let session = RefCell::new(shared.readers.get()?);
        let mut reader = WiredTigerReader { shared, at, in_transaction: false, session };
        reader.begin()?;
        Ok(reader)
    }

    fn begin(&mut self) -> Result<()> {
        let ReadAt::At(timestamp) = self.at else { return Ok(()) };
        let oldest = self.shared.oldest();
        if timestamp < oldest {
            return Err(EngineError::SnapshotTooOld { requested: timestamp, oldest });
        }
        let session = self.session.get_mut();
        session.raw.begin()?;
        let code = session.raw.read_at(timestamp);
        if code != 0 {
            session.raw.rollback();
            let oldest = self.shared.oldest();
            return match code {
                // The oldest timestamp has moved meanwhile.
                libc::EINVAL if timestamp < oldest => Err(EngineError::SnapshotTooOld { requested: timestamp, oldest }),
                code => session.raw.check(code),
            };
        }
        self.in_transaction = true;
        Ok(())
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.in_transaction) {
            self.session.get_mut().raw.rollback();
        }
    }

    fn check_usable(&self) -> Result<()> {
        match self.at {
            ReadAt::At(requested) if !self.in_transaction => {
                Err(EngineError::SnapshotTooOld { requested, oldest: self.shared.oldest() })
            }
            _ => Ok(()),
        }
    }
}

impl Drop for WiredTigerReader {
    fn drop(&mut self) {
        self.end();
    }
}

impl Reader for WiredTigerReader {
    fn get_with(&self, index: IndexId, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.check_usable()?;
        // Borrowed during the callback too: a second `get` in there would move the cursor whose memory it is looking at.
        let mut session = self.session.borrow_mut();
        let cursor = session.point_cursor(index)?;
        if key.is_empty() {
            return Ok(false);
        }
        let code = cursor.search(key);
        if code == 0 {
            let row = cursor.row_value()?;
            // SAFETY: the cursor moves with the next point operation only, and the session is borrowed until the end.
            found(unsafe { row.value() });
        } else if code != sys::WT_NOTFOUND {
            return session.raw.check(code).map(|()| false);
        }
        if !self.in_transaction {
            session.raw.check(cursor.reset())?;
        }
        Ok(code == 0)
    }

    fn cursor(&self, index: IndexId) -> Result<Box<dyn Cursor + '_>> {
        self.check_usable()?;
        let mut own_session = match self.in_transaction {
            true => None,
            false => Some(self.shared.readers.get()?),
        };
        let raw = match &mut own_session {
            Some(session) => session.take_cursor(index)?,
            None => self.session.borrow_mut().take_cursor(index)?,
        };
        Ok(Box::new(WiredTigerCursor { reader: self, own_session, index, raw, row: None }))
    }

    fn read_at(&self) -> ReadAt {
        self.at
    }

    fn set_read_at(&mut self, at: ReadAt) -> Result<()> {
        if at == self.at && (self.in_transaction || at == ReadAt::Latest) {
            return Ok(());
        }
        self.end();
        self.at = at;
        self.begin()
    }
}

struct WiredTigerCursor<'r> {
    reader: &'r WiredTigerReader,
    /// Its own, or the reader's if this is `None`.
    own_session: Option<PooledSession>,
    index: IndexId,
    raw: RawCursor,
    /// Where it is. Valid until the next move of `raw`.
    row: Option<RawRow>,
}

impl WiredTigerCursor<'_> {
    /// Takes the row that a move has come to, or none.
    #[inline]
    fn arrive(&mut self, code: c_int) -> Result<bool> {
        match code {
            0 => {
                self.row = Some(self.raw.row()?);
                Ok(true)
            }
            sys::WT_NOTFOUND => {
                self.row = None;
                // Lets go of the page and, at the latest state, of the snapshot.
                self.check(self.raw.reset())?;
                Ok(false)
            }
            code => {
                self.row = None;
                self.check(code).map(|()| false)
            }
        }
    }

    fn check(&self, code: c_int) -> Result<()> {
        match &self.own_session {
            _ if code == 0 => Ok(()),
            Some(session) => session.raw.check(code),
            None => self.reader.session.borrow().raw.check(code),
        }
    }

    /// Before a positioning: at the latest state, lets go of the old snapshot.
    fn leave(&mut self) -> Result<()> {
        self.row = None;
        match self.own_session {
            Some(_) => self.check(self.raw.reset()),
            None => Ok(()),
        }
    }
}

impl Drop for WiredTigerCursor<'_> {
    fn drop(&mut self) {
        match &mut self.own_session {
            Some(session) => session.give_back(self.index, self.raw),
            None => self.reader.session.borrow_mut().give_back(self.index, self.raw),
        }
    }
}

impl Cursor for WiredTigerCursor<'_> {
    fn seek(&mut self, key: &[u8]) -> Result<bool> {
        // WiredTiger takes no empty keys.
        if key.is_empty() {
            return self.first();
        }
        self.leave()?;
        let mut exact = 0;
        let code = match self.raw.search_near(key, &mut exact) {
            0 if exact < 0 => self.raw.next(),
            code => code,
        };
        self.arrive(code)
    }

    fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        self.leave()?;
        if key.is_empty() {
            return Ok(false);
        }
        let mut exact = 0;
        let code = match self.raw.search_near(key, &mut exact) {
            0 if exact >= 0 => self.raw.prev(),
            code => code,
        };
        self.arrive(code)
    }

    fn first(&mut self) -> Result<bool> {
        // A cursor that is at no row goes to the first one by `next`.
        self.row = None;
        self.check(self.raw.reset())?;
        let code = self.raw.next();
        self.arrive(code)
    }

    fn last(&mut self) -> Result<bool> {
        self.row = None;
        self.check(self.raw.reset())?;
        let code = self.raw.prev();
        self.arrive(code)
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        if self.row.is_none() {
            return Ok(false);
        }
        let code = self.raw.next();
        self.arrive(code)
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        if self.row.is_none() {
            return Ok(false);
        }
        let code = self.raw.prev();
        self.arrive(code)
    }

    #[inline]
    fn key(&self) -> &[u8] {
        match self.row {
            // SAFETY: set by the last move of the cursor; the next one needs `&mut self`.
            Some(row) => unsafe { row.key() },
            None => &[],
        }
    }

    #[inline]
    fn value(&self) -> &[u8] {
        match self.row {
            // SAFETY: as for `key`.
            Some(row) => unsafe { row.value() },
            None => &[],
        }
    }
}
