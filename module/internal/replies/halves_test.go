package replies_test

import (
	"testing"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// A text with half of a character is no value in any form: encoding/json would put
// another character in its place.
func TestHalfOfACharacter(t *testing.T) {
	t.Parallel()
	question := signature.Must(signature.New[struct{}, struct {
		Body string         `json:"body"`
		Deep map[string]any `json:"deep,omitempty"`
		List []string       `json:"list,omitempty"`
	}]("")).Spec()
	const object = `the JSON object in the reply cannot be read: it has half of a character, \ud83d; write the character itself`
	for reply, want := range map[string]string{
		`{"body": "a\ud83d"}`:                                 object,
		"```json\n{\"body\": \"a\\ud83d\"}\n```":              object,
		`{"body": "a\ud83d",}`:                                object,
		`{'body': 'a\ud83d'}`:                                 object,
		`{"body": "\ud83d\u0041"}`:                            object,
		`{"body": "a", "deep": {"\ud83d": 1}}`:                object,
		`{"body": "a", "deep": {"a": ["\ud83d"]}}`:            object,
		`"{\"body\": \"a\\ud83d\"}"`:                          object,
		`"{\"body\": \"a\ud83d\"}"`:                           "no field was found in the reply; answer with the JSON object",
		`"a\ud83d"`:                                           "no field was found in the reply; answer with the JSON object",
		"[[ ## body ## ]]\na\n[[ ## list ## ]]\n['a\\ud83d']": `the field "list" cannot be read as JSON: it has half of a character, \ud83d; write the character itself`,
		"body: \"a\\ud83d\"":                                  "",
		"body = \"a\\ud83d\"":                                 "",
		"[[ ## body ## ]]\n\"a\\ud83d\"":                      "",
		`{"arguments": "{\"body\": \"a\\ud83d\"}"}`:           "",
	} {
		values, err := replies.Read(question, reply, false, replies.Object)
		if err == nil { // the value as it was written, of which the signature says the same
			raw, unread := values.MarshalJSON()
			if findings := question.Validate(raw); unread == nil && want == "" && len(findings) > 0 {
				continue
			}
			t.Errorf("%s\nis read as %s", reply, raw)
		} else if err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", reply, err, want)
		}
	}
	for _, reply := range []string{`{"body": "\ufffd"}`, `{"body": "\uFFFD\ud83d\ude00"}`, `{"body": "` + "\ufffd" + `"}`, `"{\"body\": \"\ufffd\"}"`} {
		if _, err := replies.Read(question, reply, false, replies.Object); err != nil {
			t.Errorf("%s: %v", reply, err)
		}
	}
}

func TestHalfOfACharacterInAProgram(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"[[ ## code ## ]]\n\"submit('\\ud83d')\"\n[[ ## completed ## ]]": "the program has half of a character; write the character itself",
		`{"code": "submit('\ud83d')"}`:                                   `the JSON object in the reply cannot be read: it has half of a character, \ud83d; write the character itself`,
		"```json\n{\"code\": \"submit(/\\d/.test('1'))\"}\n```":          `the JSON object in the reply cannot be read: it has the escape "\\d" in a text, which JSON does not know`,
	} {
		if p, err := replies.ReadProgram(reply, false, replies.Object); err == nil || err.Error() != want {
			t.Errorf("%s: got %+v and %v", reply, p, err)
		}
	}
}
