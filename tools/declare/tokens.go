package declare

// Tokens estimates how many tokens a model counts in a text.
func Tokens(text string) int { return (len(text)*2 + 6) / 7 }
