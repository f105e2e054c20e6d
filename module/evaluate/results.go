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
)

// resultsFile is a file of results: a header and then one result on each line.
type resultsFile struct {
	file *os.File
	path string
}

// header is the first line of a file of results. It says what they are results of.
type header struct {
	Version int    `json:"evaluation"`
	Module  string `json:"module"` // a hash of the state of the module's predictors
	Samples int    `json:"samples"`
}

func headerOf(m any, samples int) header {
	sum := sha256.New()
	if err := module.Save(sum, m); err != nil {
		sum.Reset() // the runs report what is wrong with the predictors
	}
	return header{1, hex.EncodeToString(sum.Sum(nil)[:8]), samples}
}

// openResults opens or makes a file of results, and calls each for those that it has, with the numbers of their lines.
// A line that was cut off when the process was killed is removed.
func openResults(path string, want header, each func(r Result) error) (_ *resultsFile, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("evaluate: the file of results: %w", err)
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	if err := filelock.Own(file); err != nil {
		return nil, fmt.Errorf("evaluate: the file of results %s: %w", path, err)
	}
	f := &resultsFile{file, path}
	end, err := f.read(want, each)
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(end); err != nil {
		return nil, fmt.Errorf("evaluate: the file of results: %w", err)
	}
	if _, err := file.Seek(end, io.SeekStart); err != nil {
		return nil, fmt.Errorf("evaluate: the file of results: %w", err)
	}
	if end == 0 {
		err = f.write(want)
	}
	return f, err
}

// read reads the complete lines, and returns where they end.
func (f *resultsFile) read(want header, each func(r Result) error) (end int64, err error) {
	lines := bufio.NewReaderSize(f.file, 1<<16)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			const begin = `{"evaluation":`
			if text := string(line); n == 1 && !strings.HasPrefix(text, begin) && !strings.HasPrefix(begin, text) {
				return 0, fmt.Errorf("evaluate: %s: %w", f.path, errNotResults)
			}
			return end, nil
		}
		if err == nil && n == 1 {
			err = checkHeader(line, want)
		} else if err == nil {
			var r Result
			if err = json.Unmarshal(line, &r); err == nil {
				err = each(r)
			}
		}
		if err != nil {
			return 0, fmt.Errorf("evaluate: %s, line %d: %w", f.path, n, err)
		}
		end += int64(len(line))
	}
}

var errNotResults = errors.New("it is not a file of results; name another file in Options.Results")

func checkHeader(line []byte, want header) error {
	var got header
	switch err := json.Unmarshal(line, &got); {
	case err != nil || got.Version == 0:
		return errNotResults
	case got.Version != want.Version:
		return errors.New("it was written by another version of Writ; name another file in Options.Results")
	case got.Module != want.Module:
		return errors.New("it has results of a module with other predictors; name another file in Options.Results")
	case got.Samples != want.Samples:
		return fmt.Errorf("it has results of %d samples per example, not %d; name another file in Options.Results",
			got.Samples, want.Samples)
	}
	return nil
}

// write appends a line. It is written at once, so that a process that is killed leaves complete lines but for the last.
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

// resume opens the file of results, and takes the results that it has without those with an error.
func (e *evaluation[In, Out]) resume(m any) error {
	if e.Results == "" {
		return nil
	}
	type place struct {
		id     string
		sample int
	}
	places := make(map[place]int, len(e.results))
	for i, r := range e.results {
		places[place{r.ID, r.Sample}] = i
	}
	log, err := openResults(e.Results, headerOf(m, e.Samples), func(r Result) error {
		i, found := places[place{r.ID, r.Sample}]
		if !found {
			return fmt.Errorf("it has a result of example %q, which is not in the set; name another file in "+
				"Options.Results", r.ID)
		}
		if want := e.results[i]; !equal(r.Inputs, want.Inputs) || !equal(r.Want, want.Want) {
			return fmt.Errorf("example %q has changed since the result was written; name another file in Options.Results",
				r.ID)
		}
		if r.Err != "" {
			return nil
		}
		r.Group, r.Weight = e.results[i].Group, e.results[i].Weight
		if e.DropTrajectories {
			r.Trajectory = nil
		}
		e.results[i], e.ended[i] = r, true
		return nil
	})
	e.log = log
	return err
}
