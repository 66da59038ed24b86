//! SHOW BINARY LOGS, BINLOG STATUS and BINLOG EVENTS.

use std::fmt::Write;

use selkie_binlog::event::{Event, EventBody, event_flags, gtid_flags, rows_flags};
use selkie_binlog::log::EventReader;
use selkie_parser::ast::Expr;
use selkie_types::{SqlResult, sql_err};

use super::Listing;
use crate::session::Session;

/// Where the first event of a file stands.
const FIRST_EVENT: u64 = 4;

impl Session {
    pub(super) fn show_binary_logs(&self) -> SqlResult<Listing> {
        self.require_one_of(&["SUPER", "BINLOG MONITOR"])?;
        let mut listing = Listing::of("binary_logs");
        for f in self.instance().txns.pipeline.with_log(|l| l.log().files()) {
            listing.rows.text(&f.name).uint(f.size);
        }
        Ok(listing)
    }

    pub(super) fn show_binlog_status(&self) -> SqlResult<Listing> {
        self.require_one_of(&["SUPER", "BINLOG MONITOR"])?;
        let mut listing = Listing::of("master_status");
        let (file, position) = self.instance().txns.pipeline.with_log(|l| {
            let (file, position) = l.log().file_position();
            (file.to_owned(), position)
        });
        listing.rows.text(&file).uint(position).text("").text("");
        Ok(listing)
    }

    pub(super) fn show_binlog_events(
        &mut self,
        file: Option<&str>,
        position: Option<u64>,
        offset: Option<&Expr>,
        count: Option<&Expr>,
    ) -> SqlResult<Listing> {
        self.require_one_of(&["BINLOG MONITOR"])?;
        let skip = self.row_limit(offset)?.unwrap_or(0);
        let take = self.row_limit(count)?.unwrap_or(usize::MAX);
        let failed = |why: &str| sql_err!(ER_ERROR_WHEN_EXECUTING_COMMAND, "SHOW BINLOG EVENTS", why);
        let (watch, files) = self.instance().txns.pipeline.with_log(|l| (l.log().watch(), l.log().files()));
        let file = match file {
            Some(f) => f.to_owned(),
            None => files.first().map(|f| f.name.to_string()).unwrap_or_default(),
        };
        if !files.iter().any(|f| *f.name == *file) {
            return Err(failed("Could not find target log"));
        }
        let wrong = |_| failed("Wrong offset or I/O error");
        let mut reader = EventReader::at_file(&watch, &file, position.unwrap_or(FIRST_EVENT)).map_err(wrong)?;
        let mut listing = Listing::of("binlog_events");
        let (mut seen, mut shown) = (0usize, 0usize);
        while let Some(raw) = reader.next_event().map_err(wrong)? {
            if *raw.file != *file || shown >= take {
                break;
            }
            seen += 1;
            if seen <= skip {
                continue;
            }
            shown += 1;
            let event = raw.decode(reader.format()).map_err(wrong)?;
            listing.rows.text(&file).uint(raw.offset).text(event.body.event_type().name());
            listing.rows.uint(event.header.server_id.into()).uint(raw.offset + raw.bytes.len() as u64);
            listing.rows.text(&describe(&event));
        }
        Ok(listing)
    }
}

/// The Info column.
fn describe(event: &Event) -> String {
    match &event.body {
        EventBody::FormatDescription(f) => {
            format!("Server ver: {}, Binlog ver: {}", f.server_version, f.binlog_version)
        }
        EventBody::Gtid(g) => {
            let begin = match g.flags2 {
                f if f & gtid_flags::PREPARED_XA != 0 => "XA START ",
                f if f & gtid_flags::STANDALONE == 0 => "BEGIN ",
                _ => "",
            };
            let mut s = format!("{begin}GTID {}", g.gtid);
            if let Some(cid) = g.commit_id {
                // Writing to a String cannot fail.
                let _ = write!(s, " cid={cid}");
            }
            s
        }
        EventBody::GtidList(l) => {
            let all: Vec<String> = l.gtids.iter().map(|g| g.to_string()).collect();
            format!("[{}]", all.join(","))
        }
        EventBody::BinlogCheckpoint(c) => c.file.clone(),
        EventBody::AnnotateRows(a) => String::from_utf8_lossy(&a.text).into_owned(),
        EventBody::Query(q) => {
            let text = String::from_utf8_lossy(&q.query);
            let control = ["BEGIN", "COMMIT", "ROLLBACK"].contains(&&*text);
            let suppressed = event.header.flags & event_flags::SUPPRESS_USE != 0;
            if q.database.is_empty() || control || suppressed {
                text.into_owned()
            } else {
                format!("use `{}`; {text}", q.database.replace('`', "``"))
            }
        }
        EventBody::Intvar(i) => {
            let name = if i.variable == 2 { "INSERT_ID" } else { "LAST_INSERT_ID" };
            format!("{name}={}", i.value)
        }
        EventBody::Rand(r) => format!("rand_seed1={},rand_seed2={}", r.seed1, r.seed2),
        EventBody::UserVar(u) => match &u.value {
            None => format!("@`{}`=NULL", u.name),
            Some(v) => format!("@`{}`='{}'", u.name, String::from_utf8_lossy(&v.value)),
        },
        EventBody::Xid(x) => format!("COMMIT /* xid={} */", x.xid),
        EventBody::XaPrepare(_) => "XA PREPARE".into(),
        EventBody::Rotate(r) => format!("{};pos={}", r.file, r.position),
        EventBody::TableMap(t) => format!("table_id: {} ({}.{})", t.table_id, t.database, t.table),
        EventBody::Rows(r) => {
            let end = if r.flags & rows_flags::STMT_END != 0 { " flags: STMT_END_F" } else { "" };
            format!("table_id: {}{end}", r.table_id)
        }
        EventBody::Incident(i) => {
            format!("#{} {}", i.incident, String::from_utf8_lossy(&i.message))
        }
        EventBody::ExecuteLoadQuery(_) | EventBody::LoadBlock(_) => String::new(),
        EventBody::Selkie(_) => "for recovery only".into(),
        EventBody::Stop | EventBody::Heartbeat(_) | EventBody::StartEncryption(_) | EventBody::Unknown(_) => String::new(),
    }
}
