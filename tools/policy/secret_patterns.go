package policy

import (
	"regexp"
	"slices"
	"strings"
)

// pattern matches secrets.
type pattern struct {
	hints []string // every match contains one of them; empty if none are known
	fold  bool     // the hints are lower-case, but matches may have any case
	re    *regexp.Regexp
	group int // the capturing group that matches the secret; 0 for the whole match
}

// mayMatch reports whether text contains a hint.
func (p *pattern) mayMatch(text string) bool {
	if p.fold {
		text = strings.ToLower(text)
	}
	contained := func(hint string) bool { return strings.Contains(text, hint) }
	return len(p.hints) == 0 || slices.ContainsFunc(p.hints, contained)
}

func shape(re string, hints ...string) *pattern {
	return &pattern{hints: hints, re: regexp.MustCompile(re)}
}

// predefined returns patterns for tokens with a characteristic prefix, passwords in URLs and
// Authorization headers.
func predefined() []*pattern {
	return []*pattern{
		shape(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`, "AKIA", "ASIA"),                        // AWS
		shape(`\bgh[oprsu]_[A-Za-z0-9]{36,}`, "gho_", "ghp_", "ghr_", "ghs_", "ghu_"), // GitHub
		shape(`\bgithub_pat_[A-Za-z0-9_]{22,}`, "github_pat_"),
		shape(`\bglpat-[A-Za-z0-9_-]{20,}`, "glpat-"),                                              // GitLab
		shape(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, "xox"),                                           // Slack
		shape(`\bxapp-[0-9]-[A-Za-z0-9-]{10,}`, "xapp-"),                                           // Slack
		shape(`\bhooks\.slack\.com/services/[A-Za-z0-9/]{20,}`, "hooks.slack.com"),                 //
		shape(`\bsk-(?:(?:proj|ant|svcacct|admin|or)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,})`, "sk-"), // OpenAI, Anthropic
		shape(`\b(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}`, "k_live_", "k_test_", "whsec_"),  // Stripe
		shape(`\bAIza[0-9A-Za-z_-]{35}`, "AIza"),                                                   // Google
		shape(`\bya29\.[0-9A-Za-z_-]{20,}`, "ya29."),                                               // Google
		shape(`\bGOCSPX-[0-9A-Za-z_-]{20,}`, "GOCSPX-"),                                            // Google
		shape(`\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`, "SG."),                                 // SendGrid
		shape(`\bnpm_[A-Za-z0-9]{36}`, "npm_"),                                                     //
		shape(`\bpypi-[A-Za-z0-9_-]{50,}`, "pypi-"),                                                //
		shape(`\bhf_[A-Za-z0-9]{30,}`, "hf_"),                                                      // Hugging Face
		shape(`\bdo[opr]_v1_[a-f0-9]{64}`, "_v1_"),                                                 // DigitalOcean
		shape(`\b(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})`, "ntn_", "secret_"),              // Notion
		shape(`\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`, "shp"),                                       // Shopify
		shape(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, "eyJ"),            // JSON Web Tokens
		shape(`-----BEGIN [A-Z ]*PRIVATE KEY[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|\z)`, "PRIVATE KEY"),
		{hints: []string{"://"}, group: 1, // postgres://user:password@host
			re: regexp.MustCompile(`://[^/\s:@"]*:([^/\s@"]+)@`)},
		{hints: []string{"authorization"}, fold: true, group: 1, re: regexp.MustCompile(
			`(?i)authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{8,})`)},
	}
}
