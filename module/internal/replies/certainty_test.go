package replies_test

import (
	"testing"
)

const endLine = "\n\n[[ ## completed ## ]]"

// TestCertain reads replies in which a careful reader finds the value for certain, if
// not where it was asked for, and refuses those that differ from them by a doubt.
func TestCertain(t *testing.T) {
	t.Parallel()
	triage := "[[ ## priority ## ]]\nlow\n\n[[ ## hours ## ]]\n1" + endLine
	for _, c := range []struct{ kind, reply, want string }{
		{"title", "The Hidden Cost of Shipping", `{"title":"The Hidden Cost of Shipping"}`},
		{"title", "I Cannot Provide A Title", ""},
		{"title", "Sorry About That Unfortunate Mistake", ""},
		{"title", "Sure! Here's a title for it:\n\n**The Reef**", `{"title":"The Reef"}`},
		{"title", "Sure! Here's a title:\n\nI need more information about the article", ""},
		{"title", "Here's a title for it:\n\n**The Reef**\n\n**The Sea**", ""},
		{"title", "Here's a title for it: The Reef or The Big Sea", ""},
		{"title", "Here is the title:\nThe Sea.\nIt fits because it is short.", ""},
		{"title", "[[ ## title ## ]]\nstring" + endLine, ""},
		{"title", "[[ ## title ## ]]\n**The Reef** or **The Sea**" + endLine, ""},
		{"title", `{"title": "\"The Reef\" or \"The Sea\""}`, ""},
		{"title", "[[ ## title ## ]]\nThe Reef\n\nThis title captures both." + endLine, `{"title":"The Reef"}`},
		{"title", "[[ ## title ## ]]\nThe Reef\n\nThis title captures both. Wait, The Sea is better." + endLine, ""},
		{"poem", "[[ ## poem ## ]]\nRoses,\nviolets.\n\nThis poem captures both." + endLine, ""},
		{"poem", "Here is a poem:\n\nRoses are red,\nviolets blue.", `{"poem":"Roses are red,\nviolets blue."}`},
		{"poem", "Here is a poem:\n\nRoses are red,\nviolets blue.\n\nI can write a longer one if you want.", ""},
		{"year", "The war ended in 1945.", `{"year":1945}`},
		{"year", "The war did not end in 1945.", ""},
		{"year", "The article was written in 1945.", ""},
		{"year", "[[ ## year ## ]]\n1066 AD" + endLine, `{"year":1066}`},
		{"year", "[[ ## year ## ]]\n44 BC" + endLine, ""},
		{"year", "[[ ## year ## ]]\n5 years" + endLine, ""},
		{"spam", "Yes, this message is spam. It asks for money.", `{"spam":true}`},
		{"spam", "This is not spam.", `{"spam":false}`},
		{"spam", "No, this is spam.", ""},
		{"spam", "This is spam. However, it is from a colleague.", ""},
		{"spam", "The message is probably spam.", ""},
		{"spam", "The message is not necessarily spam.", ""},
		{"spam", "This is not spam.\n\n[[ ## spam ## ]]\ntrue" + endLine, ""},
		{"ratio", "[[ ## ratio ## ]]\n75%" + endLine, `{"ratio":0.75}`},
		{"ratio", "[[ ## ratio ## ]]\n0.5%" + endLine, ""},
		{"ratio", "[[ ## ratio ## ]]\n150%" + endLine, ""},
		{"ratio", "[[ ## ratio ## ]]\n0.6 (60%)" + endLine, `{"ratio":0.6}`},
		{"ratio", "[[ ## ratio ## ]]\n0.6 (66%)" + endLine, ""},
		{"ratio", "[[ ## ratio ## ]]\n12 / 48 = 0.25" + endLine, `{"ratio":0.25}`},
		{"ratio", "[[ ## ratio ## ]]\n12 / 48 = 0.3" + endLine, ""},
		{"ratio", "Of 20, 3 are broken, so the ratio is 0.15.\n\n[[ ## ratio ## ]]\n0.15" + endLine, `{"ratio":0.15}`},
		{"ratio", "Of 20, 3 are broken, so the ratio is 0.15.\n\n[[ ## ratio ## ]]\n0.3" + endLine, ""},
		{"at", "The time is `2024-08-19T10:45:00+02:00`.", `{"at":"2024-08-19T10:45:00+02:00"}`},
		{"at", "The time is not `2024-08-19T10:45:00+02:00`.", ""},
		{"at", "The time may be `2024-08-19T10:45:00+02:00`.", ""},
		{"at", `{"tool_calls": [{"function": {"arguments": "{\"at\": \"2025-03-30T06:00:00Z\"}"}}]}`, `{"at":"2025-03-30T06:00:00Z"}`},
		{"at", `{"tool_calls": [{"function": {"arguments": "{\"at\": \"2025-03-30T06:00:00Z\"}"}}, {"function": {"arguments": "{}"}}]}`, ""},
		{"triage", triage + "\n\n[[ ## ticket ## ]]\nIt is slow.\n\n[[ ## hours ## ]]\n2" + endLine, `{"priority":"low","hours":1}`},
		{"triage", triage + "\n\n[[ ## correction ## ]]\nIt is slow.\n\n[[ ## hours ## ]]\n2" + endLine, ""},
		{"triage", triage + "\n\n[[ ## thoughts ## ]]\nHm.\n\n[[ ## hours ## ]]\n2" + endLine, ""},
		{"triage", triage + "\n\n[[ ## note ## ]]\nThe hours are wrong, it is 2.", ""},
		{"triage", "[[ ## priority ## ]]\nlow\n\n[[ ## hours ## ]]\n12\n\nRationale: about 4 hours, then 8." + endLine, `{"priority":"low","hours":12}`},
		{"triage", "[[ ## priority ## ]]\nlow\n\n[[ ## hours ## ]]\n12\n\nRationale: about 4 hours, then 9." + endLine, ""},
		{"tags", `["item1", "item2"]`, ""},
		{"tags", "[[ ## tags ## ]]\n- tag1\n- tag2" + endLine, ""},
		{"address", "[[ ## address ## ]]\n[[ ## street ## ]]\nA 1\n[[ ## city ## ]]\nC" + endLine, `{"address":{"street":"A 1","city":"C"}}`},
		{"address", "[[ ## address ## ]]\n[[ ## street ## ]]\nA 1\n[[ ## country ## ]]\nX\n[[ ## city ## ]]\nC" + endLine, ""},
		{"program", "[[ ## code ## ]]\n```js\na()\n```\nThis calls a." + endLine, `{"code":"a()"}`},
		{"program", "[[ ## code ## ]]\n```js\na()\n```\nThis should be changed to b()." + endLine, ""},
		{"program", "<tool_call>{\"name\": \"run\", \"arguments\": {\"code\": \"a()\"}}</tool_call>", `{"code":"a()"}`},
	} {
		for _, a := range adapters {
			u := unseen{kind: c.kind, spec: unseenKinds2[c.kind], reply: c.reply}
			if got, why := u.read(a); got != c.want {
				t.Errorf("%s, %s: %q: got %s (%s), want %s", a.name, c.kind, c.reply, got, why, c.want)
			}
		}
	}
}
