package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

type Order struct {
	ID string `json:"id"`
}

const key = "correct horse battery staple"

func refund(_ context.Context, o Order) (string, error) {
	return "refunded " + o.ID + " with the key " + key, nil
}

// ask would ask a person.
func ask(_ context.Context, r policy.Request) (policy.Decision, error) {
	fmt.Println("may I?", r)
	vip := strings.Contains(r.Args, "vip")
	return policy.Decision{Approved: !vip, Reason: "leave this one to the shop"}, nil
}

func Example() {
	ctx := context.Background()
	secrets, err := policy.NewSecrets(policy.SecretOptions{Values: []string{key}})
	if err != nil {
		log.Fatal(err)
	}
	logger := slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{ReplaceAttr: secrets.Attr}))
	set, err := tools.NewSet(ctx, tools.Func("refund", "Refund one order.", refund, &tools.Hints{Destructive: true}))
	if err != nil {
		log.Fatal(err)
	}
	set = set.With(
		policy.Audit(logger, nil), // sees how a call ends for the program
		policy.Redact(secrets),    // policies before this one see no secret
		policy.Deny(policy.Tools("shell.*"), "there is no shell here"), // before a person is asked
		policy.DenySecrets(secrets),                                    // in arguments
		policy.If(policy.Destructive(), policy.Approve(ask)),           // once, no matter how many tries follow
		policy.Retry(nil),               // mostly for tools that only read
		policy.Rate(60, time.Minute, 0), // each try counts
		policy.Timeout(10*time.Second),  // of one try
	)
	fmt.Println(set.Warnings())

	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	for _, id := range []string{"a1", "vip"} {
		out, err := box.Run(ctx, sandbox.Program{
			Source: `await refund({id})`, Inputs: map[string]any{"id": id}, Tools: set,
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(out.Value), out.Calls[0].Error)
	}
	// Output:
	// []
	// may I? refund (unclassified, destructive)
	// {
	//   "id": "a1"
	// }
	// line 1: await refund({id})
	// "refunded a1 with the key [redacted]" <nil>
	// may I? refund (unclassified, destructive)
	// {
	//   "id": "vip"
	// }
	// line 1: await refund({id})
	//  tool refund: not approved: leave this one to the shop
}

// A Match may depend on the arguments.
func ExampleIf() {
	home := policy.Argument("path", regexp.MustCompile(`^/home/ann/[^.]`).MatchString)
	few := policy.Argument("ids", func(ids []string) bool { return len(ids) <= 10 })
	policies := []tools.Policy{
		policy.Allow(policy.Or(policy.Not(policy.Tools("fs.*")), home), "only files in /home/ann may be used"),
		policy.If(policy.And(policy.Tools("orders.cancel"), policy.Not(few)), policy.Approve(ask)),
	}
	fmt.Println(len(policies), home)
	// Output: 2 calls with a permitted argument path
}

// Attr and JSON accept all values.
func ExampleSecrets() {
	secrets, err := policy.NewSecrets(policy.SecretOptions{Values: []string{"s3cret-word"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(secrets.Text("postgres://ann:hunter2@db/shop?token=s3cret-word"))
	fmt.Println(string(secrets.JSON(json.RawMessage(`{"token": "\u00733cret-word", "n": 1.50}`))))
	// Output:
	// postgres://ann:[redacted]@db/shop?token=[redacted]
	// {"token": "[redacted]", "n": 1.50}
}
