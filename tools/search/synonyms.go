package search

import (
	"slices"
	"strings"
	"sync"
)

// The synonyms are words that people use for what tools call by another word:
// all of a line for each other, or where there is a colon, those before it for
// those behind it. Behind a ~ are words that go along with what was said without
// meaning it. Words that are joined by a hyphen are said one after the other.
const synonyms = operations + questions + files + records + writings + people + browsing + versions + systems

// operations are what is done.
const operations = `
	create add make new insert
	generate build produce prepare compose draft construct establish set-up fresh another: create new
	start begin: create start init
	add put include attach append extend: add insert append
	write save store put
	write save store keep put: create insert update add write
	keep retain preserve: store save
	record note jot note-down write-down take-down jot-down log: add create insert write
	import load ingest bulk: insert load many
	delete remove drop erase
	wipe destroy trash purge throw discard rid kick scrap unneeded eliminate dump: delete remove drop clean reset
	get-rid rid-of throw-away throw-out take-out take-off take-away cut-out clear-out clean-out clean-up no-longer strike cancel: delete remove drop clean reset
	clear clean reset
	empty blank ~ clear delete new
	clean-up tidy-up tidy leftover junk unused cruft garbage: clean delete remove
	outdated old stale expired obsolete: delete
	no-use of-no-use useless: delete drop remove
	get read fetch retrieve load
	show view display see print look give tell what describe check inspect examine: get read list retrieve show view
	show view see print inspect examine display
	contain contents inside say says stand what-is-in: read content text
	describe detail details: describe get info detail
	dump everything all: read export all
	whole entire complete full ~ read export all full entire complete
	recall: read search open get memory
	list show all browse enumerate which
	which what available exist existing are-there there-are do-we-have we-have do-i-have i-have i-own there-is every everybody everyone: list
	exist is-there any check whether: find search list info get status
	find search query locate
	look lookup seek look-up look-for hunt hunt-down where-is where-are spot discover dig come-across mention about: find search query
	match filter only older younger newer cheaper above below more-than less-than at-least at-most equal such: find query filter
	sort sorted order top best highest lowest first: query sort find
	update edit change modify patch
	alter replace set adjust correct fix rewrite mend amend revise reword rephrase swap raise lower increase decrease mark assign overwrite bump adapt turn: update edit change modify
	tick tick-off check-off complete done finish: update
	mark-as set-to: update
	overwrite: write
	typo line word: edit
	undo revert restore rollback roll-back take-back back-out unstage discard: reset restore revert
	get-back bring-back recover as-it-was restore: restore checkout recover reflog stash apply
	undelete unarchive: restore update
	move rename relocate transfer
	rename ~ update
	do-not-need dont-need don-t-need not-need no-need need-no: close delete remove disconnect
	better-name name-instead: rename move
	another-name other-name new-name different-name give-name call-it name-of: rename move
	another-place elsewhere under-another below-another: move drag parent
	put-below put-under move-to into: move
	copy clone duplicate
	send push post publish submit deliver share ship
	send mail: email message
	say tell notify inform: send message post
	say-hello hello greet back-to-me say-back exactly: echo
	download: clone fetch pull get export
	upload attach hand-in: upload send push attach file
	bring-in bring-into integrate: merge pull
	newest latest recent recently lately: fetch pull log recent
	up-to-date catch-up: pull fetch update sync
	sync synchronize: pull push fetch
	run execute evaluate invoke perform
	compute calculate work-out math: sum calculate evaluate aggregate
	launch trigger initialize init kick-off
	start begin: trigger init run
	operation job process: operation run
	stop cancel abort kill halt end terminate
	turn-on turn-off switch-on switch-off enable disable on-and-off: toggle enable disable
	off on mute unmute stop: toggle
	subscribe unsubscribe follow-updates: subscriber subscription subscribe updates
	pause wait sleep delay
	hold hold-on until finish ready loading appear disappear gone second moment a-moment shows-up vanish: wait
	takes-a-while while slow-job takes-long long lengthy slow: long running
	zip compress shrink pack squeeze smaller: gzip compress archive
	unzip unpack: extract decompress
	join merge combine unite
	compare difference diff different differ
	between: compare diff relation
	connect link associate relate belong belong-together tie: connect relation create
	unlink disconnect untie separate: delete relation disconnect
	hang-up log-out sign-out logout log-off: disconnect close
	login log-in sign-in authenticate sign connect: connect login authenticate
	switch: checkout select toggle change
	go-back back previous return undo-navigation: back
	go-back-to return-to switch-to jump-to: checkout back
	choose select pick choice
	accept confirm approve ok okay agree yes: accept handle
	dismiss reject refuse decline answer: handle cancel close
	answer: handle comment response
	allow permit may authorize allowed permission: allowed permission access
	close exit quit shut shut-down done-with finished-with am-done im-done: close disconnect
	smaller larger bigger wider narrower wide tall: resize size
	assign: update set
	craft author invent assemble spawn bring-up put-up open-up: create new
	zap nuke ditch bin dispose shred strip expunge dismantle take-down pull-down tear-down do-away: delete remove drop
	fetch pull-up bring-up grab obtain pick-up get-hold open peek skim study browse glance go-through: read get open retrieve
	present output report print-out dig-out: show view list get
	tweak refine update polish touch-up brush-up shift convert make-it make-them renew refresh flip: update edit change
	insert slip squeeze stick: insert add
	shift transport carry bring put-into place-into stick-into drop-into reorganize reorganise tidy: move
	something-else another-title retitle: rename title
	back-up: export save copy
	export extract take-out-of hand-over: export get
	search scan comb screen check-for check-if look-through sift google track-down trace pinpoint: search find
	contents ~ list
	deposit stash-away file-away leave hold-onto persist commit-to: save write store
	hand hand-in hand-over transmit forward dispatch: send push upload
	repeat again after-me mirror parrot: echo
	be-patient patient till hang-on stay: wait
	begin commence initiate open: start create
	end finish terminate: close stop
	multiply divide subtract difference-of: sum calculate evaluate
	attempt try test: run
	enumerate all-the names-of which-ones: list
	cancel: close delete
	suppress silence: toggle
	permit-to open-to: allowed
	undo never-happened reverse: reset revert
	somewhere-else another-folder other-folder other-directory elsewhere: move
	ending-in ending-with ends-with extension wildcard pattern glob regex: search find pattern match
	last-month last-year last-week this-week this-month this-year yesterday today tomorrow ~ date query filter find log
	two three four five ten few couple bunch pile ~ multiple many
	of-these all-of-them both-of: multiple many
	notify notification notifications: subscriber updates send
	verbose debug: logging toggle
	hear-back get-back-to: comment reply
	unfollow: unsubscribe toggle
	duplicate double twin: copy clone
	quote cite ~ read
	confirm verify validate ensure prove: verify check get
	break-up divorce divorced separated: delete relation
	abandon give-up call-off drop-out: cancel delete reset discard
	finish-with leave-off log-off sign-off: close disconnect
	bring-together put-together fold-into bring-into: merge
	make-room free-up free: delete clean
	go-to-the-next next-page continue proceed: click navigate
	store-away put-in put-onto: add insert
	retrieve get-hold look-at have-a-look take-a-look: read view show get`

// questions are what is asked for: numbers, sizes, times, reasons.
const questions = `
	count many number amount how-many quantity: count total
	how-much: sum total size count aggregate
	sum plus total add-up altogether: sum add
	total revenue sales turnover per: aggregate sum
	average mean statistic statistics minimum maximum median percent percentage breakdown distribution: aggregate stats
	group per by-month by-day by-year by-category each-month top highest best: aggregate
	pipeline: aggregate
	statistics stats metrics figures health healthy state condition numbers: stats status statistics info
	overview glance at-a-glance layout laid-out structure organized organised: list tree status summary structure
	size space big large biggest largest smallest small weigh heavy how-big how-large takes-up bytes megabytes room: size
	storage disk space room: storage size
	metadata detail property attribute information info characteristic
	info information about: info get details describe retrieve
	when date time last modified timestamp how-old age: info time date modified
	permission owner mode: info permission
	explain why how-come: explain describe
	how: explain describe
	faster slow performance optimize speed speed-up quick quicker quickly accelerate: index explain
	why-slow: explain
	lookup: index
	executed execution planned: explain plan
	example sample demo demonstrate illustration: example demonstrates simulate sample tiny
	pretend fake dummy mock: simulate simulated
	research investigate study topic subject: research
	think thought reason reflect ponder deliberate contemplate reconsider brainstorm conclude conclusion idea mull hypothesis rethink: thinking thought
	problem question plan puzzle tricky difficult complicated hard riddle: thinking reason problem
	step by-step step-by-step break-down carefully: thinking step
	several multiple many five three both together at-once in-one-go batch simultaneously: multiple many
	single one just-one only-one individual particular certain given this-one: single one specific
	progress: progress status
	first top head beginning last bottom tail end lines ~ head tail
	echo repeat parrot
	more-than-a how-often number-of amount-of tally total-number: count
	spend earn cost turnover income expense profit budget money ~ aggregate sum
	by-country by-region by-city by-customer by-product for-each each: aggregate group
	rank ranking best-selling bestselling most: aggregate sort
	takes-the-most eats-up uses-up how-much-space how-much-room occupies fill-up: size sizes storage
	how-old since created last-changed when-was: info log date
	ages forever takes-ages too-slow take-so-long sluggish lag: slow index explain
	sort-of kind-of what-kind: schema type
	who-may who-can: permission info
	how-far: progress
	solve figure-out work-through work-out one-by-one think-through: thinking problem
	maths arithmetic sums: sum
	weigh-up consider pros cons decide decision strategy: thinking
	analyze analyse logic logical chain-of-thought argument thorough thoroughly: thinking analyze
	how-high how-low how-expensive: aggregate find
	how-long: time size
	what-happens what-happened: log
	which-of who-has who-have who-bought which-customers which-users which-orders: find query
	oldest newest youngest cheapest: find sort query aggregate
	proportion share-of ratio rate: aggregate
	distinct unique different-values: aggregate
	running-low over-under between-and ~ find query
	total-of sum-of in-total: sum aggregate total count
	size-of length: size info
	date-of time-of creation-date modification-date: info metadata time
	properties-of details-of facts-about: info get retrieve`

// thesaurus says which stems are used for a stem, and which of several words in
// a row are one.
type thesaurus struct {
	meant  map[string][]string // what else a stem means
	hinted map[string][]string // what goes along with it
}

// related gives the thesaurus, each list in a fixed order.
var related = sync.OnceValue(func() *thesaurus {
	t := &thesaurus{map[string][]string{}, map[string][]string{}}
	for line := range strings.Lines(synonyms) {
		said, meant, oneWay := strings.Cut(line, ":")
		said, hints, _ := strings.Cut(said, "~")
		meant, more, _ := strings.Cut(meant, "~")
		if !oneWay && hints == "" {
			meant = said
		}
		link(t.meant, said, meant)
		link(t.hinted, said, hints+more)
	}
	return t
})

// link notes each word of a list for each that is said.
func link(others map[string][]string, said, meant string) {
	for one := range strings.FieldsSeq(said) {
		for other := range strings.FieldsSeq(meant) {
			if one, other := phrase(one), stem(other); one != other && !strings.Contains(other, "-") && !slices.Contains(others[one], other) {
				others[one] = append(others[one], other)
			}
		}
	}
}

// phrase is the key of words that are joined by hyphens.
func phrase(text string) string {
	list := strings.Split(text, "-")
	for i, word := range list {
		list[i] = stem(word)
	}
	return strings.Join(list, "-")
}
