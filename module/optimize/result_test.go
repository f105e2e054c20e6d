package optimize_test

import (
	"fmt"

	"github.com/writ-go/writ/module/optimize"
)

func ExampleResult_String() {
	best := optimize.Candidate{ID: 1, By: "GEPA: reflection on Sort", Score: 0.75}
	fmt.Println(&optimize.Result[int]{
		Best: &best, Candidates: []optimize.Candidate{{}, best}, Spent: optimize.Spent{StudentCalls: 40},
		Warnings: []string{"Val has only 4 examples"},
	})
	fmt.Println((*optimize.Result[int])(nil))
	// Output:
	// score 0.750, by GEPA: reflection on Sort, the best of 2 candidates; 40 student calls
	// warning: Val has only 4 examples
	// no result
}
