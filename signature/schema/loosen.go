package schema

// loosen sees to it that what was dropped makes nothing refuse more than before:
// what stands around it and says no to what fits inside.
func (m *mender) loosen() {
	weaker := m.weaker()
	isWeaker := func(object map[string]any, name string) bool {
		for _, inner := range under(object, name) {
			if weaker[address(inner)] {
				return true
			}
		}
		return false
	}
	for _, object := range m.objects {
		if !weaker[address(object)] {
			continue
		}
		if isWeaker(object, "not") {
			delete(object, "not")
		}
		if isWeaker(object, "if") {
			remove(object, "if", "then", "else")
		}
		if isWeaker(object, "contains") {
			delete(object, "maxContains")
		}
		if isWeaker(object, "oneOf") {
			if _, taken := object["anyOf"]; !taken {
				object["anyOf"] = object["oneOf"]
			}
			delete(object, "oneOf")
		}
		remove(object, "unevaluatedProperties", "unevaluatedItems")
	}
}

func remove(object map[string]any, names ...string) {
	for _, name := range names {
		delete(object, name)
	}
}

// weaker finds the schemas that lost something or lead to one that did.
func (m *mender) weaker() map[uintptr]bool {
	leading := map[uintptr][]uintptr{} // to a schema, from others
	for _, object := range m.objects {
		for name := range object {
			for _, inner := range under(object, name) {
				leading[address(inner)] = append(leading[address(inner)], address(object))
			}
		}
	}
	for _, r := range m.refs {
		if r.target != nil {
			leading[address(r.target)] = append(leading[address(r.target)], address(r.object))
		}
	}
	weaker := map[uintptr]bool{}
	var queue []uintptr
	for at := range m.lost {
		queue = append(queue, at)
	}
	for len(queue) > 0 {
		last := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !weaker[last] {
			weaker[last] = true
			queue = append(queue, leading[last]...)
		}
	}
	return weaker
}
