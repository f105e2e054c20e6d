package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
)

func newFile(t testing.TB, space *workspace.Space, name, content string) workspace.File {
	t.Helper()
	file, err := space.NewFile(t.Context(), name, content)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func readFile(t testing.TB, space *workspace.Space, handle string) string {
	t.Helper()
	text, _, err := space.Read(t.Context(), handle)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// holds compares the content of a file.
func holds(t *testing.T, space *workspace.Space, handle, want string) {
	t.Helper()
	if got := readFile(t, space, handle); got != want {
		t.Errorf("%s has %q, want %q", handle, got, want)
	}
}

// errorIs checks the whole message of an error, and what it wraps.
func errorIs(t *testing.T, what string, err, sentinel error, want string) {
	t.Helper()
	if !errors.Is(err, sentinel) || err.Error() != want {
		t.Errorf("%s: got  %v\nwant %s", what, err, want)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	other := reopen(t, dir)
	ann := store.Space("ann@example.com/../\x00")
	report := newFile(t, ann, "report.js", "const a = 1;\n")
	if !regexp.MustCompile(`^report-[0-9a-z]{6}\.js$`).MatchString(report.Handle) || report.Name != "report.js" ||
		report.Size != 13 {
		t.Errorf("%+v", report)
	}
	same := newFile(t, ann, "report.js", "")
	newFile(t, ann, "a.min-1.js", "x")
	replica := other.Space("ann@example.com/../\x00")
	longer, err := replica.Append(t.Context(), report.Handle, "a + 1\n")
	if err != nil || longer.Size != 19 || longer.Handle != report.Handle {
		t.Errorf("%+v, %v", longer, err)
	}
	holds(t, ann, report.Handle, "const a = 1;\na + 1\n")
	holds(t, ann, same.Handle, "")
	if err := replica.RemoveFile(t.Context(), same.Handle); err != nil {
		t.Error(err)
	}
	var names []string
	list, err := ann.Files(t.Context())
	for _, f := range list {
		names = append(names, fmt.Sprint(f.Name, " ", f.Size))
	}
	if got := strings.Join(names, ", "); err != nil || got != "a.min-1.js 1, report.js 19" {
		t.Errorf("%s, %v", got, err)
	}
	if list, err := store.Space("bob").Files(t.Context()); list != nil || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	const letters = "has characters other than the letters a to z, digits, dots, hyphens and underscores"
	for name, want := range map[string]string{
		"":                      "is empty",
		"../x":                  letters,
		"/etc/passwd":           letters,
		"a/b":                   letters,
		`a\b`:                   letters,
		"a\x00b":                letters,
		"a\nb":                  letters,
		"C:":                    letters,
		"ä.js":                  letters,
		"..":                    "must begin with a letter or a digit",
		".tmp-x":                "must begin with a letter or a digit",
		"-rf":                   "must begin with a letter or a digit",
		"a.":                    "must not end with a dot",
		strings.Repeat("a", 81): "has 81 characters; 80 are allowed",
	} {
		_, err := store.Space("ann").NewFile(t.Context(), name, "x")
		errorIs(t, name, err, workspace.ErrName, fmt.Sprintf("workspace: the name cannot be used: %q %s", name, want))
		if _, again := store.Space("ann").NewEnvironment(t.Context(), name); again == nil || again.Error() != err.Error() {
			t.Errorf("as an environment: %v", again)
		}
	}
	if found, _ := filepath.Glob(dir + "/owners/*/*/*"); found != nil {
		t.Errorf("%q", found)
	}
}

// The handle of another owner, a removed handle, an invented one and a malformed one all give
// the same error.
func TestNotFound(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	ann, bob := store.Space("ann"), store.Space("bob")
	mine := newFile(t, ann, "a.js", "secret").Handle
	removed := newFile(t, bob, "a.js", "").Handle
	if err := bob.RemoveFile(t.Context(), removed); err != nil {
		t.Fatal(err)
	}
	for _, space := range []*workspace.Space{bob, store.Space("nobody")} {
		for _, handle := range []string{mine, removed, "a-aaaaaa.js", "a.js", "", ".", "..", "../files/" + mine,
			"/etc/passwd", "lock", ".tmp-x", "a\x00", "\xff", strings.Repeat("a/", 60)} {
			_, _, read := space.Read(t.Context(), handle)
			_, _, part := space.ReadPart(t.Context(), handle, 0, 10)
			_, appended := space.Append(t.Context(), handle, "x")
			for what, err := range map[string]error{"read": read, "part": part, "append": appended,
				"remove": space.RemoveFile(t.Context(), handle)} {
				errorIs(t, what, err, workspace.ErrNotFound, fmt.Sprintf("workspace: not found: you have no file %.100q", handle))
			}
		}
	}
	holds(t, ann, mine, "secret")
	if owners, _ := filepath.Glob(dir + "/owners/*"); len(owners) != 2 {
		t.Errorf("reading created an owner: %q", owners)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, workspace.Limits{FileBytes: 10, Files: 3, Bytes: 22})
	ann := store.Space("ann")
	a, b := newFile(t, ann, "a", "1234567890"), newFile(t, ann, "b", "12345")
	_, err := ann.Append(t.Context(), a.Handle, "x")
	errorIs(t, "append", err, workspace.ErrLimit,
		"workspace: over a limit: the file would have 11 bytes and the limit is 10; nothing was written. Put the rest "+
			"into another file and run both in one session")
	_, err = ann.NewFile(t.Context(), "c", "12345678901")
	errorIs(t, "new", err, workspace.ErrLimit,
		"workspace: over a limit: the file would have 11 bytes and the limit is 10; nothing was written. Put the rest "+
			"into another file and run both in one session")
	_, err = ann.NewFile(t.Context(), "c", "12345678")
	errorIs(t, "bytes", err, workspace.ErrLimit,
		"workspace: over a limit: your files would have 23 bytes in total and the limit is 22; nothing was written. "+
			"Remove some that are no longer needed; "+a.Handle+" has been unused the longest")
	c := newFile(t, ann, "c", "123")
	_, err = ann.Append(t.Context(), b.Handle, "12345")
	errorIs(t, "bytes", err, workspace.ErrLimit,
		"workspace: over a limit: your files would have 23 bytes in total and the limit is 22; nothing was written. "+
			"Remove some that are no longer needed; "+a.Handle+" has been unused the longest")
	_, err = ann.NewFile(t.Context(), "d", "")
	errorIs(t, "count", err, workspace.ErrLimit,
		"workspace: over a limit: you have 3 files and the limit is 3; nothing was written. Remove one that is no "+
			"longer needed; "+a.Handle+" has been unused the longest")
	if got := readFile(t, ann, a.Handle) + readFile(t, ann, b.Handle) + readFile(t, ann,
		c.Handle); got != "123456789012345123" {
		t.Errorf("%q", got)
	}
	newFile(t, store.Space("bob"), "d", "1234567890") // the limits apply to each owner separately
	if err := ann.RemoveFile(t.Context(), c.Handle); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Append(t.Context(), b.Handle, "12345"); err != nil {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := workspace.Open(dir + "/a/b"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(dir+"/precious", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := "workspace: the storage folder " + dir +
		`: it contains "precious", so it is not a storage folder; choose a different folder`
	if _, err := workspace.Open(dir); err == nil || err.Error() != want {
		t.Error(err)
	}
	if err := os.WriteFile(dir+"/format", []byte("writ workspace 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want = "workspace: the storage folder " + dir +
		`: its format is "writ workspace 2\n", but this version needs "writ workspace 1\n"; choose a different folder`
	if _, err := workspace.Open(dir); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// Many stores may open a new folder at the same time.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/storage"
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			store, err := workspace.Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer store.Close()
			newFile(t, store.Space("ann"), "a", "")
		})
	}
	all.Wait()
	store, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if list, err := store.Space("ann").Files(t.Context()); len(list) != 8 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// Parts of any length add up to the file, and no part ends within a character.
func TestReadPart(t *testing.T) {
	t.Parallel()
	store, _ := openStore(t, workspace.Limits{})
	ann := store.Space("ann")
	text := "aé€😀é\xff\xf0\x9fx€" + strings.Repeat("😀€", 9) + "\xe2\x82"
	file := newFile(t, ann, "a", text)
	starts := map[int]bool{len(text): true}
	for i := range text {
		starts[i] = true
	}
	for limit := int64(4); limit < 40; limit++ {
		var got strings.Builder
		for int64(got.Len()) < file.Size {
			part, f, err := ann.ReadPart(t.Context(), file.Handle, int64(got.Len()), limit)
			if err != nil || part == "" || int64(len(part)) > limit || f.Size != file.Size {
				t.Fatalf("%q, %+v, %v", part, f, err)
			}
			if got.WriteString(part); !starts[got.Len()] {
				t.Errorf("limit %d: a character is cut: %q", limit, part)
			}
		}
		if got.String() != text {
			t.Errorf("limit %d: %q", limit, got.String())
		}
	}
	if part, _, err := ann.ReadPart(t.Context(), file.Handle, file.Size, 10); part != "" || err != nil {
		t.Errorf("%q, %v", part, err)
	}
	for _, c := range []struct {
		offset, limit int64
		want          string
	}{
		{-1, 10,
			"workspace: cannot read 10 bytes at offset -1: the offset must not be negative and the limit must be at least 4"},
		{0, 3,
			"workspace: cannot read 3 bytes at offset 0: the offset must not be negative and the limit must be at least 4"},
		{file.Size + 1, 4, fmt.Sprintf("workspace: the file has %d bytes; offset %d is after its end", file.Size,
			file.Size+1)},
	} {
		if _, _, err := ann.ReadPart(t.Context(), file.Handle, c.offset, c.limit); err == nil || err.Error() != c.want {
			t.Errorf("%v", err)
		}
	}
}

// Several processes, with several goroutines each, append to one file. Nothing is lost, every
// piece is whole, and the file can be read at any time.
func TestConcurrentAppends(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	ann := store.Space("ann")
	file := newFile(t, ann, "a.js", "").Handle
	const pieces = 15
	var all sync.WaitGroup
	for _, who := range []string{"p", "q", "r"} {
		c := start(t, "append", dir)
		all.Go(func() {
			defer c.end(t)
			if got := c.do(t, fmt.Sprint(file, " ", pieces, " ", who)); got != "done" {
				t.Error(got)
			}
		})
	}
	for _, who := range []string{"s", "t", "u"} {
		all.Go(func() {
			for i := range pieces {
				if _, err := ann.Append(t.Context(), file, piece(who, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	stop, reads := make(chan struct{}), make(chan int)
	go func() {
		n, size := 0, 0
		defer func() { reads <- n }()
		for ; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			text, _, err := ann.Read(t.Context(), file)
			if err != nil || len(text) < size || text != "" && !strings.HasSuffix(text, ">\n") {
				t.Errorf("%d bytes, after %d: %v", len(text), size, err)
				return
			}
			size = len(text)
		}
	}()
	all.Wait()
	close(stop)
	if <-reads == 0 {
		t.Error("there were no reads")
	}
	next := map[string]int{}
	for _, line := range strings.SplitAfter(readFile(t, ann, file), "\n") {
		if line == "" {
			continue
		}
		who := line[1:2]
		if line != piece(who, next[who]) {
			t.Fatalf("%q is not piece %d", line, next[who])
		}
		next[who]++
	}
	for _, who := range strings.Split("pqrstu", "") {
		if next[who] != pieces {
			t.Errorf("%d pieces of %s", next[who], who)
		}
	}
}

// A process that appends block after block is killed repeatedly. The blocks that it reported
// are in the file, and no block is incomplete.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	ann := store.Space("ann")
	for round := range 12 {
		file := newFile(t, ann, "a.js", "").Handle
		c := start(t, "write", dir)
		if _, err := fmt.Fprintln(c.in, file); err != nil {
			t.Fatal(err)
		}
		told := 0
		for told <= round {
			if line, err := c.out.ReadString('\n'); err != nil || line != fmt.Sprintln(told) {
				t.Fatalf("%q, %v", line, err)
			}
			told++
		}
		c.die(t)
		text := readFile(t, ann, file)
		blocks := len(text) / len(block(0))
		var want strings.Builder
		for i := range blocks {
			want.WriteString(block(i))
		}
		if text != want.String() || blocks < told {
			t.Errorf("%d bytes of at least %d blocks", len(text), told)
		}
		if _, err := ann.Append(t.Context(), file, "next"); err != nil { // its lock was released
			t.Error(err)
		}
		if left, _ := filepath.Glob(dir + "/owners/*/files/.*"); left != nil {
			t.Errorf("left over: %q", left)
		}
	}
}
