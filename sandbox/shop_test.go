package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/tools"
)

// shop is the state behind the tools of the language tests: testdata/language/shop.json.
type shop struct {
	Customers []customer
	Products  []product
	Orders    []order
	Articles  []article
	Files     map[string]string
	Cities    []city

	mu    sync.Mutex
	tries map[string]int // of flaky, by key
}

type customer struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Email   string `json:"email"`
	Country string `json:"country"`
	Tier    string `json:"tier"`
}

type product struct {
	SKU   string   `json:"sku"`
	Name  string   `json:"name"`
	Stock int      `json:"stock"`
	Price float64  `json:"price"`
	Tags  []string `json:"tags"`
}

type order struct {
	ID       int         `json:"id"`
	Customer string      `json:"customer"`
	Status   string      `json:"status"`
	Placed   string      `json:"placed"`
	Total    float64     `json:"total"`
	Items    []orderItem `json:"items"`
	Note     *string     `json:"note"`
}

type orderItem struct {
	SKU   string  `json:"sku"`
	Qty   int     `json:"qty"`
	Price float64 `json:"price"`
}

type article struct {
	ID    int      `json:"id"`
	Title string   `json:"title"`
	Score int      `json:"score"`
	Tags  []string `json:"tags"`
}

type city struct {
	City    string    `json:"city"`
	Celsius float64   `json:"celsius"`
	Rain    []float64 `json:"rain"`
}

// shopTools returns the tools of a new shop. They are deterministic if no two programs use
// the same key of flaky.
func shopTools(t testing.TB) *tools.Set {
	t.Helper()
	text, err := os.ReadFile("testdata/language/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{tries: map[string]int{}}
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(t.Context(),
		in("orders", tools.Func("list", "List orders.", s.listOrders, nil)),
		in("orders", tools.Func("get", "Get an order.", s.getOrder, nil)),
		in("orders", tools.Func("refund", "Refund an order.", s.refundOrder, nil)),
		in("customers", tools.Func("get", "Get a customer.", s.getCustomer, nil)),
		in("customers", tools.Func("list", "List customers.", s.listCustomers, nil)),
		in("mail", tools.Func("send", "Send a mail.", s.sendMail, nil)),
		in("fs", tools.Func("read", "Read a text file.", s.readFile, nil)),
		in("fs", tools.Func("list", "List paths.", s.listFiles, nil)),
		in("math", tools.Func("add", "Add.", add, nil)),
		tools.Func("stock", "Look up a product.", s.stock, nil),
		tools.Func("search", "Search articles, five a page.", s.search, nil),
		tools.Func("weather", "Tell the weather.", s.weather, nil),
		tools.Func("flaky", "Fail the first times.", s.flaky, nil),
		tools.Func("slow", "Wait.", slow, nil),
	)
	if err != nil {
		t.Fatal(err)
	}
	return searchable(set)
}

func in(namespace string, tool *tools.Tool) *tools.Tool {
	tool.Namespace = namespace
	return tool
}

type none struct{}

// get returns the first item that is wanted, or a ToolError.
func get[T any](list []T, is func(T) bool, what, key string, id any) (T, error) {
	i := slices.IndexFunc(list, is)
	if i >= 0 {
		return list[i], nil
	}
	data, err := json.Marshal(map[string]any{key: id})
	if err != nil {
		panic(err)
	}
	var zero T
	return zero, &tools.ToolError{Kind: "failed", Message: fmt.Sprintf("no %s %v", what, id), Data: data}
}

type listOrdersArgs struct {
	Status   string `json:"status,omitempty" jsonschema:"enum=open,enum=shipped,enum=delivered,enum=cancelled,enum=refunded"`
	Customer string `json:"customer,omitempty"`
	Limit    int    `json:"limit,omitempty" jsonschema:"minimum=1"`
	Offset   int    `json:"offset,omitempty" jsonschema:"minimum=0"`
}

func (s *shop) listOrders(_ context.Context, a listOrdersArgs) ([]order, error) {
	list := []order{}
	for _, o := range s.Orders {
		if (a.Status == "" || o.Status == a.Status) && (a.Customer == "" || o.Customer == a.Customer) {
			list = append(list, o)
		}
	}
	list = list[min(a.Offset, len(list)):]
	if a.Limit > 0 {
		list = list[:min(a.Limit, len(list))]
	}
	return list, nil
}

type orderID struct {
	ID int `json:"id"`
}

func (s *shop) getOrder(_ context.Context, a orderID) (order, error) {
	return get(s.Orders, func(o order) bool { return o.ID == a.ID }, "order", "id", a.ID)
}

type refundOrderArgs struct {
	ID     int      `json:"id"`
	Reason string   `json:"reason" jsonschema:"enum=broken,enum=late,enum=unwanted"`
	Amount *float64 `json:"amount,omitempty" jsonschema:"minimum=0"`
}

type refundedOrder struct {
	ID       int     `json:"id"`
	Refunded float64 `json:"refunded"`
	Reason   string  `json:"reason"`
}

func (s *shop) refundOrder(ctx context.Context, a refundOrderArgs) (refundedOrder, error) {
	o, err := s.getOrder(ctx, orderID{a.ID})
	if err != nil {
		return refundedOrder{}, err
	}
	if o.Status == "refunded" {
		return refundedOrder{}, &tools.ToolError{
			Kind: "denied", Message: fmt.Sprintf("order %d is refunded already", a.ID),
			Data: json.RawMessage(fmt.Sprintf(`{"id":%d}`, a.ID)),
		}
	}
	if a.Amount == nil {
		a.Amount = &o.Total
	}
	return refundedOrder{a.ID, *a.Amount, a.Reason}, nil
}

type customerID struct {
	ID string `json:"id"`
}

func (s *shop) getCustomer(_ context.Context, a customerID) (customer, error) {
	return get(s.Customers, func(c customer) bool { return c.ID == a.ID }, "customer", "id", a.ID)
}

func (s *shop) listCustomers(context.Context, none) ([]customer, error) { return s.Customers, nil }

type letter struct {
	To      []string `json:"to"`
	Subject string   `json:"subject"`
	Body    string   `json:"body,omitempty"`
}

type receipt struct {
	ID       string `json:"id"`
	Accepted int    `json:"accepted"`
}

func (s *shop) sendMail(_ context.Context, a letter) (receipt, error) {
	return receipt{fmt.Sprintf("m-%d", len([]rune(a.Subject))), len(a.To)}, nil
}

type filePath struct {
	Path string `json:"path"`
}

func (s *shop) readFile(_ context.Context, a filePath) (string, error) {
	files := slices.Collect(maps.Keys(s.Files))
	path, err := get(files, func(p string) bool { return p == a.Path }, "file", "path", a.Path)
	return s.Files[path], err
}

func (s *shop) listFiles(context.Context, none) ([]string, error) {
	return slices.Sorted(maps.Keys(s.Files)), nil
}

type addends struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

func add(_ context.Context, a addends) (float64, error) { return a.A + a.B, nil }

type stockArgs struct {
	SKU string `json:"sku"`
}

func (s *shop) stock(_ context.Context, a stockArgs) (product, error) {
	return get(s.Products, func(p product) bool { return p.SKU == a.SKU }, "product", "sku", a.SKU)
}

type searchArgs struct {
	Query string `json:"query"`
	Page  int    `json:"page,omitempty" jsonschema:"minimum=1"`
}

type searchPage struct {
	Items []article `json:"items"`
	Total int       `json:"total"`
	Next  *int      `json:"next"`
}

func (s *shop) search(_ context.Context, a searchArgs) (searchPage, error) {
	const size = 5
	found := []article{}
	for _, x := range s.Articles {
		if strings.Contains(strings.ToLower(x.Title), strings.ToLower(a.Query)) {
			found = append(found, x)
		}
	}
	from, next := min(size*max(a.Page-1, 0), len(found)), max(a.Page, 1)+1
	page := searchPage{Items: found[from:min(from+size, len(found))], Total: len(found)}
	if from+size < len(found) {
		page.Next = &next
	}
	return page, nil
}

type cityName struct {
	City string `json:"city"`
}

func (s *shop) weather(_ context.Context, a cityName) (city, error) {
	return get(s.Cities, func(c city) bool { return c.City == a.City }, "city", "city", a.City)
}

type flakyArgs struct {
	Key   string `json:"key"`
	Times int    `json:"times,omitempty"`
}

type attempts struct {
	Key      string `json:"key"`
	Attempts int    `json:"attempts"`
}

func (s *shop) flaky(_ context.Context, a flakyArgs) (attempts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries[a.Key]++
	n := s.tries[a.Key]
	if a.Times == 0 {
		a.Times = 2
	}
	if n <= a.Times {
		return attempts{}, &tools.ToolError{
			Kind: "unavailable", Message: fmt.Sprintf("try again: %d", n),
			Data: json.RawMessage(fmt.Sprintf(`{"attempt":%d}`, n)),
		}
	}
	return attempts{a.Key, n}, nil
}
