-- Why a dead execution is dead; of use only in one that is.
ALTER TABLE restaq.work ADD COLUMN stopped_by text COLLATE "C";
