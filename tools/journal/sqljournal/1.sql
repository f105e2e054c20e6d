-- Times are microseconds since 1970, by the clock of the database.
CREATE TABLE IF NOT EXISTS writ_runs (
	run         TEXT NOT NULL PRIMARY KEY,
	created     BIGINT NOT NULL,
	epoch       BIGINT NOT NULL, -- the number of owners so far
	owner       TEXT NOT NULL,   -- random; empty if the last owner has released the run
	lease_until BIGINT NOT NULL,
	records     BIGINT NOT NULL, -- the number of records
	head        BYTEA NOT NULL   -- the checksum of the last record
);
CREATE TABLE IF NOT EXISTS writ_records (
	run   TEXT NOT NULL,
	seq   BIGINT NOT NULL, -- from 1
	epoch BIGINT NOT NULL, -- of the owner that wrote the record
	data  BYTEA NOT NULL,
	sum   BYTEA NOT NULL,  -- the SHA-256 of the previous checksum and the data
	PRIMARY KEY (run, seq)
);
