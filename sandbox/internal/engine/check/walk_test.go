package check

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// TestWalk compares Walker with a plain walk over all fields.
func TestWalk(t *testing.T) {
	t.Parallel()
	walked, err := os.ReadFile("testdata/syntax.js") // contains every kind of node
	if err != nil {
		t.Fatal(err)
	}
	source := strings.ReplaceAll(string(walked), "static async *ax() {}", "static async ax() {}")
	tree, err := parser.ParseFile(nil, "", "(async()=>{"+source+"\n})()", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]int{}, map[string]int{}
	w := Walker{Visit: func(n ast.Node) {
		if isVisited(n) {
			got[label(n)]++
		}
	}}
	for _, s := range tree.Body {
		w.Walk(s)
	}
	reflected(reflect.ValueOf(tree.Body), want)
	for l, n := range want {
		if got[l] != n {
			t.Errorf("%s: visited %d times, want %d", l, got[l], n)
		}
	}
	for l := range got {
		if want[l] == 0 {
			t.Errorf("%s: visited, but not in the tree", l)
		}
	}
}

// label identifies nodes: identifiers by name, others by type.
func label(n ast.Node) string {
	if id, ok := n.(*ast.Identifier); ok {
		return "identifier " + id.Name.String()
	}
	return fmt.Sprintf("%T", n)
}

// reflected counts the nodes in v, without those that Walk does not visit: the names of
// members, labels, functions and classes.
func reflected(v reflect.Value, count map[string]int) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if n, ok := v.Interface().(ast.Node); ok && v.Kind() == reflect.Pointer && isVisited(n) {
			count[label(n)]++
		}
		reflected(v.Elem(), count)
	case reflect.Slice:
		for i := range v.Len() {
			reflected(v.Index(i), count)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || isName(v.Type(), f.Name) {
				continue
			}
			field := v.Field(i)
			if field.CanAddr() && v.Type() == reflect.TypeFor[ast.PropertyShort]() && f.Name == "Name" {
				field = field.Addr()
			}
			reflected(field, count)
		}
	}
}

// isVisited reports whether Walk visits all nodes of a kind.
func isVisited(n ast.Node) bool {
	switch n.(type) {
	case *ast.BlockStatement, *ast.CatchStatement, *ast.CaseStatement, *ast.ParameterList, *ast.TemplateElement:
		return false
	}
	return true
}

func isName(t reflect.Type, field string) bool {
	switch t.Name() + "." + field {
	case "DotExpression.Identifier", "PrivateDotExpression.Identifier", "BranchStatement.Label", "LabelledStatement.Label",
		"FunctionLiteral.Name", "ClassLiteral.Name", "FunctionLiteral.DeclarationList",
		"ArrowFunctionLiteral.DeclarationList",
		"MetaProperty.Meta", "MetaProperty.Property", "ClassStaticBlock.DeclarationList", "Program.DeclarationList":
		return true
	}
	return false
}
