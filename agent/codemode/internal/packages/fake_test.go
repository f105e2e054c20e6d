package packages_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
)

// plan describes what the fake npm does, in addition to recording how it was started.
type plan struct {
	Gate    string // an address to which it connects, to wait for permission to continue
	After   bool   // wait at the gate after the packages are written, not before
	Child   bool   // start another process, which waits at the gate too
	Say     string // written to stderr
	Exit    int
	Nothing bool   // install nothing
	Link    string // make a symbolic link to this in every package
	From    string // where packages come from, instead of the registry
	Needs   string // the version of a dependency of every package
	Sparse  int64  // the size of a file to leave in node_modules
	Extra   int    // the number of dependencies installed with each package
}

// started is the record of one start.
type started struct {
	Args []string
	Env  []string
	Dir  string
}

// fake is a folder with an npm that follows a plan.
type fake struct {
	dir string
	t   *testing.T
}

func newFake(t *testing.T, p plan) *fake {
	t.Helper()
	f := &fake{t.TempDir(), t}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"npm", "host"} {
		if err := os.Symlink(self, filepath.Join(f.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	f.set(p)
	return f
}

func (f *fake) npm() string { return filepath.Join(f.dir, "npm") }

func (f *fake) set(p plan) {
	f.t.Helper()
	data, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(filepath.Join(f.dir, "plan.json"), data, 0o600)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// starts returns the records of all starts of npm.
func (f *fake) starts() []started {
	f.t.Helper()
	var all []started
	records, err := filepath.Glob(filepath.Join(f.dir, "record-*.json"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, name := range records {
		var s started
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &s)
		}
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// environment returns a new environment that uses the fake, and its folder.
func (f *fake) environment(o packages.Limits) (*packages.Environment, string) {
	f.t.Helper()
	dir := f.t.TempDir()
	return f.open(dir, o), dir
}

func (f *fake) open(dir string, o packages.Limits) *packages.Environment {
	f.t.Helper()
	o.Npm = f.npm()
	if o.Allow == nil {
		o.Allow = []string{"*", "@*/*"}
	}
	return limited(f.t, dir, o)
}

// gate is a listener at which fakes wait.
type gate struct {
	net.Listener
	t *testing.T
}

func newGate(t *testing.T) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &gate{l, t}
}

func (g *gate) address() string { return g.Addr().String() }

// arrival waits until a fake connects. Closing the connection ends the fake.
func (g *gate) arrival() net.Conn {
	g.t.Helper()
	_ = g.Listener.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute))
	conn, err := g.Accept()
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// arrived returns the connections of the fakes that have connected so far. The fakes may have
// ended.
func (g *gate) arrived() (all []net.Conn) {
	g.t.Helper()
	for {
		_ = g.Listener.(*net.TCPListener).SetDeadline(time.Now().Add(100 * time.Millisecond))
		conn, err := g.Accept()
		if err != nil {
			return all
		}
		g.t.Cleanup(func() { _ = conn.Close() })
		all = append(all, conn)
	}
}

// snapshot returns the content of every file below dir, and the targets of links.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		short := strings.TrimPrefix(name, dir)
		switch {
		case entry.IsDir():
			files[short] = "folder"
		case entry.Type()&fs.ModeSymlink != 0:
			files[short], err = os.Readlink(name)
		default:
			data, readErr := os.ReadFile(name)
			files[short], err = string(data), readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// fakeNpm is the main function of npm in these tests.
func fakeNpm() int {
	home := filepath.Dir(os.Args[0])
	var p plan
	data, err := os.ReadFile(filepath.Join(home, "plan.json"))
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err == nil && os.Args[1] == "child" {
		err = wait(p.Gate)
	} else if err == nil {
		err = p.play(home)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	return p.Exit
}

func (p plan) play(home string) error {
	if err := record(home); err != nil {
		return err
	}
	fmt.Fprint(os.Stderr, strings.ReplaceAll(p.Say, "$HOME", os.Getenv("HOME")))
	if p.Child {
		if err := exec.Command(os.Args[0], "child").Start(); err != nil {
			return err
		}
	}
	if p.Gate != "" && !p.After {
		if err := wait(p.Gate); err != nil {
			return err
		}
	}
	if err := p.work(); err != nil {
		return err
	}
	if p.Gate != "" && p.After {
		return wait(p.Gate)
	}
	return nil
}

func record(home string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	data, err := json.Marshal(started{os.Args[1:], os.Environ(), dir})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, fmt.Sprintf("record-%d.json", os.Getpid())), data, 0o600)
}

// wait connects to the gate and waits for permission to continue.
func wait(gate string) error {
	conn, err := net.Dial("tcp", gate)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Read(make([]byte, 1))
	return err
}

type dependencies struct {
	Dependencies map[string]string `json:"dependencies"`
}

type lockfile struct {
	Packages map[string]locked `json:"packages"`
}

type locked struct {
	Version      string            `json:"version"`
	Resolved     string            `json:"resolved"`
	Dependencies map[string]string `json:"dependencies,omitempty"`
}

// work installs the packages after --, as npm would.
func (p plan) work() error {
	if p.Nothing {
		return nil
	}
	project := dependencies{map[string]string{}}
	lock := lockfile{map[string]locked{}}
	if err := errors.Join(load("package.json", &project), load("node_modules/.package-lock.json", &lock)); err != nil {
		return err
	}
	for _, spec := range os.Args[slices.Index(os.Args, "--")+1:] {
		name, version, _ := strings.Cut(spec[1:], "@")
		name = spec[:1] + name
		project.Dependencies[name] = version
		if err := p.add(lock, name, version); err != nil {
			return err
		}
		for i := range p.Extra {
			if err := p.add(lock, fmt.Sprintf("%s/node_modules/extra-%d", name, i), "0.0.1"); err != nil {
				return err
			}
		}
	}
	return errors.Join(save("package.json", project), save("node_modules/.package-lock.json", lock))
}

func (p plan) add(lock lockfile, name, version string) error {
	from := p.From
	if from == "" {
		from = "https://registry.example/" + name + ".tgz"
	}
	folder := "node_modules/" + name
	entry := locked{Version: version, Resolved: from}
	if p.Needs != "" {
		entry.Dependencies = map[string]string{"needed": p.Needs}
	}
	lock.Packages[folder] = entry
	if err := save(folder+"/package.json", map[string]string{"name": name, "version": version}); err != nil {
		return err
	}
	if p.Link != "" {
		if err := os.Symlink(p.Link, folder+"/link"); err != nil {
			return err
		}
	}
	if p.Sparse > 0 {
		if err := os.WriteFile(folder+"/sparse", nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(folder+"/sparse", p.Sparse)
	}
	return nil
}

func load(name string, v any) error {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

func save(name string, v any) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// fakeHost is the main function of a separate process that installs one package: host DIR SPEC.
func fakeHost() int {
	env, err := packages.Limited(os.Args[1], packages.Limits{Allow: []string{"*"}, Npm: filepath.Join(filepath.Dir(os.Args[0]),
		"npm")})
	if err == nil {
		_, err = env.Install(context.Background(), os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
