package schema_test

import (
	"fmt"
	"reflect"

	"github.com/writ-go/writ/signature/schema"
)

type Query struct {
	Customer string `json:"customer_id"`
	Limit    int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=20"`
}

func Example() {
	s, err := schema.Of(reflect.TypeFor[Query]())
	if err != nil {
		panic(err)
	}
	fmt.Println(s.TypeScript(nil))
	for _, f := range s.Validate([]byte(`{"custommer_id": "c1", "limit": "ten"}`)) {
		fmt.Println(f)
	}
	// Output:
	// {customer_id: string; limit?: number /* integer, 1–100, default 20 */}
	// customer_id is required
	// custommer_id is not a known property (did you mean customer_id?)
	// limit must be an integer, not "ten"
}

// Unknown values are not judged, but the misspelled name is.
func ExampleSchema_ValidatePartial() {
	s, err := schema.Of(reflect.TypeFor[Query]())
	if err != nil {
		panic(err)
	}
	call := []byte(`{"customer_id": null, "limt": 10}`) // orders.list({customer_id: id, limt: 10})
	fmt.Println(s.ValidatePartial(call, []string{"/customer_id"}))
	// Output:
	// [limt is not a known property (did you mean limit?)]
}
