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

func ExampleParse() {
	qa := signature.Must(signature.Parse(
		`question, context: list[str] -> answer: str, score: float(ge=0, le=1, desc="how sure")`, "Answer briefly."))
	fmt.Println(qa.Spec().OutputTypeScript())

	values, err := qa.Decode([]byte(`{"score": 0.9, "answer": "Paris"}`))
	answer, _ := values.Get("answer")
	fmt.Printf("%s %v\n", answer, err)

	_, err = signature.Parse("question -> answer: strr", "Answer briefly.")
	fmt.Println(err)
	// Output:
	// {answer: string; score: number /* 0–1. how sure */}
	// "Paris" <nil>
	// signature: column 21: unknown type "strr"; did you mean str?
}

func ExampleSpec_String() {
	judge := signature.Must(signature.New[Review, Verdict]("Judge the review."))
	fmt.Println(judge.Spec())
	// Output:
	// text: str -> mood: Literal["good", "bad"], score: float(ge=0, le=1)
}

func ExampleSpec_PrependOutputs() {
	judge := signature.Must(signature.New[Review, Verdict]("Judge the review."))
	reasoning, err := signature.ParseField(`reasoning: str(desc="step by step")`)
	if err != nil {
		panic(err)
	}
	spec, err := judge.Spec().PrependOutputs(reasoning)
	if err != nil {
		panic(err)
	}
	fmt.Println(spec)

	_, err = spec.AppendInputs(reasoning)
	fmt.Println(err)
	// Output:
	// text: str -> reasoning: str(desc="step by step"), mood: Literal["good", "bad"], score: float(ge=0, le=1)
	// signature: output field "reasoning": an input field has the same name; rename one
}

func ExampleTyped() {
	judge := signature.Must(signature.New[Review, Verdict]("Judge the review."))
	spec, err := judge.Spec().WithDescription("score", "0 is a disaster")
	if err != nil {
		panic(err)
	}
	judge, err = signature.Typed[Review, Verdict](spec)
	fmt.Println(judge, err)
	// Output:
	// text: str -> mood: Literal["good", "bad"], score: float(ge=0, le=1, desc="0 is a disaster") <nil>
}

type Message struct {
	Before signature.History `json:"before"`
	Text   string            `json:"text"`
	Photo  *signature.Image  `json:"photo"`
}

type Answer struct {
	Reply string `json:"reply"`
}

func ExampleHistory() {
	chat := signature.Must(signature.New[Message, Answer]("Help the customer."))
	turn, err := chat.Turn(Message{Text: "It broke."}, Answer{Reply: "Which one?"})
	if err != nil {
		panic(err)
	}
	values, err := chat.Encode(Message{Before: signature.History{turn}, Text: "The red one."})
	before, _ := values.Get("before")
	fmt.Printf("%s %v\n", before, err)

	turn = signature.Values{{Name: "txet", JSON: []byte(`"It broke."`)}, {Name: "reply", JSON: []byte(`"Which one?"`)}}
	_, err = chat.Encode(Message{Before: signature.History{turn}, Text: "The red one."})
	fmt.Println(err)
	// Output:
	// [{"text":"It broke.","photo":null,"reply":"Which one?"}] <nil>
	// signature: input: before[0].txet is not a field of the signature (fields: before, text, photo, reply)
}
