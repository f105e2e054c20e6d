package dispatch

import "regexp"

// acting matches a verb for an effect: create_user, createUser, "Sends a mail".
var acting = regexp.MustCompile(`(?:^|[^A-Za-z])(?i:add|adjust|allocate|approve|book|cancel|charge|commit|create|` +
	`delete|insert|merge|move|patch|pay|post|publish|put|recall|refund|remove|request|reverse|run|send|set|start|` +
	`stop|submit|transfer|update|upload|void|write)(?:e?s)?(?:$|[^a-z])`)

// Acting reports whether text, such as the name of a tool, contains a verb for an effect.
func Acting(text string) bool { return acting.MatchString(text) }
