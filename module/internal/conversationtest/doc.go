// Package conversationtest measures how well models fare with what they are told: whether they
// recover from the mistakes that models make, and how many tokens whole runs take. It has no
// code but its tests, which write docs/measured/conversation.md.
package conversationtest
