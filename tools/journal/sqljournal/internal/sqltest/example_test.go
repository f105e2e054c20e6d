package sqltest

import (
	"context"
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite"

	"github.com/writ-go/writ/tools/journal/sqljournal"
)

// Two processes share a database: the second one goes on with a run after the first has released it.
func Example() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:example?mode=memory&cache=shared")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	for range 2 {
		store, err := sqljournal.Open(ctx, db, nil)
		if err != nil {
			panic(err)
		}
		log, err := store.Open(ctx, "r-1")
		if err != nil {
			panic(err)
		}
		for record, err := range log.Records() {
			fmt.Println(string(record), err)
		}
		if err := log.Append([]byte(`{"op":"run"}`)); err != nil {
			panic(err)
		}
		if err := log.Sync(); err != nil {
			panic(err)
		}
		if err := log.Close(); err != nil {
			panic(err)
		}
	}
	// Output: {"op":"run"} <nil>
}
