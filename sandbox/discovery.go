package sandbox

import (
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
)

// discoverer is the object that has search and describe.
const discoverer = discovery.Object

// params are the parameters of its members, and usage is how they are called.
var (
	params = map[string][]string{"search": {"query", "options"}, "describe": {"name"}}
	usage  = map[string]string{"search": "tools.search(query, {server, limit})", "describe": "tools.describe(name)"}
)

// discover makes tools.search and tools.describe of a set.
func discover(set *tools.Set, most int) ([]*tools.Binding, *tools.Dispatcher) {
	return discovery.New(set, most).Tools()
}
