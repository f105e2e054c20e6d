// Package conversationtest measures how well models fare with what they are told: whether they
// recover from the mistakes that models make, and how many tokens whole runs take. It has no
// code but its tests, which write docs/measured/conversation.md:
//
//	go test ./module/internal/conversationtest -update
//
// To record a conversation, add an archive to module/testdata/slips, or a task to the tests and an
// archive to module/testdata/tasks, with no replies at first. With -play, the test shows the question
// for which an archive has no reply. Write the reply from that alone, and run the test again.
package conversationtest
