// Package conversationtest measures prompts in recorded conversations: whether models recover from
// their mistakes, and how many tokens whole runs take. It contains only tests, which write
// docs/measured/conversation.md:
//
//	go test ./module/internal/conversationtest -update
//
// To record a conversation, add an archive to module/testdata/slips, or a task to the tests and an
// archive to module/testdata/tasks, without replies at first. With -play, the test shows the question
// for which an archive has no reply. Write the reply based on the question alone, and run the test
// again.
package conversationtest
