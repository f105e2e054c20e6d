package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
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

// saveProgram saves the last program of a recorded run. A program that could not be loaded is not saved.
func (c *config) saveProgram(ctx context.Context, set *tools.Set) error {
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
	if err != nil {
		return err
	}
	if err := verify(ctx, c.save, script, set, box); err != nil {
		return err
	}
	file := filepath.Join(c.programs, c.save+".js")
	if err := os.MkdirAll(c.programs, 0o700); err != nil {
		return err
	}
	others, err := os.ReadDir(c.programs)
	if err != nil {
		return err
	}
	for _, o := range others {
		if strings.EqualFold(o.Name(), c.save+".js") && (o.Name() != c.save+".js" || !c.force) {
			return fmt.Errorf("the folder has %s; choose another name, or pass -force to replace the same name", o.Name())
		}
	}
	if err := write(file, script); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "saved %s: programs.%s: %s\n", file, c.save, script.Signature)
	return err
}

// verify loads a program from a folder that has no others.
func verify(ctx context.Context, name string, script module.Script, set *tools.Set, box *sandbox.Sandbox) error {
	folder, err := os.MkdirTemp("", "writ-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if filepath.Base(name) != name {
		return fmt.Errorf("-save %s: the name is not an identifier", name)
	}
	if err := write(filepath.Join(folder, name+".js"), script); err != nil {
		return err
	}
	_, leftOut, err := agent.WithPrograms(ctx, set, folder, box, nil)
	return errors.Join(append(leftOut, err)...)
}

func write(file string, script module.Script) error {
	var b bytes.Buffer
	if err := script.Write(&b); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o600)
}
