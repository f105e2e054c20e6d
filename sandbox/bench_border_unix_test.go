//go:build unix

package sandbox_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// echoEnv makes the test binary an echo process on descriptor 3.
const echoEnv = "WRIT_TEST_ECHO"

func init() {
	if os.Getenv(echoEnv) != "" {
		echoAll(os.NewFile(3, "parent"))
		os.Exit(0)
	}
}

func echoAll(link io.ReadWriter) {
	r := bufio.NewReader(link)
	for {
		var in echoArgs
		if receiveJSON(r, &in) != nil || sendJSON(link, in) != nil {
			return
		}
	}
}

func sendJSON(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

func receiveJSON(r io.Reader, v any) error {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return err
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

// startEcho starts the echo process and returns a function that makes one round trip to
// it.
func startEcho(b *testing.B) (trip func()) {
	b.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		b.Fatal(err)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		b.Fatal(err)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	link, theirs := os.NewFile(uintptr(fds[0]), "child"), os.NewFile(uintptr(fds[1]), "parent")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), echoEnv+"=1")
	cmd.ExtraFiles = []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	theirs.Close()
	b.Cleanup(func() {
		link.Close()
		_ = cmd.Wait()
	})
	r := bufio.NewReader(link)
	in := echoArgs{Customer: "c12", Limit: 12, Tags: []string{"a", "b"}}
	return func() {
		var out echoArgs
		if err := sendJSON(link, in); err != nil {
			b.Fatal(err)
		}
		if err := receiveJSON(r, &out); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOverheadBorder measures the additional cost of a tool call from another process. The
// floor is a round trip of JSON to another process, as any Go program would make it. Both, and a
// call in this process, are measured in turn.
func BenchmarkOverheadBorder(b *testing.B) {
	isolated, inProcess := open(b, sandbox.New), open(b, sandbox.NewInProcess)
	set, trip := fiveTools(b), startEcho(b)
	perCall := func(box *sandbox.Sandbox) time.Duration {
		of := func(n int) time.Duration { return clock(func() { run(b, box, set, calls(n, "echo")) }) }
		return (of(101) - of(1)) / 100
	}
	perTrip := func() time.Duration {
		return clock(func() {
			for range 100 {
				trip()
			}
		}) / 100
	}
	perTrip()
	compareBy(b, func() (time.Duration, time.Duration) {
		return perTrip(), perCall(isolated) - perCall(inProcess)
	})
}
