package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

func tool(namespace, name, description string) *tools.Tool {
	return &tools.Tool{
		Namespace: namespace, Name: name, Description: description,
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
	}
}

// Tool finds a tool by each of its names, ignoring case and punctuation, and without the
// server's name if that is unique. It does not guess.
func TestTool(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(),
		tool("", "refund", "Refund one order."),
		tool("file system", "read/file", "Read a file."), tool("file system", "list", "List a directory."),
		tool("shop", "list", "List orders."), tool("shop", "ship", "Ship an order."),
		tool("ship", "sail", "Set sail."), tool("bank", "refund", "Refund a payment."))
	if err != nil {
		t.Fatal(err)
	}
	d := search.New(set, 1000)
	for name, want := range map[string]string{
		"refund":                   "refund",
		"shop.list":                "shop.list",
		"file_system.read_file":    "file_system.read_file",
		`file_system["read/file"]`: "file_system.read_file",
		"file system.read/file":    "file_system.read_file",
		"read/file":                "file_system.read_file",
		"readFile":                 "file_system.read_file",
		"File-System.readFile":     "file_system.read_file",
		"shop_list":                "shop.list",
		"sail":                     "ship.sail",
		"list":                     `there is no tool "list"; did you mean shop.list or file_system.list?`,
		"ship":                     `there is no tool "ship"; did you mean shop.ship or ship.sail?`,
		"shop.lists":               `there is no tool "shop.lists"; did you mean shop.list or file_system.list?`,
		"shop.nope": `there is no tool "shop.nope"; the tools are refund, file_system.read_file, ` +
			`file_system.list, shop.list, shop.ship, ship.sail, bank.refund`,
		"Refund":      `there is no tool "Refund"; did you mean refund or bank.refund?`,
		"bank.Refund": "bank.refund",
		"frobnicate": `there is no tool "frobnicate"; the tools are refund, file_system.read_file, ` +
			`file_system.list, shop.list, shop.ship, ship.sail, bank.refund`,
		"": `there is no tool ""; the tools are refund, file_system.read_file, file_system.list, ` +
			`shop.list, shop.ship, ship.sail, bank.refund`,
		"file_system.read_file.txt": `there is no tool "file_system.read_file.txt"; did you mean file_system.read_file?`,
	} {
		got := fmt.Sprint(d.Unknown("tool", name))
		if b := d.Tool(name); b != nil {
			got = b.Path()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// If two names differ only in case and punctuation, a third spelling matches neither.
func TestToolAmbiguous(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), tool("crm", "get_user", "Get."), tool("crm", "getUser", "Get."),
		tool("", "find", "Find."))
	if err != nil {
		t.Fatal(err)
	}
	d := search.New(set, 1000)
	for name, want := range map[string]string{
		"crm.get_user": "crm.get_user", "crm.getUser": "crm.getUser", "getUser": "crm.getUser",
		"crm.GetUser": "", "get-user": "", "": "", "_": "", "Find": "find",
	} {
		got := ""
		if b := d.Tool(name); b != nil {
			got = b.Path()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// Readers who do not write programs are referred to the given search tool.
func TestSearchedBy(t *testing.T) {
	t.Parallel()
	many := []tools.Source{tool("shop", "list", "List orders."), tool("shop", "ship", "Ship an order.")}
	for i := range 10 {
		many = append(many, tool("", fmt.Sprint("other", i), "Do something else."))
	}
	set, err := tools.NewSet(t.Context(), many...)
	if err != nil {
		t.Fatal(err)
	}
	inside := search.New(set, 30)
	outside := inside.SearchedBy("search_tools")
	for d, want := range map[*search.Index][2]string{
		inside: {
			`there is no tool "x"; find one with tools.search(query); available: shop (2 tools), 10 global functions`,
			"shop has 2 tools:\n// there are more: tools.search(query, {server: \"shop\"})\n",
		},
		outside: {
			`there is no tool "x"; find one with search_tools; available: shop (2 tools), 10 global functions`,
			"shop has 2 tools:\n// there are more: search_tools with server: \"shop\"\n",
		},
	} {
		if got := d.Unknown("tool", "x").Error(); got != want[0] {
			t.Errorf("got %s, want %s", got, want[0])
		}
		text, err := d.Describe("shop")
		if err != nil || text != want[1] {
			t.Errorf("got %s (%v), want %s", text, err, want[1])
		}
	}
}

// call calls tools.search or tools.describe and returns its result or error, and the note.
func call(t *testing.T, d *search.Index, name, args string) (got, note string) {
	t.Helper()
	set := d.Extended()
	i := slices.IndexFunc(set.Bindings(), func(b *tools.Binding) bool { return b.Path() == "tools."+name })
	result, err := dispatch.New(set, nil).Issue(tools.Call{Args: json.RawMessage(args)}, i).Perform(t.Context())
	if err != nil {
		return err.Error(), ""
	}
	var text string
	if json.Unmarshal(result, &text) != nil {
		text = string(result)
	}
	if remark := set.Bindings()[i].Remark; remark != nil {
		note = remark(json.RawMessage(args), result)
	}
	return text, note
}

// shop returns a set with the tools of two servers and one function.
func shop(t *testing.T) *tools.Set {
	t.Helper()
	input := func(tl *tools.Tool, schema string) *tools.Tool {
		tl.InputSchema = json.RawMessage(schema)
		return tl
	}
	get := input(tool("order-desk", "get-order", "Get one order. It has lines."),
		`{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}`)
	get.Claimed = tools.Read
	list := input(tool("order-desk", "listOrders", "List the orders of a customer."),
		`{"type": "object", "properties": {"customer": {"type": "string"}}}`)
	list.Hints.Class = tools.Read
	erase := tool("order-desk", "erase", "Erase a draft.")
	erase.Claimed, erase.Hints.Destructive = tools.Read, true
	set, err := tools.NewSet(t.Context(), get, list, erase,
		tool("mail", "send", "Send a mail."), tool("", "refund", "Refund a payment."))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	const (
		get = "  /** Get one order. It has lines. */\n  get_order(args: {id: string}): Promise<string | Content>; /* " +
			"read-only */\n"
		all = "  /** List the orders of a customer. */\n  listOrders(args?: {customer?: string}): Promise<string | " +
			"Content>; /* read-only */\n"
		own = "/** Refund a payment. */\ndeclare function refund(args?: object): Promise<unknown>;\n"
		era = "declare const order_desk: {\n  /** Erase a draft. */\n  erase(args?: object): Promise<string | Content>;\n};\n"
	)
	d := search.New(shop(t), 10_000)
	for args, want := range map[string]string{
		`"order_desk.get_order"`: "declare const order_desk: {\n" + get + "};\n",
		`"order-desk.get-order"`: "declare const order_desk: {\n" + get + "};\n",
		`"order_desk.getOrder"`:  "declare const order_desk: {\n" + get + "};\n",
		`["get_order"]`:          "declare const order_desk: {\n" + get + "};\n",
		`"order_desk.erase"`:     era,
		`"order_desk.get_ordr"`: "// there is no tool \"order_desk.get_ordr\"; the nearest is " +
			"order_desk.get_order\ndeclare const order_desk: {\n" + get + "};\n",
		`"oder_desk.erase"`: "// there is no tool \"oder_desk.erase\"; the nearest is order_desk.erase\n" + era,
		`"refnd"`:           "// there is no tool \"refnd\"; the nearest is refund\n" + own,
		`["refund", "listOrders", "order_desk.get_order", "refund"]`: own + "declare const order_desk: {\n" + all + get +
			"};\n",
		`["refund", "xyzzy", "mail"]`: "// there is no tool or server \"xyzzy\"; the tools are order_desk.get_order, " +
			"order_desk.listOrders, order_desk.erase, mail.send, refund\n" +
			own + "mail has 1 tool:\nmail.send: Send a mail.\n",
		`"Order Desk"`: "order_desk has 3 tools:\norder_desk.get_order (read-only): Get one " +
			"order.\norder_desk.listOrders (read-only): List the orders of a customer.\norder_desk.erase: Erase a draft.\n",
		`"order_desk.{get_order,listOrders}"`: "declare const order_desk: {\n" + get + all + "};\n",
		`["{erase,refund}"]`:                  era + own,
		`"order_desk.{erase,x{"`: `tool tools.describe: there is no tool or server "order_desk.{erase,x{"; ` +
			`did you mean order_desk.erase?`,
		`"ref"`: `tool tools.describe: there is no tool or server "ref"; the tools are ` +
			`order_desk.get_order, order_desk.listOrders, order_desk.erase, mail.send, refund`,
		`"mial"`: "mail has 1 tool:\nmail.send: Send a mail.\n",
		`"xyzzy"`: `tool tools.describe: there is no tool or server "xyzzy"; the tools are ` +
			`order_desk.get_order, order_desk.listOrders, order_desk.erase, mail.send, refund`,
		`"mail.xyzzy"`: `tool tools.describe: there is no tool or server "mail.xyzzy"; the tools ` +
			`are order_desk.get_order, order_desk.listOrders, order_desk.erase, mail.send, refund`,
		`[]`: "tool tools.describe: name must have at least 1 item, not 0",
	} {
		if got, note := call(t, d, "describe", `{"name": `+args+`}`); got != want || note != "" {
			t.Errorf("%s: got %s (%s)\nwant %s", args, got, note, want)
		}
	}
}

// A long list of tools shows only names. Braces expand to a limited number of names.
func TestDescribeMany(t *testing.T) {
	t.Parallel()
	var list []tools.Source
	for _, subject := range []string{"order", "user", "invoice"} {
		for _, verb := range []string{"get", "list"} {
			tl := tool("erp", "sales_"+verb+"_"+subject, strings.Repeat("Long ", 200))
			tl.Claimed = tools.Read
			list = append(list, tl, tool("erp", "stock_"+verb+"_"+subject, "Short."))
		}
	}
	for i := range 20 {
		list = append(list, tool("erp", fmt.Sprint("x", i), strings.Repeat("Long ", 200)))
	}
	set, err := tools.NewSet(t.Context(), list...)
	if err != nil {
		t.Fatal(err)
	}
	const (
		braces = "{get,list}_{a,b} stands for get_a, get_b, list_a and list_b.\n"
		others = "stock_{get,list}_{invoice,order,user}, x0, x1, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x2, " +
			"x3, x4, x5, x6, x7, x8, x9\n"
		short = "erp.stock_get_order: Short.\nerp.stock_list_order: Short.\nerp.stock_get_user: " +
			"Short.\nerp.stock_list_user: Short.\n" +
			"erp.stock_get_invoice: Short.\nerp.stock_list_invoice: Short.\n"
	)
	d := search.New(set, 10_000)
	for args, want := range map[string]string{
		`"erp"`: "erp has 32 tools:\n" + braces +
			"- erp, 32 tools\n  - read-only: sales_{get,list}_{invoice,order,user}\n  - may change data, or not declared: " + others,
		`"erp.stock_*"`: "there are 6 tools whose names begin with \"erp.stock_*\":\n" + short,
		`"stock"`:       "there are 6 tools whose names begin with \"stock\":\n" + short,
	} {
		if got, _ := call(t, d, "describe", `{"name": `+args+`}`); got != want {
			t.Errorf("%s: got %s\nwant %s", args, got, want)
		}
	}
	many := strings.Repeat("{"+strings.Repeat("x1,", 5)+"}", 30)
	got, _ := call(t, d, "describe", `{"name": ["x1", "`+many+`"]}`)
	if want := "// there are more than 50 names; the others are left out\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	const all = "the tools are order_desk.get_order, order_desk.listOrders, order_desk.erase, mail.send, refund"
	d := search.New(shop(t), 10_000)
	for args, want := range map[string][2]string{
		`{"query": "refund the payment"}`: {`[{"name":"refund","description":"Refund a ` +
			`payment."}]`},
		`{"query": "give the money back"}`: {"[]", `no tool matches "give the money back"; ` +
			all},
		`{"query": "swimming hall"}`:                             {"[]", `no tool matches "swimming hall"; ` + all},
		`{"query": "send", "options": {"server": "order_desk"}}`: {"[]", `no tool matches "send"; ` + all},
		`{"query": "send", "options": {"server": "Mail", "limit": 1000}}`: {`[{"name":"mail.send","description":"Send a ` +
			`mail."}]`},
		`{"query": "order", "options": {"limit": 1.5}}`: {`[{"name":"order_desk.listOrders",` +
			`"description":"List the orders of a customer."}]`},
		`{"query": "", "options": {"server": "order-dsk", "limit": -4}}`: {`[{"name":"order_desk.erase",` +
			`"description":"Erase a draft."},{"name":"order_desk.get_order","description":"Get one ` +
			`order."},{"name":"order_desk.listOrders","description":"List the orders of a customer."}]`},
		`{"query": "x", "options": {"server": "billing"}}`: {`tool tools.search: there is no server ` +
			`"billing"; available: order_desk (3 tools), mail (1 tool), 1 global function`},
		`{"query": "refund", "options": {"declare": true, "limit": 1e30}}`: {`[{"name":"refund","description":"Refund a ` +
			`payment.","declaration":"/** Refund a payment. */\ndeclare function refund(args?: object): Promise<unknown>;\n"}]`},
	} {
		if got, note := call(t, d, "search", args); got != want[0] || note != want[1] {
			t.Errorf("%s: got %s (%s)\nwant %s (%s)", args, got, note, want[0], want[1])
		}
	}
}

// Only the first hits have declarations, and those that are too long are left out.
func TestSearchDeclare(t *testing.T) {
	t.Parallel()
	var list []tools.Source
	for i := range 9 {
		list = append(list, tool("shop", fmt.Sprintf("copy_%d", i), "Copy."))
	}
	set, err := tools.NewSet(t.Context(), list...)
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]int{10_000: 5, 250: 2, 10: 0} {
		got, _ := call(t, search.New(set, most), "search", `{"query": "copy", "options": {"declare": true}}`)
		if hits, n := strings.Count(got, `"name"`), strings.Count(got, "declare const shop"); hits != 9 || n != want {
			t.Errorf("%d hits, %d declarations in %d bytes, want 9 and %d: %s", hits, n, most, want, got)
		}
	}
}

// If there are many tools, the note lists the servers by their number of tools.
func TestNote(t *testing.T) {
	t.Parallel()
	var list []tools.Source
	for i := range 30 {
		list = append(list, tool(fmt.Sprintf("server%d", i/2), fmt.Sprintf("copy_%d", i), "Copy."))
	}
	for i := range 60 {
		list = append(list, tool(fmt.Sprintf("shop%d", i/6), fmt.Sprintf("copy_%d", i), "Copy."))
	}
	set, err := tools.NewSet(t.Context(), list...)
	if err != nil {
		t.Fatal(err)
	}
	want := `no tool matches "swimming hall"; search with other words, or describe a server to list its tools; ` +
		"available: " +
		"shop0 (6 tools), shop1 (6 tools), shop2 (6 tools), shop3 (6 tools), shop4 (6 tools), " +
		"shop5 (6 tools), shop6 (6 tools), shop7 (6 tools), shop8 (6 tools), shop9 (6 tools), " +
		"server0 (2 tools), server1 (2 tools), server2 (2 tools), server3 (2 tools), server4 (2 tools), " +
		"server5 (2 tools), server6 (2 tools), server7 (2 tools), server8 (2 tools), server9 (2 tools), 5 more servers"
	if got, note := call(t, search.New(set, 1000), "search", `{"query": "swimming hall"}`); got != "[]" ||
		note != want {
		t.Errorf("got %s (%s)\nwant %s", got, note, want)
	}
}

// A set that has the search tools is not extended again, and they are not found.
func TestExtendedTwice(t *testing.T) {
	t.Parallel()
	set := search.New(shop(t), 1000).Extended()
	d := search.New(set, 1000)
	if again := d.Extended(); again != set {
		t.Errorf("got another set, of %d tools", again.Len())
	}
	hits, err := d.Search(t.Context(), "search describe tools", nil)
	if err != nil || slices.ContainsFunc(hits, func(h search.Hit) bool { return strings.HasPrefix(h.Name, "tools.") }) {
		t.Errorf("got %v (%v)", hits, err)
	}
}
