package bm25_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/bm25"
	"github.com/writ-go/writ/tools/search"
)

func foreign(server, name, description, input string) *tools.Tool {
	return &tools.Tool{
		Namespace: server, Name: name, Description: description,
		InputSchema: json.RawMessage(input), Handler: nothing,
	}
}

func shop(t testing.TB) *tools.Set {
	return newSet(t,
		foreign("crm", "readCustomer", "One customer.", `{"properties":{"id":{"type":"string"}}}`),
		foreign("crm", "delete-customer", "", ""),
		foreign("crm", "list_orders", "Orders.",
			`{"properties":{"since":{"description":"The first \"day\"\nof the parcels"}}}`),
		foreign("mail server", "send", "Deliver a text.\nNever twice.", `{"properties":{"status":{"enum":["urgent"]}}}`),
		foreign("stock", "HTTPRequests2", "在庫を検索", `true`),
		foreign("stock", "list_orders", "Orders.", `[`),
	)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	index := bm25.New(shop(t).Bindings())
	for _, tt := range []struct {
		query  string
		server string
		want   string
	}{
		{"read customer", "", "crm.readCustomer crm.delete_customer"},
		{"READ_CUSTOMERS", "", "crm.readCustomer crm.delete_customer"},
		{"delete customers", "", "crm.delete_customer crm.readCustomer"},
		{"custmoer", "", "crm.readCustomer crm.delete_customer"},
		{"parcel", "", "crm.list_orders"},
		{"day", "", "crm.list_orders"},
		{"urgently urgent", "", "mail_server.send"},
		{"http", "", "stock.HTTPRequests2"},
		{"request", "", "stock.HTTPRequests2"},
		{"検索", "", "stock.HTTPRequests2"},
		{"orders", "", "stock.list_orders crm.list_orders"},
		{"orders", "stock", "stock.list_orders"},
		{"twice", "mail server", "mail_server.send"},
		{"twice", "mail_server", "mail_server.send"},
		{"twice", "crm", ""},
		{"", "crm", "crm.delete_customer crm.list_orders crm.readCustomer"},
		{"xyzzy", "", ""},
		{"the", "stock", "stock.HTTPRequests2 stock.list_orders"},
		{"first", "", "crm.list_orders"},
	} {
		got := strings.Join(names(index.Search(tt.query, tt.server, 10)), " ")
		if got != tt.want {
			t.Errorf("%q in %q: got %q, want %q", tt.query, tt.server, got, tt.want)
		}
	}
}

func TestSearchLimits(t *testing.T) {
	t.Parallel()
	var list []tools.Source
	for i := range 30 {
		list = append(list, foreign("s", strings.Repeat("x", i+1), "Copy.", ""))
	}
	index := bm25.New(newSet(t, list...).Bindings())
	for limit, want := range map[int]int{1: 1, 25: 25, 1000: 30} {
		if got := len(index.Search("copy", "", limit)); got != want {
			t.Errorf("limit %d gives %d, want %d", limit, got, want)
		}
	}
	for before, want := range map[int]bool{1000: true, 1 << 20: false} {
		hits := index.Search(strings.Repeat(".", before)+" copy", "", 10)
		if got := len(hits) > 0 && hits[0].Score > 0; got != want {
			t.Errorf("a word after %d bytes was found: %v, want %v", before, got, want)
		}
	}
	if hits := bm25.New(nil).Search("copy", "", 10); len(hits) != 0 {
		t.Errorf("an empty index has %v", hits)
	}
}

// Neither the order of the tools nor concurrent searches change the hits.
func TestSearchOrder(t *testing.T) {
	t.Parallel()
	set := realServers(t)
	var list []tools.Source
	for _, b := range set.Bindings() {
		list = append(list, b.Tool)
	}
	slices.Reverse(list)
	turned := bm25.New(newSet(t, list...).Bindings())
	index := bm25.New(set.Bindings())
	var group sync.WaitGroup
	for _, n := range readNeeds(t, "testdata/needs.txt", set) {
		group.Go(func() {
			if a, b := names(index.Search(n.text, "", 100)), names(turned.Search(n.text, "", 100)); !slices.Equal(a, b) {
				t.Errorf("%q finds %v, but %v in another order", n.text, a, b)
			}
		})
	}
	group.Wait()
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ description, want string }{
		{"", ""},
		{"Read a file. Then close it.", "Read a file."},
		{"Notion | Retrieve a page\nError Responses:\n400: 400", "Notion | Retrieve a page"},
		{"Finds src/**/*.ts and /* such */. More.", "Finds src/**/*.ts and /* such */."},
	} {
		if search.Summary(tt.description) != tt.want {
			t.Errorf("%q: got %q, want %q", tt.description, search.Summary(tt.description), tt.want)
		}
	}
	if got := search.Summary(strings.Repeat("word ", 1000)); len(got) > 310 || !strings.HasSuffix(got, "word…") {
		t.Errorf("a long sentence becomes %q", got)
	}
}

// A misspelled word of a name is found. A word that only resembles one is not.
func TestSpelling(t *testing.T) {
	t.Parallel()
	set := newSet(t,
		foreign("telecom", "activate_sim_card", "Activate the SIM card of a subscriber.", ""),
		foreign("telecom", "list_subscribers", "List the subscribers of a tariff.", ""),
		foreign("telecom", "hold_call", "Put a call on hold.", ""),
		foreign("fleet", "get_vehicle", "Get a vehicle by its plate.", ""),
		foreign("fleet", "plan_route", "Plan the route of a vehicle.", ""),
	)
	index := bm25.New(set.Bindings())
	for query, want := range map[string][]string{
		"swimming hall":              nil,
		"swim":                       nil,
		"hall":                       nil,
		"boat rental":                nil,
		"vegetable garden":           nil,
		"actvate_sim_card":           {"telecom.activate_sim_card"},
		"get vehcile":                {"fleet.get_vehicle", "fleet.plan_route"},
		"list " + "subscir" + "bers": {"telecom.list_subscribers", "telecom.activate_sim_card"},
		"SIM card":                   {"telecom.activate_sim_card"},
		"planning of routes":         {"fleet.plan_route"},
	} {
		if got := names(index.Search(query, "", 100)); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
}

// FuzzSearch checks that Search accepts all names, texts, schemas and queries.
func FuzzSearch(f *testing.F) {
	f.Add("read_file", "Read a file. 日本", `{"properties":{"a\"b":{"description":"\u00e9\\"}}}`, "Read files")
	f.Add("", "", `{"enum":["`, "\xff\x00")
	f.Fuzz(func(t *testing.T, name, description, input, query string) {
		set := newSet(t, foreign("s", name, description, input), foreign("s", "other", "Other.", ""))
		index := bm25.New(set.Bindings())
		for _, q := range []string{query, name, description} {
			hits := index.Search(q, "", 10)
			for i, h := range hits {
				if h.Score < 0 || i > 0 && h.Score > hits[i-1].Score {
					t.Fatalf("%q: hit %d has the score %v after %v", q, i, h.Score, hits[0].Score)
				}
				if !utf8.ValidString(search.Summary(h.Description)) {
					t.Fatalf("the description %q is not text", h.Description)
				}
			}
		}
	})
}
