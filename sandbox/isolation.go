package sandbox

// Isolation describes, for people, what programs cannot do even if they take control of their
// process, what is not prevented, and the mechanisms of the operating system that are in force.
// The first worker tries all of it. Every later worker makes the same attempts before its first
// program and is not used if one succeeds that the first worker could not make.
func (s *Sandbox) Isolation() string {
	if s == nil || s.runner == nil {
		return ""
	}
	return s.runner.Isolation().String()
}
