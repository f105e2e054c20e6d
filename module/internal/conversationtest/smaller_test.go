package conversationtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
)

const root = "../../../"

// shopTasks are questions about the shop of the quickstart.
var shopTasks = []task{{
	name: "small_refunds",
	question: "Which German customers had more than a fifth of what they spent in 2025 refunded? " +
		"Give their names, sorted, and what was refunded to them together, in cents.",
	answer: func(*world) findings { return findings{50250, []string{"Drees Logistik", "Hofladen Brandt"}} },
}, {
	name:     "small_best",
	question: "Which customer of all spent most in 2025, before refunds? Give the name, and the cents.",
	answer:   func(*world) findings { return findings{90750, []string{"Hofladen Brandt"}} },
}}

// shop returns the three tools of the quickstart, with its data.
func shop(t *testing.T) *tools.Set {
	t.Helper()
	type buyer struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Country string `json:"country"`
	}
	type sale struct {
		ID         string `json:"id"`
		CustomerID string `json:"customer_id"`
		Date       string `json:"date" jsonschema:"format=date"`
		TotalCents int    `json:"total_cents"`
	}
	type refund struct {
		ID          string `json:"id"`
		OrderID     string `json:"order_id"`
		AmountCents int    `json:"amount_cents"`
		Reason      string `json:"reason"`
	}
	type buyersQuery struct {
		Country string `json:"country,omitempty" jsonschema:"description=English name."`
	}
	type buyersPage struct {
		Customers []buyer `json:"customers"`
	}
	type salesQuery struct {
		CustomerID string `json:"customer_id"`
		Year       int    `json:"year,omitempty"`
		Cursor     string `json:"cursor,omitempty" jsonschema:"description=From the page before."`
	}
	type salesPage struct {
		Orders     []sale `json:"orders"`
		NextCursor string `json:"next_cursor,omitempty" jsonschema:"description=Absent on the last page."`
	}
	type refundsQuery struct {
		Cursor string `json:"cursor,omitempty" jsonschema:"description=From the page before."`
	}
	type refundsPage struct {
		Refunds    []refund `json:"refunds"`
		NextCursor string   `json:"next_cursor,omitempty" jsonschema:"description=Absent on the last page."`
	}
	buyers, sales, refunds := rows[buyer](t, "customers"), rows[sale](t, "orders"), rows[refund](t, "refunds")
	set, err := tools.NewSet(t.Context(),
		read("shop.list_customers", "List the customers, of one country or of all.",
			func(q buyersQuery) (buyersPage, error) {
				in := func(b buyer) bool { return q.Country == "" || strings.EqualFold(b.Country, q.Country) }
				return buyersPage{where(buyers, in)}, nil
			}),
		read("shop.list_orders", "List the orders of one customer, oldest first, in pages of 4.",
			func(q salesQuery) (p salesPage, err error) {
				p.Orders, p.NextCursor, err = pageOf(where(sales, func(s sale) bool {
					return s.CustomerID == q.CustomerID && (q.Year == 0 || strings.HasPrefix(s.Date, strconv.Itoa(q.Year)))
				}), 4, q.Cursor)
				return p, err
			}),
		read("shop.list_refunds", "List all refunds, in pages of 5. A refund is of one order, whole or in part.",
			func(q refundsQuery) (p refundsPage, err error) {
				p.Refunds, p.NextCursor, err = pageOf(refunds, 5, q.Cursor)
				return p, err
			}))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// rows returns the rows of a data file of the quickstart.
func rows[T any](t *testing.T, name string) []T {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "examples/quickstart/data", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []T
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func pageOf[T any](rows []T, size int, cursor string) ([]T, string, error) {
	start, err := strconv.Atoi("0" + cursor)
	if err != nil || start > len(rows) {
		return nil, "", fmt.Errorf("the cursor %q is not one that an earlier page gave", cursor)
	}
	end := min(start+size, len(rows))
	if end == len(rows) {
		return rows[start:end], "", nil
	}
	return rows[start:end], strconv.Itoa(end), nil
}

// serverTasks are questions for the tools of two real servers.
var serverTasks = []task{{
	name: "medium_notes",
	question: "The directory /notes has meeting notes. Whose names stand after \"Owner:\" in them? " +
		"Give the names, sorted, each once, and the number of files.",
	answer: func(*world) findings { return findings{3, []string{"Ada", "Bo"}} },
}, {
	name: "medium_graph",
	question: "Add every owner that stands in the files of /notes to the knowledge graph as an entity of the type " +
		"person, " +
		"with the observation \"owns notes\", unless the graph has the name already. Give the names that you added, " +
		"sorted, and their number.",
	answer:  func(*world) findings { return findings{1, []string{"Bo"}} },
	effects: "memory.create_entities=1",
}}

// recorded returns the tools from recorded listings of servers. Only some of them have handlers.
func recorded(t *testing.T, called map[string]int, servers ...string) *tools.Set {
	t.Helper()
	var sources []tools.Source
	for _, server := range servers {
		raw, err := os.ReadFile(filepath.Join(root, "tools/declare/testdata/servers", server+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var listing struct {
			Tools []struct {
				Name, Description         string
				InputSchema, OutputSchema json.RawMessage
				Annotations               struct{ ReadOnlyHint bool }
			}
		}
		if err := json.Unmarshal(raw, &listing); err != nil {
			t.Fatal(err)
		}
		for _, x := range listing.Tools {
			sources = append(sources, &tools.Tool{
				Namespace: server, Name: x.Name, Description: x.Description,
				InputSchema: x.InputSchema, OutputSchema: x.OutputSchema,
				Claimed: claimed(x.Annotations.ReadOnlyHint),
				Handler: fake(x.Name, called),
			})
		}
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// fake imitates a tool of these servers, with three files and a graph of one entity.
func fake(name string, called map[string]int) tools.Handler {
	files := map[string]string{
		"/notes/may.md":  "# May\nOwner: Ada\nMove the office.\n",
		"/notes/june.md": "# June\nOwner: Bo\nHire two people.\n",
		"/notes/july.md": "# July\nOwner: Ada\nHoliday.\n",
	}
	const graph = `{"entities":[{"name":"Ada","entityType":"person","observations":["works in Lund"]}],"relations":[]}`
	return func(_ context.Context, raw json.RawMessage) (json.RawMessage, error) {
		var a struct {
			Path     string
			Paths    []string
			Entities json.RawMessage
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, err
		}
		switch name {
		case "list_directory":
			return marshal(map[string]string{"content": "[FILE] july.md\n[FILE] june.md\n[FILE] may.md"}), nil
		case "read_text_file", "read_file":
			text, ok := files[a.Path]
			if !ok {
				return nil, fmt.Errorf("ENOENT: no such file or directory, open '%s'", a.Path)
			}
			return marshal(map[string]string{"content": text}), nil
		case "read_multiple_files":
			var parts []string
			for _, path := range a.Paths {
				parts = append(parts, path+":\n"+files[path])
			}
			return marshal(map[string]string{"content": strings.Join(parts, "\n---\n")}), nil
		case "read_graph", "search_nodes", "open_nodes":
			return json.RawMessage(graph), nil
		case "create_entities":
			called["memory.create_entities"]++
			return slices.Concat(json.RawMessage(`{"entities":`), a.Entities, json.RawMessage("}")), nil
		}
		return nil, errors.New("EACCES: permission denied")
	}
}
