//go:build integration

package codemode

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

// TestPackages installs packages from the registry, and imports them.
func TestPackages(t *testing.T) {
	t.Parallel()
	packages := []string{"lodash-es", "date-fns", "zod", "yaml", "papaparse", "marked"}
	session, _ := begin(t, setup{Options: Options{Packages: packages, AllowInstall: true}})
	done := get[installation](t, session, "install_dependencies", map[string]any{"packages": packages})
	if len(done.Added) < 6 {
		t.Errorf("got %+v", done)
	}
	e := get[execution](t, session, "execute_code", map[string]any{"environment": "default", "code": `
		import { chunk } from "lodash-es";
		import { addDays, formatISO } from "date-fns";
		import { z } from "zod";
		import { parse } from "yaml";
		import Papa from "papaparse";
		import { marked } from "marked";
		const rows: string[][] = Papa.parse<string[]>("a,1\nb,2").data;
		[chunk([1, 2, 3], 2), formatISO(addDays(new Date(0), 1), {representation: "date"}), z.object({n: z.number()}).parse(parse("n: 4")), rows, marked.parse("*hi*")]`})
	var got, want any
	const text = `[[[1,2],[3]],"1970-01-02",{"n":4},[["a","1"],["b","2"]],"<p><em>hi</em></p>\n"]`
	if err := errors.Join(json.Unmarshal(e.Result, &got), json.Unmarshal([]byte(text), &want)); err != nil ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("%v: got\n%s\nwant\n%s", err, e.Result, text)
	}
}
