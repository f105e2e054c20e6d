package show

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/writ-go/writ/agent/report"
	"github.com/writ-go/writ/module"
)

// Report writes the report of a run to the file at path, unless path is "". It returns the error of the run, joined
// with that of the file.
func Report[Out any](path string, inputs any, pred *module.Prediction[Out], err error) error {
	return errors.Join(err, File(path, func(w io.Writer) error {
		return report.Write(w, pred.TrajectoryOf(err), &report.Options{Inputs: inputs})
	}))
}

// File writes a page to the file at path, unless path is "".
func File(path string, write func(io.Writer) error) error {
	var page bytes.Buffer
	if path == "" {
		return nil
	}
	return errors.Join(write(&page), os.WriteFile(path, page.Bytes(), 0o600))
}
