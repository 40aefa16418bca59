-- What else is remembered of a handler, its steps and their shapes, say: JSON,
-- null if a build put it that knows no more. It is text, so that it comes back
-- as it was.
ALTER TABLE restaq.handler ADD COLUMN detail text COLLATE "C";
