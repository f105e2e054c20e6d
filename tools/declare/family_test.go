package declare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFamilies(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"":            "",
		"list_orders": "list_orders",
		"get_order get_user list_order list_user":        "{get,list}_{order,user}",
		"getOrder getUser listOrder listUser":            "{get,list}{Order,User}",
		"order_get order_list user_get user_list whoami": "{order,user}_{get,list}, whoami",
		"get_order get_user get_tax list_order list_user list_tax find_tax refund": "{get,list}_{order,tax,user}, " +
			"find_tax, refund",
		"get_order get_user list_order":             "{get,list}_order, get_user",
		"a_get_x a_get_y a_list_x a_list_y b_get_z": "a_{get,list}_{x,y}, b_get_z",
		"get_order get_orders list_order":           "{get,list}_order, get_orders",
		"get get_all _get __proto__ get_":           "__proto__, _get, get, get_, get_all",
		"close_pool open_pool":                      "{close,open}_pool",
		"日本_a 日本_b 中国_a 中国_b":                       "{中国,日本}_{a,b}",
	} {
		var list []string
		for _, f := range families(strings.Fields(names)) {
			if len(f) == 1 {
				list = append(list, f[0]...)
			} else {
				list = append(list, f.String())
			}
		}
		if got := strings.Join(list, ", "); got != want {
			t.Errorf("%s: got %s, want %s", names, got, want)
		}
	}
}

// Families contain all names once, and no other names.
func FuzzFamilies(f *testing.F) {
	f.Add("get_order get_user list_order list_user cancel_order")
	f.Add("a a_ _a __ a__b aB aBC AB a_B 1_2 日本_語 $x $_x")
	f.Add(strings.Repeat("a_", 100) + "b " + strings.Repeat("aB", 100))
	f.Fuzz(func(t *testing.T, text string) {
		names := strings.Fields(text)
		slices.Sort(names)
		names = slices.Compact(names)
		var got []string
		for _, f := range families(names) {
			got = append(got, f.names()...)
		}
		slices.Sort(got)
		if !slices.Equal(got, names) {
			t.Errorf("got %q, want %q", got, names)
		}
	})
}

// 10,000 names of one server take as long as 10,000 names of many.
func BenchmarkFamilies(b *testing.B) {
	for _, verbs := range []int{1, 10, 100} {
		var names []string
		for i := range 10_000 {
			names = append(names, fmt.Sprintf("m%d_verb%d_noun%d_x%d", i%3, i%verbs, i*i%997, i))
		}
		b.Run(fmt.Sprint(verbs), func(b *testing.B) {
			for b.Loop() {
				families(names)
			}
		})
	}
}
