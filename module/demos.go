package module

import (
	"fmt"
	"slices"

	"github.com/writ-go/writ/signature"
)

// maxTemperature is more than any provider accepts.
const maxTemperature = 100

// check checks the fields that an optimizer or a caller may have set.
func (p *Predictor) check() error {
	if t := p.Temperature; t != nil && !(*t >= 0 && *t <= maxTemperature) { // or not a number
		return fmt.Errorf("the temperature %g is not between 0 and 100", *t)
	}
	return p.checkDemos()
}

// checkDemos checks the values of demos. Values may be missing, such as the reasoning.
func (p *Predictor) checkDemos() error {
	asked := p.Spec
	if p.task != nil {
		asked = p.task
	}
	for i, d := range p.Demos {
		if err := checkValues(asked.Inputs(), "input", d.Inputs); err != nil {
			return fmt.Errorf("demo %d: %w", i+1, err)
		}
		if err := checkValues(p.Spec.Outputs(), "output", d.Outputs); err != nil {
			return fmt.Errorf("demo %d: %w", i+1, err)
		}
	}
	return nil
}

func checkValues(fields []signature.Field, side string, values signature.Values) error {
	for i, v := range values {
		named := func(f signature.Field) bool { return f.Name == v.Name }
		at := slices.IndexFunc(fields, named)
		if at < 0 {
			return fmt.Errorf("there is no %s %q", side, v.Name)
		}
		if _, twice := values[:i].Get(v.Name); twice {
			return fmt.Errorf("the %s %q is given twice", side, v.Name)
		}
		if findings := fields[at].Schema.Validate(v.JSON); findings != nil {
			return fmt.Errorf("the %s %q: %w", side, v.Name, &signature.InvalidError{Findings: findings})
		}
	}
	return nil
}
