package conversationtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// task is a question with several steps over the tools of the world. Its replies are in
// testdata/tasks: somebody wrote them who saw only the prompts.
type task struct {
	name, question string
	run            func(*testing.T, setting, *llmtest.Model) run
	answer         func(*world) any
	effects        string
}

// setting is what a task is run with.
type setting struct {
	question string
	box      *sandbox.Sandbox
	set      *tools.Set
	effects  func() string
}

var tasks = []task{
	{"join_two", "How many active vehicles belong to depots whose building is in Malmö?", runTask[total], func(w *world) any {
		return total{float64(len(w.all("vehicle", func(v record) bool {
			depot := w.get("depot", v.str("depot_id"))
			return v["status"] == "active" && w.get("building", depot.str("building_id"))["city"] == "Malmö"
		})))}
	}, ""},
	{"paginate", "What do all open invoices come to, in cents?", runTask[total], func(w *world) any {
		return total{float64(sum(w.all("invoice", is("status", "open")), "amount_cents"))}
	}, ""},
	{"json_text", "Which rooms hold 50 people or more? Give their ids, sorted.", runTask[names], func(w *world) any {
		return names{ids(w.all("room", func(r record) bool { return r.num("capacity") >= 50 }))}
	}, ""},
	{"effect_per_match", "Plan a safety inspection on 2026-01-15 for every vehicle that is in repair and has more than 200000 km. " +
		"Give the number of inspections, the ids of the vehicles, sorted, and done: true.", runTask[report], func(w *world) any {
		found := ids(w.all("vehicle", func(v record) bool { return v["status"] == "repair" && v.num("mileage_km") > 200000 }))
		return report{len(found), found, true}
	}, "fleet.create_inspection=N"},
	{"error_recovery", "Set the priority of the work orders of building B-004 to high, all of them. " +
		"They must have the status that they have now in the end. Give their number, their ids, sorted, and done: true.",
		runTask[report], func(w *world) any {
			found := ids(w.all("work_order", is("building_id", "B-004")))
			return report{len(found), found, true}
		}, "facilities.update_work_order=N"},
	{"plain_text", "What are the names of the employees of the department DEP-003 who work in Lund, sorted?", runTask[names], func(w *world) any {
		found := names{[]string{}}
		for _, e := range w.all("employee", func(e record) bool { return e["department_id"] == "DEP-003" && e["city"] == "Lund" }) {
			found.Names = append(found.Names, e.str("name"))
		}
		slices.Sort(found.Names)
		return found
	}, ""},
	{"join_three", "Which employees drive a vehicle that has an open fine of more than 400 euros? Give their names, sorted, each once.",
		runTask[names], func(w *world) any {
			found := names{[]string{}}
			for _, f := range w.all("fine", func(f record) bool { return f["status"] == "open" && f.num("amount_cents") > 40000 }) {
				driver := w.get("driver", w.get("vehicle", f.str("vehicle_id")).str("driver_id"))
				found.Names = append(found.Names, w.get("employee", driver.str("employee_id")).str("name"))
			}
			slices.Sort(found.Names)
			found.Names = slices.Compact(found.Names)
			return found
		}, ""},
	{"largest_group", "From which supplier have we ordered most (by amount, purchase orders that are not drafts)? Give its id as the amount.",
		runTask[amount], func(w *world) any {
			most := slices.MaxFunc(w.records["supplier"], func(a, b record) int {
				ordered := func(s record) int {
					return sum(w.all("purchase_order", func(p record) bool { return p["status"] != "draft" && p["supplier_id"] == s["id"] }), "amount_cents")
				}
				return cmp.Compare(ordered(a), ordered(b))
			})
			return amount{most.str("id")}
		}, ""},
	{"retag", "Wiki pages with the tag outdated and fewer than 2500 words are to be deleted. Delete them, and give their number, ids, sorted, and done: true.",
		runTask[report], func(w *world) any {
			found := ids(w.all("page", func(p record) bool { return p["tag"] == "outdated" && p.num("words") < 2500 }))
			return report{len(found), found, true}
		}, "office.delete_page=N"},
	{"low_stock", "Which items have less in stock than their minimum? Order 100 of each from the supplier with the best rating (the first one): " +
		"one purchase order, status draft, dated 2026-01-15, that comes to 100 times the prices. Give its amount in cents.", runTask[total], func(w *world) any {
		return total{float64(100 * sum(w.all("item", func(i record) bool { return i.num("stock") < i.num("minimum") }), "price_cents"))}
	}, "erp.create_purchase_order=1"},
}

func is(field string, value any) func(record) bool {
	return func(r record) bool { return r[field] == value }
}

func sum(rows []record, field string) int {
	n := 0
	for _, r := range rows {
		n += r.num(field)
	}
	return n
}

func ids(rows []record) []string {
	list := []string{}
	for _, r := range rows {
		list = append(list, r.str("id"))
	}
	slices.Sort(list)
	return list
}

// runTask lets the model answer.
func runTask[Out any](t *testing.T, s setting, model *llmtest.Model) run {
	sig := signature.Must(signature.New[question, Out]("Answer the question, and do what it asks for, with the tools."))
	pred, err := module.NewCodeAct(sig, model, s.box, s.set, nil).Run(t.Context(), question{s.question})
	var part *module.IncompleteError
	switch {
	case err == nil:
		r := ended(pred.Trajectory, model)
		r.answer = marshal(pred.Output)
		r.effects = s.effects()
		return r
	case errors.As(err, &part):
		r := ended(part.Trajectory, model)
		r.err = err
		return r
	}
	t.Fatal(err)
	return run{}
}

// replay has the recorded conversation of a task in a world with further kinds of records.
func (x task) replay(t *testing.T, box *sandbox.Sandbox, further int) run {
	t.Helper()
	w := newWorld(further)
	set, err := w.set(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := marshal(x.answer(newWorld(further)))
	r := x.run(t, setting{x.question, box, set, w.effects}, archived(t, x.name))
	if *play && errors.As(r.err, new(noReplyError)) {
		last := r.requests[len(r.requests)-1]
		if last.N == 1 {
			t.Log(last.Text())
		} else {
			t.Log(last.Last())
		}
	}
	if r.err != nil || string(r.answer) != string(want) {
		t.Errorf("%s: got %s, %v; want %s", x.name, r.answer, r.err, want)
		return r
	}
	var rep report
	effects := x.effects
	if json.Unmarshal(want, &rep) == nil {
		effects = strings.ReplaceAll(effects, "N", string(marshal(rep.Count)))
	}
	if x.name != "error_recovery" && r.effects != effects {
		t.Errorf("%s: effects %s, want %s", x.name, r.effects, effects)
	}
	return r
}

// archived returns a model with the replies of testdata/tasks.
func archived(t *testing.T, name string) *llmtest.Model {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join(testdata, "tasks", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return scripted(archive)
}

func TestTasks(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, x := range tasks {
		x.replay(t, box, 0)
	}
}
