package conversationtest

import (
	"cmp"
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

// task is a question that takes several steps with the tools of the world. Its replies are in
// testdata/tasks, written by somebody who saw only the prompts.
type task struct {
	name, question string
	answer         func(*world) findings
	effects        string // N stands for the number of names
}

// findings is the type of every answer.
type findings struct {
	Total float64  `json:"total" jsonschema:"description=The number that is asked for. 0 if none is."`
	Names []string `json:"names" jsonschema:"description=The names or ids that are asked for and sorted. Empty if none are."`
}

var tasks = []task{
	{"join_two",
		"How many active vehicles belong to depots whose building is in Malmö?",
		func(w *world) findings {
			return findings{float64(len(w.all("vehicle", func(v record) bool {
				depot := w.get("depot", v.str("depot_id"))
				return v["status"] == "active" && w.get("building", depot.str("building_id"))["city"] == "Malmö"
			}))), nil}
		}, ""},
	{"paginate",
		"What do all open invoices come to, in cents?",
		func(w *world) findings {
			return findings{float64(sum(w.all("invoice", is("status", "open")), "amount_cents")), nil}
		}, ""},
	{"json_text",
		"Which rooms hold 50 people or more? Give their ids, sorted.",
		func(w *world) findings {
			return findings{0, ids(w.all("room", func(r record) bool { return r.num("capacity") >= 50 }))}
		}, ""},
	{"effect_per_match",
		"Plan a safety inspection on 2026-01-15 for every vehicle that is in repair and has more than 200000 km. " +
			"Give the number of inspections and the ids of the vehicles.",
		func(w *world) findings {
			found := ids(w.all("vehicle", func(v record) bool {
				return v["status"] == "repair" && v.num("mileage_km") > 200000
			}))
			return findings{float64(len(found)), found}
		}, "fleet.create_inspection=N"},
	{"error_recovery",
		"Set the priority of the work orders of building B-004 to high, all of them. " +
			"They must have the status that they have now in the end. Give their number and ids.",
		func(w *world) findings {
			found := ids(w.all("work_order", is("building_id", "B-004")))
			return findings{float64(len(found)), found}
		}, "facilities.update_work_order=5"},
	{"plain_text",
		"What are the names of the employees of the department DEP-003 who work in Lund, sorted?",
		func(w *world) findings {
			found := findings{}
			for _, e := range w.all("employee", func(e record) bool {
				return e["department_id"] == "DEP-003" && e["city"] == "Lund"
			}) {
				found.Names = append(found.Names, e.str("name"))
			}
			slices.Sort(found.Names)
			return found
		}, ""},
	{"join_three",
		"Which employees drive a vehicle that has an open fine of more than 400 euros? Give their names, " +
			"sorted, each once.",
		func(w *world) findings {
			found := findings{}
			for _, f := range w.all("fine", func(f record) bool {
				return f["status"] == "open" && f.num("amount_cents") > 40000
			}) {
				driver := w.get("driver", w.get("vehicle", f.str("vehicle_id")).str("driver_id"))
				found.Names = append(found.Names, w.get("employee", driver.str("employee_id")).str("name"))
			}
			slices.Sort(found.Names)
			found.Names = slices.Compact(found.Names)
			return found
		}, ""},
	{"largest_group",
		"From which supplier have we ordered most (by amount, purchase orders that are not drafts)? Give its id.",
		func(w *world) findings {
			most := slices.MaxFunc(w.records["supplier"], func(a, b record) int {
				ordered := func(s record) int {
					return sum(w.all("purchase_order", func(p record) bool {
						return p["status"] != "draft" && p["supplier_id"] == s["id"]
					}), "amount_cents")
				}
				return cmp.Compare(ordered(a), ordered(b))
			})
			return findings{0, []string{most.str("id")}}
		}, ""},
	{"retag",
		"Wiki pages with the tag outdated and fewer than 2500 words are to be deleted. Delete them, and " +
			"give their number and ids.",
		func(w *world) findings {
			found := ids(w.all("page", func(p record) bool { return p["tag"] == "outdated" && p.num("words") < 2500 }))
			return findings{float64(len(found)), found}
		}, "office.delete_page=N"},
	{"low_stock",
		"Which items have less in stock than their minimum? Order 100 of each from the supplier with the " +
			"best rating (the first one): " +
			"one purchase order, status draft, dated 2026-01-15, that comes to 100 times the prices. Give " +
			"its amount in cents.",
		func(w *world) findings {
			low := w.all("item", func(i record) bool { return i.num("stock") < i.num("minimum") })
			return findings{float64(100 * sum(low, "price_cents")), nil}
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

// playground is a set of tools and a module that answers questions with them.
type playground struct {
	act     *module.CodeAct[question, findings]
	set     *tools.Set
	effects func() string // since the last question
}

func newPlayground(box *sandbox.Sandbox, set *tools.Set, effects func() string) *playground {
	return &playground{module.NewCodeAct(answering[findings](), llmtest.New(), box, set, nil), set, effects}
}

func answering[Out any]() *signature.Signature[question, Out] {
	return signature.Must(signature.New[question, Out]("Answer the question, and do what it asks for, with the tools."))
}

// run runs the recorded conversation of a task.
func (p *playground) run(t *testing.T, x task, want findings) run {
	t.Helper()
	if want.Names == nil {
		want.Names = []string{}
	}
	model := archived(t, x.name)
	p.act.Predictor.Model = model
	pred, err := p.act.Run(t.Context(), question{x.question})
	r := conversed(t, model, pred, err)
	if *play && errors.As(r.err, new(noReplyError)) {
		last := r.requests[len(r.requests)-1]
		text := last.Last()
		if last.N == 1 {
			text = last.Text()
		}
		t.Logf("%s\n%s", x.name, text)
	}
	r.effects = p.effects()
	effects := strings.ReplaceAll(x.effects, "N", string(marshal(len(want.Names))))
	if r.err != nil || string(r.answer) != string(marshal(want)) || r.effects != effects {
		t.Errorf("%s: got %s, %v and the effects %q; want %s and %q",
			x.name, r.answer, r.err, r.effects, marshal(want), effects)
	}
	return r
}

// conversed returns the result of a conversation.
func conversed[Out any](t *testing.T, model *llmtest.Model, pred *module.Prediction[Out], err error) run {
	t.Helper()
	r := run{requests: model.Requests(), err: err}
	var part *module.IncompleteError
	switch {
	case err == nil:
		r.trajectory, r.answer = pred.Trajectory, marshal(pred.Output)
	case errors.As(err, &part):
		r.trajectory = part.Trajectory
	default:
		t.Fatal(err)
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
