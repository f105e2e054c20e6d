package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/procgroup"
	"github.com/writ-go/writ/internal/tail"
)

const (
	homePrefix = "home-" // prefix of the name of npm's HOME folder

	outputKept = 8 << 10         // bytes of npm's output that are kept
	drainTime  = 2 * time.Second // the time to read the remaining output of a killed npm
	lookEvery  = time.Second     // the interval between measurements of the files that npm has written
	fetched    = int64(64) << 20 // bytes that npm may write in addition to twice maxBytes
)

// certificates is the variable that names a file with additional certificates to trust. npm always inherits it: some
// proxies require it, and certificates are not secret.
const certificates = "NODE_EXTRA_CA_CERTS"

// essentialOnWindows are the variables without which Node.js does not start on Windows.
var essentialOnWindows = []string{"PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC"}

// runNpm runs npm on the project in dir and waits until npm and all processes that it
// started have ended. It creates a HOME folder for npm and removes it.
func (e *Environment) runNpm(ctx context.Context, dir string, specs []Spec) error {
	home, err := os.MkdirTemp(e.dir, homePrefix+"*")
	if err == nil {
		defer func() { _ = os.RemoveAll(home) }() // if this fails, the next sweep removes the folder
		err = os.Mkdir(filepath.Join(home, "tmp"), 0o700)
	}
	if err != nil {
		return fmt.Errorf("packages: creating a home folder for npm: %w", err)
	}
	program, err := e.program()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, cancel := context.WithTimeoutCause(ctx, e.timeout,
		fmt.Errorf("it took longer than %v to install %s: %w", e.timeout, specNames(specs), context.DeadlineExceeded))
	defer cancel()
	go e.watch(ctx, stop, dir, home)
	out := tail.Buffer{Max: outputKept}
	cmd := exec.CommandContext(ctx, program[0], append(program[1:], arguments(dir, home, specs)...)...)
	cmd.Dir, cmd.Env = dir, e.environ(home)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = drainTime
	cmd.Cancel = func() error { procgroup.Kill(cmd.Process.Pid); return nil }
	procgroup.Set(cmd)
	err = cmd.Run()
	if cmd.Process != nil {
		procgroup.Kill(cmd.Process.Pid) // ends processes that npm started, before the group ID is reused
	}
	return verdict(ctx, cmd, err, e.strip(out.String(), dir, home))
}

// verdict returns the error for a command that ended with err.
func verdict(ctx context.Context, cmd *exec.Cmd, err error, output string) error {
	limit := (*LimitError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(context.Cause(ctx), &limit):
		return limit
	case ctx.Err() != nil:
		return &Error{Output: output, Err: context.Cause(ctx)}
	case cmd.ProcessState == nil:
		return fmt.Errorf("packages: starting npm: %w", err)
	}
	return &Error{Output: output, Err: err}
}

// watch ends npm if it has written too much.
func (e *Environment) watch(ctx context.Context, stop context.CancelCauseFunc, dir, home string) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if size := roomOf(dir) + roomOf(home); size > 2*e.bytes+fetched {
			stop(&LimitError{What: "bytes", Limit: e.bytes, Got: size})
			return
		}
	}
}

// roomOf returns the disk space that a folder uses. It ignores errors, because npm may be changing the folder.
func roomOf(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			total += (info.Size() + block - 1) / block * block
		}
		return nil
	})
	return total
}

// program returns the npm executable and the arguments that precede npm's own.
func (e *Environment) program() ([]string, error) {
	npm, err := exec.LookPath(e.npm)
	if err == nil {
		npm, err = filepath.Abs(npm)
	}
	if err != nil {
		return nil, fmt.Errorf("packages: npm was not found; install Node.js, which includes it: %w", err)
	}
	if ext := strings.ToLower(filepath.Ext(npm)); runtime.GOOS != "windows" || ext != ".cmd" && ext != ".bat" {
		return []string{npm}, nil
	}
	// A batch file would need a shell, so node runs npm directly.
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("packages: node, which runs npm, was not found: %w", err)
	}
	return []string{node, filepath.Join(filepath.Dir(npm), "node_modules", "npm", "bin", "npm-cli.js")}, nil
}

func (e *Environment) environ(home string) []string {
	var env []string
	names := append([]string{certificates}, e.env...)
	if runtime.GOOS == "windows" {
		names = append(names, essentialOnWindows...)
	}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	tmp := filepath.Join(home, "tmp")
	return append(env, "PATH="+absolutePath(), "HOME="+home, "USERPROFILE="+home,
		"TMPDIR="+tmp, "TEMP="+tmp, "TMP="+tmp)
}

// absolutePath returns the host's PATH without relative folders.
func absolutePath() string {
	var keep []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			keep = append(keep, dir)
		}
	}
	return strings.Join(keep, string(os.PathListSeparator))
}
