package mcptools

import (
	"net/url"
	"slices"
	"strings"
)

// Secrets returns the values in the configuration that are secret: headers, passwords in URLs, and variables, arguments
// and URL parameters whose names suggest it (KEY, TOKEN, SECRET, PASSWORD, CREDENTIAL, AUTH). Values of fewer than 6
// bytes are left out, because ordinary text may contain them. Servers may repeat these values in results and errors;
// [policy.NewSecrets] and [policy.Redact] remove them.
func (c *Config) Secrets() []string {
	var found secretValues
	for _, s := range c.Servers {
		for _, value := range s.Headers {
			_, credentials, _ := strings.Cut(value, " ") // the token after "Bearer"
			found.add(value, credentials)
		}
		for name, value := range s.Env {
			found.addNamed(name, value)
		}
		found.addArgs(s.Args)
		found.addNamed("", s.URL)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

type secretValues []string

func (f *secretValues) add(values ...string) {
	const shortest = 6
	for _, value := range values {
		if value = strings.TrimSpace(value); len(value) >= shortest {
			*f = append(*f, value)
		}
	}
}

// addArgs adds the values of flags such as --token=… and --token ….
func (f *secretValues) addArgs(args []string) {
	flag := "" // the flag whose value is the next argument
	for _, arg := range args {
		f.addNamed(flag, arg)
		name, value, ok := strings.Cut(arg, "=")
		f.addNamed(name, value)
		flag = ""
		if !ok && strings.HasPrefix(arg, "-") {
			flag = arg
		}
	}
}

// addNamed adds a value if its name suggests that it is secret. If the value is a URL, addNamed adds its secret parts.
func (f *secretValues) addNamed(name, value string) {
	if namesSecret(name) {
		f.add(value)
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return
	}
	if password, ok := u.User.Password(); ok {
		f.add(password)
	}
	for name, values := range u.Query() {
		if namesSecret(name) {
			f.add(values...)
		}
	}
}

// namesSecret reports whether a name suggests that its value is secret.
func namesSecret(name string) bool {
	name = strings.ToUpper(name)
	words := []string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH"}
	return slices.ContainsFunc(words, func(word string) bool {
		return strings.Contains(name, word)
	})
}
