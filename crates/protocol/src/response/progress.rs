//! MariaDB's progress report: an ERR packet numbered 0xFFFF that may come any number of times
//! before a statement's answer, for clients with MARIADB_CLIENT_PROGRESS.
//! See <https://mariadb.com/kb/en/err_packet/>.

use crate::error::DecodeError;
use crate::framing::{Payload, SendBuffer};

/// A progress report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The stage being worked on, from 1.
    pub stage: u8,
    /// How many stages there are.
    pub max_stage: u8,
    /// How much of the stage is done, in thousandths of a percent: 100,000 is all of it.
    pub progress: u32,
    /// The state as SHOW PROCESSLIST has it.
    pub proc_info: &'a [u8],
}

impl<'a> Progress<'a> {
    /// Writes the packet. It takes a sequence number as any other, so the reports and the answer
    /// are numbered on.
    pub fn encode(&self, out: &mut SendBuffer) {
        out.begin_packet();
        out.put_u8(0xFF);
        out.put_u16(0xFFFF);
        out.put_u8(1);
        out.put_u8(self.stage);
        out.put_u8(self.max_stage);
        out.put_u24(self.progress);
        out.put_lenenc_bytes(self.proc_info);
        out.end_packet();
    }

    /// Whether a packet is a progress report.
    pub fn is_progress(payload: &[u8]) -> bool {
        payload.starts_with(&[0xFF, 0xFF, 0xFF])
    }

    /// Reads the packet.
    pub fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut fields = Payload::new(payload);
        if fields.array("header")? != [0xFF; 3] {
            return Err(DecodeError::Malformed("not a progress report"));
        }
        fields.u8("number of strings")?;
        Ok(Self {
            stage: fields.u8("stage")?,
            max_stage: fields.u8("max stage")?,
            progress: fields.u24("progress")?,
            proc_info: fields.lenenc_bytes("proc info")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back() {
        let progress = Progress {
            stage: 1,
            max_stage: 2,
            progress: 50_000,
            proc_info: b"copy to tmp table",
        };
        let mut out = SendBuffer::new();
        progress.encode(&mut out);
        assert!(Progress::is_progress(&out.pending()[4..]));
        assert_eq!(Progress::decode(&out.pending()[4..]), Ok(progress));
    }
}
