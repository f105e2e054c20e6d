package policy_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/writ-go/writ/tools/policy"
)

func TestNewSecretsErrors(t *testing.T) {
	t.Parallel()
	_, err := policy.NewSecrets(policy.SecretOptions{
		Values:   []string{"long enough", "", " 12345\n", "redacted"},
		Patterns: []*regexp.Regexp{regexp.MustCompile("a+"), nil, regexp.MustCompile("a*")},
	})
	equal(t, "error", fmt.Sprint(err), `policy: secret 2 has 0 bytes; secrets of fewer than 6 would match ordinary text
policy: secret 3 has 5 bytes; secrets of fewer than 6 would match ordinary text
policy: secret 4 is a part of its replacement [redacted]
policy: pattern 2 is nil or matches the empty string: <nil>
policy: pattern 3 is nil or matches the empty string: a*`)
}

var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// A value is found in every encoding.
func TestEncodings(t *testing.T) {
	t.Parallel()
	const value = "p@ss/w\"ord\\ <+ü>\n2"
	s := newSecrets(t, "another secret", " "+value+"\n")
	quoted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{
		value, "key=" + value + ".", value + value,
		strings.Trim(string(quoted), `"`),
		url.QueryEscape(value), url.PathEscape(value), percent.ReplaceAllStringFunc(url.QueryEscape(value), strings.ToLower),
		"https://x/?" + url.Values{"k": {value}}.Encode(),
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	for before := range 4 {
		for after := range 4 {
			text := []byte(strings.Repeat("b", before) + value + strings.Repeat("a", after))
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding,
				base64.RawURLEncoding} {
				texts = append(texts, e.EncodeToString(text))
			}
		}
	}
	for _, text := range slices.Clone(texts[10:]) { // escape the encoded texts once more
		texts = append(texts, strings.ReplaceAll(text, "/", `\/`), url.QueryEscape(text), url.PathEscape(text),
			percent.ReplaceAllStringFunc(url.QueryEscape(text), strings.ToLower),
			strings.NewReplacer("+", `\u002b`, "/", `\u002F`, "=", `\u003d`).Replace(text),
			strings.NewReplacer("-", "%2D", "_", "%5f").Replace(text))
	}
	for _, text := range texts {
		clean := s.Text(text)
		if !strings.Contains(clean, "[redacted]") || len(strings.ReplaceAll(clean, "[redacted]", "")) > 25 {
			t.Errorf("%s\nbecame %s", text, clean)
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var inJSON string
		if err := json.Unmarshal(s.JSON(quoted), &inJSON); err != nil || inJSON != clean {
			t.Errorf("%s\nbecame %s in JSON, %v", quoted, inJSON, err)
		}
	}
	for _, text := range []string{"", "pass", value[1:], value[:len(value)-1], "p@ss/w ord", strings.ToUpper(value)} {
		equal(t, "no secret", s.Text(text), text)
	}
}

// A value is found if any of its characters are escaped.
func TestEscapes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ value, text string }{
		{"p@ss!word#1", "pw=p%40ss!word%231"},
		{"correct horse@battery", "pw=correct%20horse%40battery"},
		{"correct horse@battery", "pw=correct+horse%40battery"},
		{"Tr0ub4dor(&)3", "pw=Tr0ub4dor(%26)3"},
		{"p@ss word#1/x", "pw=p@ss%20word#1/x"},
		{"pässwörter", `pw=p\u00e4ssw\u00F6rter`},
		{"a😀bcdef", `pw=a\ud83d\uDE00bcdef`},
		{"abcd/efgh/ijkl", `pw=abcd\/efgh\/ijkl`},
		{"abcd+efgh+ijkl==", `pw=abcd\u002Befgh\u002bijkl==`},
		{"a<b>c&d1234", `pw=a\u003Cb\u003ec\u0026d1234`},
		{"a/b/c+d/e", `pw=a%2fb%2Fc%2Bd%2fe`},
		{`a%41\u0041b\c`, `pw=a%2541\\u0041b\\c`},
		{`a%41\u0041b\c+`, `pw=a%41\u0041b\c%2B`},
		{"line one\nline two", "pw=line one\r\nline two"},
		{"line one\r\nline two", "pw=line one\nline two%"},
		{"line one\nline two", `pw=line one\r\nline two`},
		{"%abcdef", `pw=%25abcdef`},
		{`%41bcdef`, `pw=%41bcdef`},
		{`abcdef\`, `pw=abcdef\\`},
		{"ab\\\\c\r\nd\\", "pw=ab\\\\c\r\nd\\"},
	} {
		s := newSecrets(t, test.value)
		want := "pw=[redacted]"
		if strings.HasSuffix(test.text, "two%") {
			want += "%"
		}
		equal(t, test.text, s.Text(test.text), want)
		quoted, err := json.Marshal([]any{test.text, 1.0})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, test.text+" in JSON", string(s.JSON(quoted)), `["`+want+`",1]`)
	}
	s := newSecrets(t, "abcd+efgh")
	for _, text := range []string{`abcd\u002`, `abcd\u002`, "abcd%2", "abcd%", `abcd\`, `\`, "%", "abcd%2Cefgh",
		`abcd\ud83defgh`, "100% of abcd + efgh"} {
		equal(t, "no secret", s.Text(text), text)
	}
}

// Secrets that overlap are replaced together.
func TestOverlaps(t *testing.T) {
	t.Parallel()
	s := newSecrets(t, "tenant7-abcdef", "abcdef-0123456789", "sk-abc", "abcabc")
	for text, want := range map[string]string{
		"x tenant7-abcdef-0123456789 y":             "x [redacted] y",
		"(sk-abcdefghijklmnopqrstuvwxyz0123456789)": "([redacted])",
		"abcabcabcabc":                                 "[redacted]",
		"postgres://ann:abcabc-and-more@db":            "postgres://ann:[redacted]@db",
		"Authorization: Bearer 0123456789-abcabc-4567": "Authorization: Bearer [redacted]",
	} {
		equal(t, text, s.Text(text), want)
	}
}

// tokens are invented, and assembled here so that no scanner takes them for real ones.
func tokens() map[string]string {
	x := func(n int) string { return strings.Repeat("aB3", n)[:n] }
	return map[string]string{
		"aws":       "AKIA" + strings.Repeat("A1", 8),
		"github":    "ghp_" + x(36),
		"github 2":  "github_pat_" + x(40),
		"gitlab":    "glpat-" + x(20),
		"slack":     "xoxb-" + x(24),
		"slack app": "xapp-1-" + x(24),
		"webhook":   "hooks.slack.com/services/T0000/B0000/" + x(24),
		"openai":    "sk-" + x(48),
		"openai 2":  "sk-proj-" + x(10) + "-_" + x(20),
		"anthropic": "sk-ant-api03-" + x(40),
		"stripe":    "sk_live_" + x(24),
		"stripe 2":  "whsec_" + x(32),
		"google":    "AIza" + x(35),
		"google 2":  "ya29." + x(40),
		"google 3":  "GOCSPX-" + x(28),
		"sendgrid":  "SG." + x(22) + "." + x(43),
		"npm":       "npm_" + x(36),
		"pypi":      "pypi-" + x(60),
		"hf":        "hf_" + x(34),
		"do":        "dop_v1_" + strings.Repeat("a1", 32),
		"notion":    "ntn_" + x(46),
		"notion 2":  "secret_" + x(43),
		"shopify":   "shpat_" + strings.Repeat("a1", 16),
		"jwt":       "eyJ" + x(20) + ".eyJ" + x(30) + "." + x(43),
		"key":       "-----BEGIN RSA " + "PRIVATE KEY-----\n" + x(64) + "\n" + x(30) + "\n-----END RSA " + "PRIVATE KEY-----",
		"cut key":   "-----BEGIN " + "PRIVATE KEY-----\n" + x(64),
	}
}

func TestWellKnownTokens(t *testing.T) {
	t.Parallel()
	s := newSecrets(t)
	for name, token := range tokens() {
		equal(t, name, s.Text("("+token), "([redacted]")
		quoted, err := json.Marshal(map[string]string{"k": token})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name+" in JSON", string(s.JSON(quoted)), `{"k":"[redacted]"}`)
	}
	for text, want := range map[string]string{
		"postgres://ann:hunter2@db:5432/x, https://:t0ken@h": "postgres://ann:[redacted]@db:5432/x, https://:[redacted]@h",
		"Authorization: Bearer abc.def-123":                  "Authorization: Bearer [redacted]",
		"AuthoriZation: Bearer abc.def-123":                  "AuthoriZation: Bearer [redacted]",
		`{"authorization":"Basic dXNlcjpwYXNz"}`:             `{"authorization":"Basic [redacted]"}`,
		"AUTHORIZATION=token 0123456789abcdef":               "AUTHORIZATION=token [redacted]",
	} {
		equal(t, "part", s.Text(text), want)
	}
	for _, text := range []string{
		"a task-management-of-everything-123456", "sk-learn", "npm_config_registry", "eyJhbGciOi", "AKIA",
		"AKIAnotakeyatall1234",
		"https://host:8080/path@2", "mailto:ann@example.org", "-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----",
		"Authorization is needed",
		"see https://github.com/a/b and http://localhost:3000", "ghp_short", "secret_santa", "hf_home",
	} {
		equal(t, "no secret", s.Text(text), text)
	}
	none, err := policy.NewSecrets(policy.SecretOptions{ValuesOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "values only", none.Text(tokens()["aws"]), tokens()["aws"])
}

func TestJSON(t *testing.T) {
	t.Parallel()
	s, err := policy.NewSecrets(policy.SecretOptions{
		Values: []string{"top secret", "1234567890", "back\\slash", "line\nbreak"}, Patterns: []*regexp.Regexp{
			regexp.MustCompile(`^whole$`), regexp.MustCompile(`(?i)pin \d{4}`), regexp.MustCompile(`id"\d+`)}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		``:             ``,
		`null`:         `null`,
		`"top secret"`: `"[redacted]"`,
		` { "a" : "x top secret y" , "b":[ 1.50, true , null ] } `: ` { "a" : "x [redacted] y" , "b":[ 1.50, ` +
			`true , null ] } `,
		`["\u0074op secret","t\u006fp\u0020secret"]`:        `["[redacted]","[redacted]"]`,
		`{"top secret":1,"x":{"a top secret":2}}`:           `{"[redacted]":1,"x":{"a [redacted]":2}}`,
		`{"top secret":1,"\u0074op secret":2,"pin 1234":3}`: `{"[redacted]":1,"[redacted]":2,"[redacted]":3}`,
		`[1234567890, -1234567890.5e3, 123456789]`:          `["[redacted]", "-[redacted].5e3", 123456789]`,
		`{"\"":"top secret","\\":"top secret\""}`:           `{"\"":"[redacted]","\\":"[redacted]\""}`,
		`"<&>\u2028 top secret \ud800"`:                     "\"<&>\\u2028 [redacted] \ufffd\"",
		`["whole","a whole"]`:                               `["[redacted]","a whole"]`,
		`["PIN 1234","pin \u0031234"]`:                      `["[redacted]","[redacted]"]`,
		`["back\\slash","back\u005cslash","line\nbreak","line\u000abreak"]`: `["[redacted]","[redacted]","[redacted]",` +
			`"[redacted]"]`,
		`"{\"k\":\"back\\\\slash\"}"`: `"{\"k\":\"[redacted]\"}"`,
		`"id\"42"`:                    `"[redacted]"`,
		`"top \/ secret"`:             `"top \/ secret"`,
		`["top", "secret"]`:           `["top", "secret"]`,
		`{"a":"\u00e4 \ud83d\ude00 \/ \n","n":1e400}`: `{"a":"\u00e4 \ud83d\ude00 \/ \n","n":1e400}`,
	} {
		got := s.JSON(json.RawMessage(text))
		equal(t, text, string(got), want)
		if len(got) > 0 && !json.Valid(got) {
			t.Errorf("not JSON: %s", got)
		}
	}
	for _, text := range []string{`"top secret`, `{"top secret`, `\u"`, `"\`, `-`, `"top secret\`} { // must not panic
		if got := s.JSON(json.RawMessage(text)); bytes.Contains(got, []byte("top secret")) {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// A replacement does not complete another secret.
func TestReplacementsAreNotSecrets(t *testing.T) {
	t.Parallel()
	s := newSecrets(t, "abcdef", "xy[redacted", "redacted]z")
	for text, want := range map[string]string{"xyabcdef": "[redacted]]", "abcdefz": "[[redacted]",
		"xy[redacted]z": "[redacted]"} {
		equal(t, text, s.Text(text), want)
	}
}

func TestNoSecrets(t *testing.T) {
	t.Parallel()
	var none *policy.Secrets
	equal(t, "text", none.Text("AKIA"), "AKIA")
	equal(t, "JSON", string(none.JSON(json.RawMessage(`"AKIA"`))), `"AKIA"`)
	equal(t, "zero", new(policy.Secrets).Text("AKIA"), "AKIA")
}

type login struct {
	User, Password string
	Next           *login `json:",omitempty"`
}

func TestAttr(t *testing.T) {
	t.Parallel()
	s := newSecrets(t, "top secret")
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log,
		&slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return s.Attr(groups, a)
		}}))
	logger.Info("the top secret", "s", "a top secret", "n", 1, "err", errors.New("no top secret"), "raw",
		json.RawMessage(`["top secret"]`),
		"ok", login{User: "ann"}, "struct", login{Password: "top secret"}, "deep",
		login{Next: &login{Password: "top secret"}},
		"hidden", struct{ password string }{"top secret"}, slog.Group("g", "k", "top secret", "top secret", 1), "lazy",
		lazy{})
	equal(t, "log", log.String(),
		`{"level":"INFO","msg":"the [redacted]","s":"a [redacted]","n":1,"err":"no [redacted]","raw":["[redacted]"],`+
			`"ok":{"User":"ann","Password":""},"struct":{"User":"","Password":"[redacted]"},"deep":{"User":"","Password":"",`+
			`"Next":{"User":"","Password":"[redacted]"}},"hidden":"{password:[redacted]}",`+
			`"g":{"k":"[redacted]","[redacted]":1},"lazy":"[redacted]"}`+"\n")
}

// Secrets are replaced in values of every kind.
func TestAttrKinds(t *testing.T) {
	t.Parallel()
	s := newSecrets(t, "top secret", "4929123456781234", "1h12m3s")
	type bytesToo []byte
	for name, value := range map[string]any{
		"bytes": []byte("a top secret"), "other bytes": bytesToo("a top secret"),
		"raw": json.RawMessage(`"\u0074op secret"`), "token": []byte(tokens()["aws"]),
		"integer": int64(4929123456781234), "unsigned": uint64(4929123456781234), "float": 4929123456781234.0,
		"duration": time.Hour + 12*time.Minute + 3*time.Second,
		"errors":   []error{errors.New("top secret")}, "panic": broken{}, "typed nil": (*failure)(nil),
	} {
		for kind, handler := range map[string]func(io.Writer, *slog.HandlerOptions) slog.Handler{
			"text": func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(w, o) },
			"json": func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(w, o) },
		} {
			var log bytes.Buffer
			slog.New(handler(&log, &slog.HandlerOptions{ReplaceAttr: s.Attr})).Info("m", "k", value)
			clean := strings.Contains(log.String(), "redacted") || name == "typed nil" &&
				strings.Contains(log.String(), "<nil>") ||
				kind == "json" && name == "token" // in base64, which no pattern knows
			for _, secret := range []string{"top secret", "4929123456781234", "1h12m3s", tokens()["aws"]} {
				clean = clean && !strings.Contains(log.String(), secret)
			}
			if !clean {
				t.Errorf("%s, %s: %s", name, kind, log.String())
			}
		}
	}
	same := slog.Int("n", 1)
	if got := s.Attr(nil, same); !got.Equal(same) {
		t.Errorf("%v became %v", same, got)
	}
}

type failure struct{ text string }

func (f *failure) Error() string { return f.text }

type broken struct{}

func (broken) Error() string { panic("top secret") }

type lazy struct{}

func (lazy) LogValue() slog.Value { return slog.StringValue("top secret") }

// FuzzJSON hides a value, in some encoding, in a JSON text.
func FuzzJSON(f *testing.F) {
	for how := range byte(8) {
		f.Add(`{"a":["x",1]}`, "top secret", how)
		f.Add(`"\u00e4"`, "p\"a\\s/s 1", how)
	}
	f.Add(`[1234567]`, "1234567", byte(7))
	f.Fuzz(func(t *testing.T, text, value string, how byte) {
		value = strings.TrimSpace(value)
		s, err := policy.NewSecrets(policy.SecretOptions{Values: []string{value}, ValuesOnly: how >= 128})
		if err != nil || !json.Valid([]byte(text)) {
			t.Skip()
		}
		doc := hide(t, text, value, how%8)
		got := s.JSON(doc)
		if !json.Valid(got) {
			t.Fatalf("%s became %s", doc, got)
		}
		for _, leaf := range leaves(t, got) {
			for _, form := range []string{value, url.QueryEscape(value), hex.EncodeToString([]byte(value)),
				base64.StdEncoding.EncodeToString([]byte("ab" + value + "!"))} {
				if strings.Contains(leaf, form) {
					t.Errorf("%q is still in %s, which was %s", form, got, doc)
				}
			}
		}
		if again := s.JSON(got); !bytes.Equal(again, got) {
			t.Errorf("the second time, %s became %s", got, again)
		}
		changed := slices.ContainsFunc(leaves(t, doc), func(leaf string) bool { return s.Text(leaf) != leaf })
		if changed == bytes.Equal(got, doc) {
			t.Errorf("%s became %s", doc, got)
		}
	})
}

// hide adds a value to JSON in one of several encodings, or does not add it.
func hide(t *testing.T, text, value string, how byte) json.RawMessage {
	t.Helper()
	switch how {
	case 1:
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune(value)) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		return fmt.Appendf(nil, `[%s,"x%sy"]`, text, b.String())
	case 2:
		name, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Appendf(nil, `[%s,{%s:1,%s:2}]`, text, name, name)
	case 3:
		value = "x" + base64.StdEncoding.EncodeToString([]byte("ab"+value+"!"))
	case 4:
		value = "?a=" + url.QueryEscape(value) + "&b"
	case 5:
		value = hex.EncodeToString([]byte(value))
	case 6: // JSON within JSON
		inner, err := json.Marshal([]string{value})
		if err != nil {
			t.Fatal(err)
		}
		value = string(inner)
	case 7:
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal([]any{json.RawMessage(text), value})
	if err != nil {
		t.Fatal(err)
	}
	return quoted
}

// leaves returns the strings, numbers and names of a JSON text.
func leaves(t *testing.T, text json.RawMessage) []string {
	t.Helper()
	var list []string
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		switch v := token.(type) {
		case string:
			list = append(list, v)
		case json.Number:
			list = append(list, v.String())
		}
		if errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
