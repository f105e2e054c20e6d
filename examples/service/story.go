package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// story has comments, requests after the names of those who make them, and "kill".
const story = `# ann, a clerk, asks for a refund. The run pauses, because a manager has to approve.
ann POST /runs {"input": {"task": "Refund order 7."}}
ann GET /runs/RUN/events
ann GET /runs/RUN/tickets
kill
# The service was killed and started again. ann may not approve, and bob may not even see the run.
ann PUT /runs/RUN/tickets/TICKET {"approved": true}
bob PUT /runs/RUN/tickets/TICKET {"approved": true}
# meg, the manager, approves. If she does it again, nothing happens, but she cannot change her mind.
meg PUT /runs/RUN/tickets/TICKET {"approved": true}
meg PUT /runs/RUN/tickets/TICKET {"approved": true}
meg PUT /runs/RUN/tickets/TICKET {"approved": false}
# The run goes on and has an answer: there was one refund.
ann GET /runs/RUN/events
ann GET /runs/RUN`

// tell starts a service in another process and asks it.
func tell(ctx context.Context, w io.Writer, model string) error {
	dir, err := os.MkdirTemp("", "service")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c := &client{w: w, db: filepath.Join(dir, "service.db"), model: model}
	for line := range strings.Lines("kill\n" + story) {
		switch line = strings.NewReplacer("RUN", c.run, "TICKET", c.ticket, "\n", "").Replace(line); {
		case err != nil:
		case line == "kill":
			c.kill()
			err = c.start(ctx)
		case line[0] == '#':
			fmt.Fprintln(w, line)
		default:
			err = c.ask(ctx, line)
		}
	}
	c.kill()
	return err
}

// client starts a service and asks it.
type client struct {
	w              io.Writer
	db, model, url string
	service        *exec.Cmd
	run, ticket    string // the last IDs
}

// start starts the service, which prints its address.
func (c *client) start(ctx context.Context) error {
	c.service = exec.CommandContext(ctx, os.Args[0], "-serve", "localhost:0", "-db", c.db, "-model", c.model)
	c.service.Stderr = os.Stderr
	out, err := c.service.StdoutPipe()
	if err = errors.Join(err, c.service.Start()); err == nil {
		_, err = fmt.Fscanln(out, &c.url)
	}
	return err
}

// kill ends the service as a crash does.
func (c *client) kill() {
	if c.service != nil && c.service.Process != nil {
		_ = c.service.Process.Kill()
		_ = c.service.Wait()
	}
}

var (
	anID   = regexp.MustCompile(`"id":"(r-\w+)([^"]*)"`)
	events = regexp.MustCompile(`(?m)^event: .*$`)
)

// ask makes a request, and prints it and the response; of events, only the types.
func (c *client) ask(ctx context.Context, line string) error {
	words := append(strings.SplitN(line, " ", 4), "") // who, method, path, body
	r, err := http.NewRequestWithContext(ctx, words[1], c.url+words[2], strings.NewReader(words[3]))
	if err != nil {
		return err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + words[0] + "-token"}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if id := anID.FindStringSubmatch(string(body)); id != nil {
		c.run, c.ticket = id[1], id[1]+id[2]
	}
	if types := events.FindAll(body, -1); types != nil {
		body = bytes.Join(types, []byte(", "))
	}
	fmt.Fprintf(c.w, "  %s\n    %s %s\n", line, response.Status, bytes.TrimSpace(body))
	return err
}
