# tools/journal/look.go A program may repeat a failed call on purpose without having looked.
s/if unseen == nil || len(q.readers()) == 0 {/if true || len(q.readers()) == 0 {/
