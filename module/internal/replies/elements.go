package replies

import (
	"encoding/xml"
	"io"
	"strings"
)

// elements reads tags within each other: <name>Joan</name><age>19</age>. What has
// attributes, or text beside its tags, is something else.
func elements(text string) (node, bool) {
	if !strings.HasPrefix(text, "<") || !strings.HasSuffix(text, ">") {
		return node{}, false
	}
	d := xml.NewDecoder(strings.NewReader(text))
	root, err := openElement(d, 0)
	return root, err == nil && root.members != nil
}

const maxElements = 20 // in each other

// openElement reads up to the end of the element that is open, or of the text.
func openElement(d *xml.Decoder, depth int) (n node, err error) {
	var said strings.Builder
	for {
		token, err := d.Token()
		switch t := token.(type) {
		case xml.StartElement:
			if len(t.Attr) > 0 || depth == maxElements {
				return n, io.ErrUnexpectedEOF
			}
			inner, err := openElement(d, depth+1)
			if err != nil {
				return n, err
			}
			n.members = append(n.members, branch{t.Name.Local, inner})
			n.tagged = true
		case xml.CharData:
			said.Write(t)
		case xml.EndElement:
			return n.filled(said.String())
		default:
			if err == io.EOF && depth == 0 {
				return n.filled(said.String())
			}
			return n, io.ErrUnexpectedEOF
		}
	}
}

// filled gives a node the text that stands in it, if there is nothing else.
func (n node) filled(text string) (node, error) {
	text = strings.TrimSpace(text)
	if n.members != nil && text != "" {
		return n, io.ErrUnexpectedEOF
	}
	n.text = text
	return n, nil
}
