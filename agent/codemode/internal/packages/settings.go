package packages

import (
	"errors"
	"fmt"
	"os"
)

const maxText = 2000 // bytes of a description

// Settings describe an environment's use. The user of the environment sets them. They can only restrict what [Options]
// allow.
type Settings struct {
	// Description is the environment's purpose, in at most 2,000 bytes.
	Description string `json:"description,omitempty"`
	// Imports are the packages that programs may import, if they are installed and allowed. If
	// Imports is empty, programs may import all packages that are installed and allowed.
	Imports []string `json:"imports,omitempty"`
}

// Settings returns the environment's settings, which are empty if they were never set.
func (e *Environment) Settings() (Settings, error) {
	var s Settings
	if err := readJSON(os.DirFS(e.dir), settingsName, maxState, &s); err != nil {
		return Settings{}, fmt.Errorf("packages: reading the settings of an environment: %w", err)
	}
	return s, nil
}

// Configure replaces the settings. The error lists everything that is wrong with the settings.
func (e *Environment) Configure(s Settings) error {
	if err := e.check(s); err != nil {
		return err
	}
	if err := e.replace(settingsName, s); err != nil {
		return fmt.Errorf("packages: writing the settings of an environment: %w", err)
	}
	return nil
}

func (e *Environment) check(s Settings) error {
	var errs []error
	if len(s.Description) > maxText {
		errs = append(errs, fmt.Errorf("packages: the description has %d bytes; the limit is %d",
			len(s.Description), maxText))
	}
	if len(s.Imports) > maxSpecs {
		errs = append(errs, fmt.Errorf("packages: there are %d imports; the limit is %d", len(s.Imports), maxSpecs))
	}
	for _, name := range s.Imports {
		why := badName(name)
		if why == "" && !e.allow.has(name) {
			why = e.allow.refusal()
		}
		if why != "" {
			errs = append(errs, &SpecError{name, why})
		}
	}
	return errors.Join(errs...)
}
