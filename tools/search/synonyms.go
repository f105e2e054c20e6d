package search

import (
	"slices"
	"strings"
	"sync"
)

// synonyms are words that people use for what tools call by another word: all of
// a line for each other, or where there is a colon, those before it for those
// behind it.
const synonyms = `
	create add make new insert
	generate build produce prepare: create
	write save store put: create insert update add
	write save store
	delete remove drop erase
	wipe destroy trash purge throw discard rid kick: delete remove drop clean reset
	clear clean reset empty
	forget: delete remove
	remember memorize learn: create add memory store entity
	record note: create add insert write
	outdated old stale: delete
	get read fetch retrieve load
	show view display see print look give tell what: get read list retrieve
	dump: read export all
	list show all browse enumerate
	which what: list
	find search query locate
	look lookup seek: find search
	match filter: find query search
	update edit change modify patch
	alter replace set adjust correct fix rewrite: update edit
	typo line: edit
	increase decrease raise lower: update
	change: diff
	undo revert restore rollback: reset restore
	append attach: add insert append
	move rename relocate transfer
	copy clone duplicate
	send push post publish submit deliver
	send mail: email message
	say tell notify: send message post
	download: clone fetch pull get
	upload: push send attach file
	newest latest recent: fetch pull log
	sync: pull fetch push
	open visit go browse: navigate open
	http https www link: url navigate
	back previous return: back
	close exit quit shut leave end: close disconnect stop
	dismiss reject refuse: handle cancel close
	accept confirm approve: accept handle
	allow permit may authorize: allowed permission access
	press click tap push hit
	enter fill input: type fill
	key keyboard shortcut: key press
	choose select pick
	run execute evaluate invoke perform
	script code javascript js
	start begin launch trigger initialize init
	stop cancel abort kill halt
	pause wait sleep delay
	until finish ready loading appear: wait
	zip compress shrink: gzip compress archive
	unzip: extract decompress
	join merge combine
	compare difference: diff
	between: compare diff relation
	connect link associate: connect relation
	login log-in sign: connect login authenticate
	switch: checkout select toggle change
	mark label version milestone: tag
	smaller larger bigger wider: resize size
	shelve aside park unfinished: stash
	faster slow performance optimize speed: index explain
	explain why: explain describe plan
	think thought reason reflect ponder: thinking thought
	problem question plan: thinking reason
	step: thinking
	count many number amount: count total
	sum plus total: sum add
	calculate compute math: sum calculate evaluate
	average mean statistic minimum maximum median: aggregate stats
	group per: aggregate
	overview summary: list tree status summary
	folder directory dir
	nest recursive structure hierarchy below: tree recursive
	file document
	content text: read content
	photo picture image screenshot png jpg jpeg: image media
	audio video sound music: media
	size space big large biggest small weigh: size
	storage disk space: storage size
	metadata detail property attribute information info
	when date time last modified
	capture shot: screenshot take snapshot
	visible currently onscreen: snapshot
	web website webpage page site
	homepage: page url
	traffic call request api: network request
	popup alert prompt: dialog
	dropdown option menu combobox: option select
	checkbox radio signup register field: form fill
	mouse cursor pointer: hover mouse
	dark light theme: color scheme media
	tab window
	problem bug warning message: error console log
	table collection
	record document row entry item
	field column property attribute: schema property field
	schema structure
	sort order
	history past log
	author who blame wrote touched: blame author
	who: user
	user member person people colleague account coworker
	me myself self own: self
	integration bot token: bot self
	fact observation remark knowledge: observation
	person people place company thing: entity
	relation relationship edge link manager friend colleague
	entity node
	memory remember: graph knowledge
	brain: memory
	know known: knowledge graph memory
	reply respond answer remark: comment
	discussion thread conversation people: comment
	comment note
	paragraph bullet heading section: block
	markdown text
	release version
	github gitlab origin upstream server: remote
	repository repo
	commit revision snapshot
	stage: add
	track: add
	lost lose recover: reflog recover restore
	clean dirty pending local uncommitted: status
	conflict: merge
	money reimburse repay: refund pay
	secret password credential
	task issue ticket todo
	event calendar appointment meeting
	env environment
	config configuration setting option
	db database
	title name
	doc documentation manual guide: documentation knowledge
	email mail
	echo repeat parrot
	parent below under: parent move
	rule permission access
	mkdir: create directory
	ls dir: list directory
	cat less head tail: read file
	mv: move rename
	cp: copy
	rm rmdir: delete remove
	touch: create file
	grep rg: search find
	stat du: info size
	pwd: directory
	curl wget: fetch url request
	ps top: process list`

// related gives the stems that are used for a stem, in a fixed order.
var related = sync.OnceValue(func() map[string][]string {
	others := map[string][]string{}
	for line := range strings.Lines(synonyms) {
		said, meant, oneWay := strings.Cut(line, ":")
		if !oneWay {
			meant = said
		}
		for one := range strings.FieldsSeq(said) {
			for other := range strings.FieldsSeq(meant) {
				if one, other := stem(one), stem(other); one != other && !slices.Contains(others[one], other) {
					others[one] = append(others[one], other)
				}
			}
		}
	}
	return others
})
