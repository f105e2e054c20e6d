package replies

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// absent is how models write that there is no value.
var absent = map[string]bool{
	"null": true, "none": true, "nil": true, "undefined": true, "n/a": true, "na": true,
	"not applicable": true, "-": true, "–": true, "—": true, "~": true,
}

// notThere finds words that say that there is no value: not provided.
var notThere = regexp.MustCompile(`(?i)^[(\[*_]*(?:` + strings.Join([]string{
	`(?:it |this )?(?:is |was |has )?(?:not|none|no \w+|never)(?: been)?(?: \w+ly)? (?:provided|given|specified|stated|mentioned|available|known|found|applicable|included|listed|disclosed|indicated|present)(?: (?:in (?:the|this|that) \pL+|here))?`,
	`(?:non|pas|aucune?) (?:précisée?|mentionnée?|indiquée?|connue?|communiquée?|disponible|renseignée?|spécifiée?|donnée?|applicable)`,
	`(?:nicht|keine|k\. ?) ?(?:angegeben|genannt|bekannt|erwähnt|verfügbar|vorhanden|angaben?|a\.)`,
	`(?:no|sin) (?:se )?(?:especificad[oa]|especifica|mencionad[oa]|menciona|indicad[oa]|indica|disponible|conocid[oa]|datos|información)`,
	`non (?:è )?(?:specificat[oa]|indicat[oa]|menzionat[oa]|disponibile|not[oa])`,
	`não (?:informad[oa]|especificad[oa]|mencionad[oa]|indicad[oa]|disponível|consta)`,
	`unknown|unbekannt|inconnue?|desconocid[oa]|sconosciut[oa]|desconhecid[oa]|onbekend`,
	`niet (?:vermeld|bekend|beschikbaar|opgegeven|genoemd)`,
}, "|") + `)\.?[)\]*_]*$`)

// ofKnowledge finds words that there is nothing where that may be the value: none known.
var ofKnowledge = regexp.MustCompile(`(?i)^(?:none (?:known|found|available|present)|\pL+n?known|unbekannt|incon|desco|scono|onbek)`)

// saidAbsent finds texts of JSON that mean that there is none.
var saidAbsent = regexp.MustCompile(`(?i)^"[(\[]?(?:null|undefined|n/a)[)\]]?\.?"$`)

// leftOut finds remarks in parentheses that give no value: (left out, as …).
var leftOut = regexp.MustCompile(`(?i)^\((?:left (?:out|empty|blank)|omitted|none|nothing|not|no|empty|blank|n/a|unknown|absent|missing|skipped|unspecified)\b[^()\n]*\)$|^(?:no|none) known\b[^.\n]{0,40}\.?$`)

// nothing is the value of a field that is said to have none. One that has a
// default would silently get it.
func nothing(f signature.Field) (json.RawMessage, error) {
	if null := json.RawMessage("null"); fits(f, null) {
		return null, nil
	}
	var s struct{ Default json.RawMessage }
	if json.Unmarshal(f.Schema.Raw(), &s) == nil && s.Default != nil {
		return nil, structural(f.Name, "is said to have no value, but has the default %s if it is left out; give a value", s.Default)
	}
	return nil, nil
}
