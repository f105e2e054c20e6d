//go:build unix

package faults

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/journal"
)

var rounds = flag.Int("rounds", 3, "how many rounds TestRivals plays")

// rivalEnv makes the test binary a process that goes on with a run: the variable has the number of the scenario, the
// address of the server, and the folder of the runs.
const rivalEnv = "WRIT_FAULTS_RIVAL"

func init() { rival = playRival }

// TestRivals lets three processes go on with the same run at the same time, and stops or kills them at random times.
// Only one owns the run at a time: the others get ErrInUse, and go on when the owner is gone. Nothing is done twice.
func TestRivals(t *testing.T) {
	url, path := startServer(t)
	busy := 0
	for round := range *rounds {
		busy += playRivals(t, round, url)
	}
	for round, rows := range readRows(t, path) {
		seen := map[string]bool{}
		for _, r := range rows {
			if seen[r.Tool+r.To] {
				t.Errorf("round %d: %s to %s was called twice: %v", round, r.Tool, r.To, rows)
			}
			seen[r.Tool+r.To] = true
		}
		if len(rows) != len(people)+1 {
			t.Errorf("round %d: %d effects, want %d: %v", round, len(rows), len(people)+1, rows)
		}
	}
	t.Logf("%d rounds; a process found the run in use %d times", *rounds, busy)
}

// playRivals plays a round until a process has the answer. It returns how often a process found the run in use.
func playRivals(t *testing.T, round int, url string) (busy int) {
	r := rand.New(rand.NewPCG(uint64(round), 7))
	dir := t.TempDir()
	said := make(chan string, 10000)
	start := func() *os.Process {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", rivalEnv, round, url, dir))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				said <- lines.Text()
			}
			_ = cmd.Wait()
			said <- "ended"
		}()
		return cmd.Process
	}
	living := []*os.Process{start(), start(), start()}
	running, kills, answered := len(living), 0, false
	for running > 0 {
		select {
		case line := <-said:
			switch line {
			case "busy":
				busy++
			case "ended":
				running--
			case "answer":
				answered = true
			default:
				t.Errorf("round %d: %s", round, line)
			}
		case <-time.After(time.Duration(r.IntN(20)) * time.Millisecond):
			i := r.IntN(len(living))
			_ = living[i].Signal(syscall.SIGSTOP)
			time.Sleep(time.Duration(r.IntN(10)) * time.Millisecond)
			if kills < 6 && r.IntN(2) == 0 {
				kills++
				_ = living[i].Kill()
				living[i] = start()
				running++
			} else {
				_ = living[i].Signal(syscall.SIGCONT)
			}
		}
	}
	if !answered {
		t.Errorf("round %d: no process has an answer", round)
	}
	return busy
}

// playRival goes on with the run until it is done.
func playRival(config string) {
	var dir string
	p := &play{done: map[string]bool{}, told: map[string]bool{}, holds: map[string]bool{}, drafts: []draft{whole()}}
	_, err := fmt.Sscan(config, &p.number, &p.url, &dir)
	p.process = &process{left: -1}
	store, failed := journal.OpenDir(dir)
	box, bad := sandbox.NewInProcess(nil)
	if err = errors.Join(err, failed, bad); err != nil {
		fmt.Println(err)
		return
	}
	bot, err := agent.New(llmtest.Func(p.reply), &agent.Options{Sandbox: box, Tools: p.tools(p.process)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		err := p.goOn(agent.NewRuns(store), bot)
		var paused *agent.PausedError
		switch {
		case err == nil:
			fmt.Println("answer")
			return
		case errors.Is(err, journal.ErrInUse):
			fmt.Println("busy")
		case errors.As(err, &paused), errors.Is(err, errMoved):
		default:
			fmt.Println(err)
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

var errMoved = errors.New("another process was faster")

func (p *play) goOn(runs *agent.Runs, bot *agent.Agent) error {
	ctx := context.Background()
	at, err := runs.Checkpoint(ctx, "r")
	if errors.Is(err, agent.ErrNoRun) {
		if _, err = agent.Start(ctx, runs, "r", bot, agent.Task{Task: "Write to everybody."}); err == nil ||
			errors.Is(err, journal.ErrInUse) || errors.As(err, new(*agent.PausedError)) {
			return err
		}
		return p.moved(runs, at, err)
	}
	if err != nil {
		return err
	}
	decisions := map[string]agent.Decision{}
	for _, w := range at.Waiting {
		time.Sleep(100 * time.Millisecond) // a request of a process that was killed may still arrive
		decisions[w.ID] = agent.Decision{Outcome: p.outcome(w)}
	}
	if _, err = agent.Resume(ctx, runs, bot, at, decisions); err == nil || errors.Is(err, journal.ErrInUse) ||
		errors.As(err, new(*agent.PausedError)) {
		return err
	}
	return p.moved(runs, at, err)
}

// moved returns errMoved if the run has gone on since the checkpoint was made, and err otherwise.
func (p *play) moved(runs *agent.Runs, at agent.Checkpoint, err error) error {
	now, other := runs.Checkpoint(context.Background(), "r")
	if other != nil || now.Hash != at.Hash {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}
