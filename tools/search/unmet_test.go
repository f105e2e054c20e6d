package search_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools/search"
)

// TestUnmet asks the real servers for what none of them does: a search that finds
// nothing is better than one that finds the wrong tool. What is found is shown with -v.
func TestUnmet(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/unmet/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	index := search.New(realServers(t))
	all, none := 0, 0
	for line := range strings.Lines(string(text)) {
		need := strings.TrimSpace(line)
		if need == "" || strings.HasPrefix(need, "#") {
			continue
		}
		all++
		if hits := index.Search(need, nil); len(hits) > 0 {
			t.Logf("%q: got %v", need, names(hits))
			continue
		}
		none++
	}
	if t.Logf("%d of %d", none, all); all < 50 || none*100 < all*70 {
		t.Errorf("nothing was found for %d of %d", none, all)
	}
}

// A misspelled name is found; a word that only looks like one is not.
func TestSpelling(t *testing.T) {
	t.Parallel()
	index := search.New(newSet(t,
		foreign("telecom", "activate_sim_card", "Activate the SIM card of a subscriber.", ""),
		foreign("telecom", "list_subscribers", "List the subscribers of a tariff.", ""),
		foreign("telecom", "hold_call", "Put a call on hold.", ""),
		foreign("fleet", "get_vehicle", "Get a vehicle by its plate.", ""),
		foreign("fleet", "plan_route", "Plan the route of a vehicle.", ""),
	))
	for query, want := range map[string][]string{
		"swimming hall":              nil,
		"swim":                       nil,
		"hall":                       nil,
		"boat rental":                nil,
		"vegetable garden":           nil,
		"actvate_sim_card":           {"telecom.activate_sim_card"},
		"get vehcile":                {"fleet.get_vehicle"},
		"list " + "subscir" + "bers": {"telecom.list_subscribers"},
		"SIM card":                   {"telecom.activate_sim_card"},
		"planning of routes":         {"fleet.plan_route"},
	} {
		if got := names(index.Search(query, nil)); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
}
