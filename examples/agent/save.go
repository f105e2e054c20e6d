package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// addInput parses a value of -input. The constant is JSON, or else a string without quotes.
func (c *config) addInput(text string) error {
	name, constant, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("write name=constant")
	}
	raw := json.RawMessage(constant)
	if !json.Valid(raw) {
		raw, _ = json.Marshal(constant) // a string always has JSON
	}
	c.inputs = append(c.inputs, signature.Value{Name: name, JSON: raw})
	return nil
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

// saveProgram saves the last program of a recorded run, if it passes the check.
func (c *config) saveProgram(ctx context.Context, set *tools.Set) error {
	if !identifier.MatchString(c.save) {
		return fmt.Errorf("-save %q: the name must be an identifier of letters, digits and _", c.save)
	}
	c.trajectory = c.task
	run, in, err := c.recorded()
	if err != nil {
		return err
	}
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	script, err := agent.NewScript(ctx, run, in.Task, c.inputs, set, box)
	var text bytes.Buffer
	if err == nil {
		err = errors.Join(script.Write(&text), os.MkdirAll(c.programs, 0o700))
	}
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(filepath.Join(c.programs, c.save+".js"), flags, 0o600)
	if err != nil {
		return fmt.Errorf("%w; choose another name, or pass -force to replace a program", err)
	}
	if _, err := f.Write(text.Bytes()); errors.Join(err, f.Close()) != nil {
		return err
	}
	_, leftOut, err := agent.WithPrograms(ctx, set, c.programs, box, nil)
	fmt.Fprintf(c.stdout, "saved programs.%s: %s\n", c.save, script.Signature)
	return errors.Join(append(leftOut, err)...)
}
