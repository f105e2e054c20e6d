package evaluate

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/writ-go/writ/internal/filelock"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature/schema"
)

// resultsFile is a file of results: a header and then one result on each line.
type resultsFile struct {
	file *os.File
	path string
}

// header is the first line of a file of results. It says what they are results of.
type header struct {
	Version int    `json:"evaluation"`
	Module  string `json:"module"` // its Go type
	Models  string `json:"models"` // of its predictors, by path
	State   string `json:"state"`  // a hash of what [module.Save] writes, and of the code of a [module.Program]
	Samples int    `json:"samples"`
}

func headerOf[In, Out any](m module.Module[In, Out], samples int) (header, error) {
	h := header{Version: 1, Module: fmt.Sprintf("%T", m), Samples: samples}
	sum := sha256.New()
	if p, compiled := m.(*module.Program[In, Out]); compiled {
		io.WriteString(sum, p.Script.Code) //nolint:errcheck // a hash returns no errors
	}
	var names []string
	for path, p := range module.Predictors(m) {
		names = append(names, fmt.Sprintf("%s: %q", path, models.CapabilitiesOf(p.Model).Model))
	}
	if h.Models = strings.Join(names, ", "); len(names) > 0 {
		if err := module.Save(sum, m); err != nil {
			return h, fmt.Errorf("evaluate: the module cannot be compared with that of the file of results: %w", err)
		}
	}
	h.State = hex.EncodeToString(sum.Sum(nil)[:8])
	return h, nil
}

// openResults opens or creates a file of results, and calls each for the results that it has.
func openResults(path string, want header, each func(r Result) error) (*resultsFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("evaluate: the file of results: %w", err)
	}
	f := &resultsFile{file, path}
	if err := f.prepare(want, each); err != nil {
		filelock.Close(file)
		return nil, err
	}
	return f, nil
}

// prepare reads the file, and removes a line that was cut off when the process was killed.
func (f *resultsFile) prepare(want header, each func(r Result) error) error {
	if err := filelock.Own(f.file); err != nil {
		return fmt.Errorf("evaluate: the file of results %s: %w", f.path, err)
	}
	end, err := f.read(want, each)
	if err != nil {
		return fmt.Errorf("evaluate: %s, %w; name another file in Options.Results", f.path, err)
	}
	if err = f.file.Truncate(end); err == nil {
		_, err = f.file.Seek(end, io.SeekStart)
	}
	switch {
	case err != nil:
		return fmt.Errorf("evaluate: the file of results: %w", err)
	case end == 0:
		return f.write(want)
	}
	return nil
}

// read reads the complete lines, and returns where they end. The last line is complete if it is JSON; it gets its
// newline if that is missing.
func (f *resultsFile) read(want header, each func(r Result) error) (end int64, err error) {
	lines := bufio.NewReaderSize(f.file, 1<<16)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		switch {
		case last && !json.Valid(line) && (n > 1 || beginsHeader(line)):
			return end, nil
		case err != nil && !last:
		case n == 1:
			err = checkHeader(line, want)
		default:
			var r Result
			if err = json.Unmarshal(line, &r); err == nil {
				err = each(r)
			}
		}
		if err != nil {
			return 0, fmt.Errorf("line %d: %w", n, err)
		}
		end += int64(len(line))
		if last {
			_, err = f.file.WriteString("\n")
			return end + 1, err
		}
	}
}

var errNotResults = errors.New("it is not a file of results")

// beginsHeader reports whether a line that was cut off may be a header.
func beginsHeader(line []byte) bool {
	const begin = `{"evaluation":`
	return strings.HasPrefix(begin, string(line[:min(len(line), len(begin))]))
}

func checkHeader(line []byte, want header) error {
	var got header
	switch err := json.Unmarshal(line, &got); {
	case err != nil || got.Version == 0:
		return errNotResults
	case got.Version != want.Version:
		return errors.New("it was written by another version of Writ")
	case got.Module != want.Module:
		return fmt.Errorf("it has results of the module type %s, not %s", got.Module, want.Module)
	case got.Models != want.Models:
		return fmt.Errorf("it has results with other models: %s, not %s", got.Models, want.Models)
	case got.State != want.State:
		return errors.New("it has results of other instructions, demos or code")
	case got.Samples != want.Samples:
		return fmt.Errorf("it has results of %d samples per example, not %d", got.Samples, want.Samples)
	}
	return nil
}

// write appends a line. It is written at once, so that a process that is killed leaves complete lines, except the last.
func (f *resultsFile) write(v any) error {
	line, err := encode(v)
	if err == nil {
		_, err = f.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("evaluate: cannot write to %s: %w", f.path, err)
	}
	return nil
}

// resume opens the file of results and takes over its results. If the module failed, its run is repeated, and if the
// metric failed, it is called again.
func (e *evaluation[In, Out]) resume(m module.Module[In, Out]) error {
	if e.Results == "" {
		return nil
	}
	header, err := headerOf(m, e.Samples)
	if err != nil {
		return err
	}
	type place struct {
		id     string
		sample int
	}
	places := make(map[place]int, len(e.results))
	for i, r := range e.results {
		places[place{r.ID, r.Sample}] = i
	}
	e.log, err = openResults(e.Results, header, func(r Result) error {
		i, found := places[place{r.ID, r.Sample}]
		if !found {
			return fmt.Errorf("it has a result of example %q, which is not in the set", r.ID)
		}
		if want := e.results[i]; !equal(r.Inputs, want.Inputs) || !equal(r.Want, want.Want) {
			return fmt.Errorf("example %q has changed since the result was written", r.ID)
		}
		if r.Err != "" && (r.Got == nil || schema.Unmarshal(r.Got, new(Out)) != nil) {
			return nil // it is run again
		}
		r.Group, r.Weight = e.results[i].Group, e.results[i].Weight
		e.ended[i] = r.Err == ""
		if e.DropTrajectories && e.ended[i] {
			r.Trajectory = nil
		}
		e.results[i] = r
		return nil
	})
	return err
}
