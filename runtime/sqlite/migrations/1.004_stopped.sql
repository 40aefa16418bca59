-- Why a dead execution is dead; of use only in one that is.
ALTER TABLE restaq_execution ADD COLUMN stopped_by TEXT NOT NULL DEFAULT '';
