-- What else is remembered of a handler, its steps and their shapes, say: JSON,
-- empty if a build put it that knows no more.
ALTER TABLE restaq_handler ADD COLUMN detail TEXT NOT NULL DEFAULT '';
