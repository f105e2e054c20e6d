package signature_test

import (
	"fmt"

	"github.com/writ-go/writ/signature"
)

type Review struct {
	Text string `json:"text"`
}

type Verdict struct {
	Mood  string  `json:"mood" jsonschema:"enum=good,enum=bad"`
	Score float64 `json:"score" jsonschema:"minimum=0,maximum=1"`
}

func Example() {
	judge := signature.Must(signature.New[Review, Verdict]("Judge the review."))
	fmt.Println(judge.Spec().OutputTypeScript())

	verdict, err := judge.Decode([]byte(`{"mood": "bad", "score": 0.1}`))
	fmt.Println(verdict.Mood, err)

	_, err = judge.Decode([]byte(`{"mood": "great", "score": 3}`))
	fmt.Println(err)
	// Output:
	// {mood: "good" | "bad"; score: number /* 0–1 */}
	// bad <nil>
	// mood must be one of "good", "bad", not "great"
	// score must be at most 1, not 3
}
