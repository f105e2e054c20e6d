package sandbox

// Isolation describes, for people, what programs cannot do even if they take control of their process, what is not
// prevented, and the operating system mechanisms that are in force. The first worker finds this out by attempting each
// action. Every later worker repeats the attempts before its first program. It is not used if an attempt succeeds that
// failed in the first worker.
func (s *Sandbox) Isolation() string {
	if s == nil || s.runner == nil {
		return ""
	}
	return s.runner.Isolation().String()
}
