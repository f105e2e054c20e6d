// Package sqltest tests package sqljournal with SQLite and PostgreSQL. It is a separate module, so that the library
// does not depend on drivers. The tests use the PostgreSQL server that WRIT_POSTGRES names, such as
// "host=/tmp/pg user=postgres"; without the variable, they skip PostgreSQL.
package sqltest
