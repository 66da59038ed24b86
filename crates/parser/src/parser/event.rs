//! Triggers and events: what stands around their bodies.

use super::Parser;
use crate::ast::{
    AlterEvent, CreateEvent, CreateTrigger, Definer, EventSchedule, EventStatus, Statement,
    TriggerEvent, TriggerOrder, TriggerTiming,
};
use crate::error::Res;
use crate::keywords::Kw;

impl Parser<'_> {
    /// `TRIGGER` was taken.
    pub(super) fn create_trigger(
        &mut self,
        or_replace: bool,
        definer: Option<Definer>,
    ) -> Res<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let timing = match self.expect_any(&[Kw::BEFORE, Kw::AFTER])? {
            Kw::BEFORE => TriggerTiming::Before,
            _ => TriggerTiming::After,
        };
        let event = match self.expect_any(&[Kw::INSERT, Kw::UPDATE, Kw::DELETE])? {
            Kw::INSERT => TriggerEvent::Insert,
            Kw::UPDATE => TriggerEvent::Update,
            _ => TriggerEvent::Delete,
        };
        self.expect(Kw::ON)?;
        let table = self.object_name()?;
        self.expect_seq(&[Kw::FOR, Kw::EACH, Kw::ROW])?;
        let order = if self.eat(Kw::FOLLOWS) {
            Some(TriggerOrder::Follows(self.ident()?))
        } else if self.eat(Kw::PRECEDES) {
            Some(TriggerOrder::Precedes(self.ident()?))
        } else {
            None
        };
        let (body, body_text) = self.program_body()?;
        Ok(Statement::CreateTrigger(Box::new(CreateTrigger {
            or_replace,
            if_not_exists,
            definer,
            name,
            timing,
            event,
            table,
            order,
            body,
            body_text,
        })))
    }

    /// `EVENT` was taken.
    pub(super) fn create_event(
        &mut self,
        or_replace: bool,
        definer: Option<Definer>,
    ) -> Res<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        self.expect_seq(&[Kw::ON, Kw::SCHEDULE])?;
        let schedule = self.event_schedule()?;
        let preserve = self.opt_completion()?;
        let status = self.opt_event_status()?;
        let comment = if self.eat(Kw::COMMENT) {
            Some(self.string()?)
        } else {
            None
        };
        self.expect(Kw::DO)?;
        let (body, body_text) = self.program_body()?;
        Ok(Statement::CreateEvent(Box::new(CreateEvent {
            or_replace,
            if_not_exists,
            definer,
            name,
            schedule,
            preserve,
            status,
            comment,
            body,
            body_text,
        })))
    }

    /// `ALTER … EVENT` was taken.
    pub(super) fn alter_event(&mut self, definer: Option<Definer>) -> Res<Statement> {
        let name = self.object_name()?;
        let mut schedule = None;
        if self.at_seq(&[Kw::ON, Kw::SCHEDULE]) {
            self.bump();
            self.bump();
            schedule = Some(self.event_schedule()?);
        }
        let preserve = self.opt_completion()?;
        let rename_to = if self.eat(Kw::RENAME) {
            self.expect(Kw::TO)?;
            Some(self.object_name()?)
        } else {
            None
        };
        let status = self.opt_event_status()?;
        let comment = if self.eat(Kw::COMMENT) {
            Some(self.string()?)
        } else {
            None
        };
        let (mut body, mut body_text) = (None, String::new());
        if self.eat(Kw::DO) {
            let (statement, text) = self.program_body()?;
            body = Some(statement);
            body_text = text;
        }
        let unchanged = schedule.is_none()
            && preserve.is_none()
            && rename_to.is_none()
            && status.is_none()
            && comment.is_none()
            && body.is_none();
        if unchanged {
            return self.fail();
        }
        Ok(Statement::AlterEvent(Box::new(AlterEvent {
            definer,
            name,
            schedule,
            preserve,
            rename_to,
            status,
            comment,
            body,
            body_text,
        })))
    }

    fn event_schedule(&mut self) -> Res<EventSchedule> {
        if self.eat(Kw::AT) {
            return Ok(EventSchedule::At(self.expr()?));
        }
        self.expect(Kw::EVERY)?;
        let value = self.expr()?;
        let unit = self.interval_unit()?;
        let starts = if self.eat(Kw::STARTS) {
            Some(self.expr()?)
        } else {
            None
        };
        let ends = if self.eat(Kw::ENDS) {
            Some(self.expr()?)
        } else {
            None
        };
        Ok(EventSchedule::Every {
            value,
            unit,
            starts,
            ends,
        })
    }

    /// `ON COMPLETION [NOT] PRESERVE`
    fn opt_completion(&mut self) -> Res<Option<bool>> {
        if !self.eat(Kw::ON) {
            return Ok(None);
        }
        self.expect(Kw::COMPLETION)?;
        let preserve = !self.eat(Kw::NOT);
        self.expect(Kw::PRESERVE)?;
        Ok(Some(preserve))
    }

    fn opt_event_status(&mut self) -> Res<Option<EventStatus>> {
        if self.eat(Kw::ENABLE) {
            return Ok(Some(EventStatus::Enabled));
        }
        if !self.eat(Kw::DISABLE) {
            return Ok(None);
        }
        if self.eat(Kw::ON) {
            self.expect_any(&[Kw::SLAVE, Kw::REPLICA])?;
            return Ok(Some(EventStatus::DisabledOnSlave));
        }
        Ok(Some(EventStatus::Disabled))
    }
}
