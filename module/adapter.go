package module

import "github.com/writ-go/writ/signature"

type Adapter interface {
	System(spec *signature.Spec, briefing string) string
	Question(spec *signature.Spec, inputs signature.Values) string
	Answer(spec *signature.Spec, outputs signature.Values) string
	Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error)
}

type markers struct{}

func Markers() Adapter { return markers{} }

func (markers) System(spec *signature.Spec, briefing string) string {
	return systemPrompt(spec, briefing)
}
func (markers) Question(spec *signature.Spec, inputs signature.Values) string {
	return formatInputs(inputs) + replyReminder(spec)
}
func (markers) Answer(spec *signature.Spec, outputs signature.Values) string {
	return formatInputs(outputs) + marker(endName(spec))
}
func (markers) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	return readReply(spec, Step{Reply: reply, Truncated: truncated})
}
