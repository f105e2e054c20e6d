# tools/journal/rules.go A program gets recorded results only of the attempt just before it.
s/return q.inStep(e) \&\& e.isDone() \&\& (!q.consumed(e) || e.unheard)$/& \&\& e.attempt.number >= q.number-1/
