package sqljournal_test

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools/journal/sqljournal"
)

// The program imports a driver, such as _ "github.com/jackc/pgx/v5/stdlib".
func Example() {
	ctx := context.Background()
	db, err := sql.Open("pgx", "host=/run/postgresql dbname=service")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	store, err := sqljournal.Open(ctx, db, nil)
	if err != nil {
		panic(err)
	}
	list, err := agent.NewRuns(store).List(ctx)
	if err != nil {
		panic(err)
	}
	for _, run := range list {
		fmt.Println(run.ID, run.State)
	}
}
