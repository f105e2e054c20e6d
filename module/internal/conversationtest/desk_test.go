package conversationtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/writ-go/writ/tools"
)

// desk is the small office whose tools are misused in the slips: a shop with pages of orders, a
// wiki whose pages are JSON text, mail, services that can be restarted, and people.
type desk struct {
	mu     sync.Mutex
	orders []order
	called map[string]int // calls that changed something, by tool
}

type customer struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Country string `json:"country" jsonschema:"description=Two letters: DE."`
}

type order struct {
	ID         string `json:"id"`
	CustomerID string `json:"customer_id"`
	Status     string `json:"status" jsonschema:"enum=open,enum=paid,enum=cancelled"`
	TotalCents int    `json:"total_cents"`
	Date       string `json:"date" jsonschema:"format=date"`
}

var customers = []customer{{"c1", "Ada", "DE"}, {"c2", "Bo", "SE"}, {"c3", "Cleo", "DE"}, {"c4", "Dan", "US"}}

func newDesk() *desk {
	d := &desk{called: map[string]int{}}
	for i := range 12 {
		d.orders = append(d.orders, order{
			ID: fmt.Sprintf("o%d", i+1), CustomerID: customers[i%4].ID,
			Status:     []string{"paid", "open", "paid", "cancelled", "paid"}[i%5],
			TotalCents: 1000 + 250*i, Date: fmt.Sprintf("2025-%02d-15", i+1),
		})
	}
	return d
}

// did counts a call that changes something.
func (d *desk) did(tool string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.called[tool]++
	return d.called[tool]
}

// effects lists the calls that changed something.
func (d *desk) effects() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return counts(d.called)
}

func counts(called map[string]int) string {
	var list []string
	for tool, n := range called {
		list = append(list, fmt.Sprintf("%s=%d", tool, n))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// read and effect return typed tools in a namespace, like those of a server. text returns a tool
// whose server declares no result.
func read[In, Out any](path, description string, fn func(In) (Out, error)) *tools.Tool {
	return member(path, description, fn, &tools.Hints{Class: tools.Read})
}

func effect[In, Out any](path, description string, fn func(In) (Out, error)) *tools.Tool {
	return member(path, description, fn, &tools.Hints{Class: tools.Effect, ErrorsAreFinal: true})
}

func text(t *tools.Tool) *tools.Tool {
	t.OutputSchema = nil
	return t
}

func member[In, Out any](path, description string, fn func(In) (Out, error), h *tools.Hints) *tools.Tool {
	namespace, name, _ := strings.Cut(path, ".")
	t := tools.Func(name, description, func(_ context.Context, in In) (Out, error) { return fn(in) }, h)
	t.Namespace = namespace
	return t
}

type none struct{}

// set returns the tools of the desk.
func (d *desk) set(ctx context.Context) (*tools.Set, error) {
	sources := slices.Concat(d.shop(), d.wiki(), d.office())
	return tools.NewSet(ctx, sources...)
}

// The arguments and results of the shop.
type (
	country struct {
		Country string `json:"country,omitempty" jsonschema:"description=Two letters."`
	}
	customerList struct {
		Customers []customer `json:"customers"`
	}
	query struct {
		CustomerID string `json:"customer_id,omitempty"`
		Status     string `json:"status,omitempty" jsonschema:"enum=open,enum=paid,enum=cancelled"`
		Cursor     string `json:"cursor,omitempty" jsonschema:"description=From the page before."`
	}
	orderPage struct {
		Orders     []order `json:"orders"`
		NextCursor string  `json:"next_cursor,omitempty" jsonschema:"description=Absent on the last page."`
	}
	orderID struct {
		OrderID string `json:"order_id"`
	}
	refund struct {
		OrderID     string `json:"order_id"`
		AmountCents int    `json:"amount_cents" jsonschema:"minimum=1"`
		Reason      string `json:"reason" jsonschema:"enum=damaged,enum=late,enum=other"`
	}
	refunded struct {
		RefundID string `json:"refund_id"`
	}
)

func (d *desk) shop() []tools.Source {
	return []tools.Source{
		read("shop.list_customers", "List the customers, of one country or of all.", func(q country) (customerList, error) {
			found := where(customers, func(c customer) bool { return q.Country == "" || q.Country == c.Country })
			return customerList{found}, nil
		}),
		read("shop.list_orders", "List orders, oldest first, in pages of 5.", func(q query) (orderPage, error) {
			found := where(d.orders, func(o order) bool {
				return (q.CustomerID == "" || q.CustomerID == o.CustomerID) && (q.Status == "" || q.Status == o.Status)
			})
			start, err := strconv.Atoi("0" + q.Cursor)
			if err != nil || start > len(found) {
				return orderPage{}, fmt.Errorf("the cursor %q is not from an earlier page", q.Cursor)
			}
			p := orderPage{Orders: found[start:min(start+5, len(found))]}
			if start+5 < len(found) {
				p.NextCursor = strconv.Itoa(start + 5)
			}
			return p, nil
		}),
		read("shop.get_order", "Get one order.", func(id orderID) (order, error) {
			i := slices.IndexFunc(d.orders, func(o order) bool { return o.ID == id.OrderID })
			if i < 0 {
				return order{}, fmt.Errorf("no order %q; orders are o1 to o12", id.OrderID)
			}
			return d.orders[i], nil
		}),
		effect("shop.refund_order", "Refund an order, whole or in part.", func(r refund) (refunded, error) {
			return refunded{fmt.Sprintf("r%d", d.did("shop.refund_order"))}, nil
		}),
		text(read("shop.export-report", "Export all orders as CSV: id,customer_id,status,total_cents.",
			func(none) (string, error) {
				var b strings.Builder
				b.WriteString("id,customer_id,status,total_cents\n")
				for _, o := range d.orders {
					fmt.Fprintf(&b, "%s,%s,%s,%d\n", o.ID, o.CustomerID, o.Status, o.TotalCents)
				}
				return b.String(), nil
			})),
	}
}

func where[T any](rows []T, keep func(T) bool) []T {
	kept := []T{}
	for _, row := range rows {
		if keep(row) {
			kept = append(kept, row)
		}
	}
	return kept
}

func (d *desk) wiki() []tools.Source {
	type pageID struct {
		ID string `json:"id"`
	}
	type title struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	type edit struct {
		ID   string `json:"id"`
		Body string `json:"body"`
	}
	type comment struct {
		Author string `json:"author"`
		Text   string `json:"text"`
		Votes  int    `json:"votes"`
	}
	type page struct {
		ID       string    `json:"id"`
		Title    string    `json:"title"`
		Comments []comment `json:"comments"`
	}
	titles := []title{{"p1", "Roadmap"}, {"p2", "Onboarding"}}
	pages := map[string]page{
		"p1": {"p1", "Roadmap", []comment{{"Ada", "Ship it", 3}, {"Bo", "Too soon", 5}, {"Ada", "Why?", 1}}},
		"p2": {"p2", "Onboarding", []comment{{"Cleo", "Nice", 2}}},
	}
	return []tools.Source{
		text(read("wiki.page_list", "List all pages.", func(none) (string, error) {
			list, err := json.Marshal(titles)
			return string(list), err
		})),
		text(read("wiki.page_get", "Get a page with its comments.", func(id pageID) (string, error) {
			p, ok := pages[id.ID]
			if !ok {
				return "", fmt.Errorf("no page %q", id.ID)
			}
			raw, err := json.Marshal(p)
			return string(raw), err
		})),
		text(effect("wiki.page_update", "Replace the body of a page.", func(e edit) (string, error) {
			d.did("wiki.page_update")
			return "updated " + e.ID, nil
		})),
	}
}

// The arguments and results of mail, services and people.
type (
	message struct {
		To      string `json:"to" jsonschema:"description=Mail address: ada@example.com."`
		Subject string `json:"subject"`
		Body    string `json:"body"`
	}
	sent struct {
		MessageID string `json:"message_id"`
	}
	service struct {
		Name string `json:"name"`
	}
	address struct {
		City string `json:"city"`
	}
	person struct {
		Name    string   `json:"name"`
		Address *address `json:"address"`
		Manager *string  `json:"manager"`
		Salary  string   `json:"salary" jsonschema:"description=Decimal: 1234.50."`
	}
	email struct {
		Email string `json:"email"`
	}
	usage struct {
		Service string `json:"service"`
		Day     int    `json:"day" jsonschema:"minimum=1,maximum=366"`
	}
)

func (d *desk) office() []tools.Source {
	states := map[string]string{"web": "up", "db": "up", "queue": "down"}
	bo := "Ada"
	people := map[string]person{
		"ada@example.com": {"Ada", &address{"Berlin"}, nil, "3860.03"},
		"bo@example.com":  {"Bo", nil, &bo, "2990.50"},
	}
	return []tools.Source{
		effect("mail.send_message", "Send a mail.", func(m message) (sent, error) {
			if !strings.HasSuffix(m.To, "@example.com") {
				return sent{}, fmt.Errorf("the address %q is unknown; addresses end with @example.com", m.To)
			}
			return sent{fmt.Sprintf("m%d", d.did("mail.send_message"))}, nil
		}),
		text(read("ops.service_status", "State of a service: web, db or queue.", func(s service) (string, error) {
			state, ok := states[s.Name]
			if !ok {
				return "", fmt.Errorf("no service %q; services are web, db and queue", s.Name)
			}
			return fmt.Sprintf("%s: %s, 3 replicas", s.Name, state), nil
		})),
		effect("ops.restart_service", "Restart a service.", func(s service) (bool, error) {
			if s.Name == "db" {
				return false, errors.New("db is locked by a backup; do not retry today")
			}
			if d.did("ops.restart_service") == 1 && s.Name == "queue" {
				return false, errors.New("queue is busy; try again")
			}
			return true, nil
		}),
		read("ops.usage", "Requests that a service had on a day of the year.",
			func(u usage) (int, error) { return u.Day % 7, nil }),
		read("hr.get_person", "Look up a person.", func(e email) (person, error) {
			p, ok := people[e.Email]
			if !ok {
				return person{}, fmt.Errorf("nobody has the address %q", e.Email)
			}
			return p, nil
		}),
	}
}
