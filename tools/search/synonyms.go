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
	generate build produce prepare compose draft construct found establish set-up fresh another: create new
	start begin: create start init
	add put include attach append extend: add insert append
	write save store put
	write save store keep put: create insert update add write
	keep retain preserve: store save
	record note jot note-down write-down take-down jot-down log: add create insert write
	import load ingest bulk: insert load many
	delete remove drop erase
	wipe destroy trash purge throw discard rid kick scrap unneeded eliminate dump: delete remove drop clean reset
	get-rid rid-of throw-away throw-out take-out take-off take-away cut-out clear-out clean-out clean-up no-longer strike cancel: delete remove drop clean
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
	dump whole entire everything complete all: read export all
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
	another-name other-name new-name different-name give-name call-it name-of: rename move
	another-place elsewhere under-another below-another: move parent
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
	back-up backup: export save copy
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
	undo never-happened reverse: reset revert`

// questions are what is asked for: numbers, sizes, times, reasons.
const questions = `
	count many number amount how-many quantity: count total
	how-much: sum total size count
	sum plus total add-up altogether: sum add
	total revenue sales turnover per: aggregate sum
	average mean statistic statistics minimum maximum median percent percentage breakdown distribution: aggregate stats
	group per by-month by-day by-year by-category each-month top highest best: aggregate
	pipeline: aggregate
	statistics stats metrics figures health healthy state condition numbers: stats status statistics info
	overview summary glance at-a-glance layout laid-out structure organized organised: list tree status summary structure
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
	first top head beginning last bottom tail end lines: head tail
	echo repeat parrot
	more-than-a how-often number-of amount-of tally total-number: count
	spend spent earn earned cost turnover income expense profit budget: aggregate sum
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
	weigh-up consider pros cons decide decision strategy: thinking`

// files are what lies on a disk.
const files = `
	folder directory dir
	path: path directory file
	subfolder subdirectory nest nested recursive hierarchy below under underneath: tree recursive children
	file document
	report log csv readme letter invoice pdf spreadsheet essay letter manuscript config configuration script source textfile text-file json yaml xml receipt contract diary transcript cv resume ~ file document
	text content
	content text: read content
	photo picture image screenshot png jpg jpeg logo icon drawing thumbnail: image media
	audio video sound music recording song voice podcast clip film movie listen: media audio
	base64 binary: media
	lines line: text edit
	disk drive harddisk hard-drive machine computer laptop local: file directory
	called named: search name title
	allowed permitted may-i am-i-allowed can-i-touch touch access accessible have-access: allowed access
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
	ps top: process list
	attachment enclosure: attachment file
	archive archived: archive update trash
	temp temporary scratch: temp
	paper novel chapter story poem recipe memo backup thesis presentation slides brochure statement textfile html css settings: file
	scan gif avatar portrait diagram chart sketch wallpaper camera: image media
	mp3 wav melody tune hear: audio media
	tree drilldown branches-of: tree
	desktop downloads home root: directory
	usb drives volume mount: directory
	encoding bytes: file
	subfolders subdirectories deep deeply recursively everywhere anywhere: recursive tree search
	created-when creation: info
	stored on-disk on-my-disk on-the-disk: file`

// records are what lies in a database.
const records = `
	db database
	mongo sql postgres mysql sqlite: database db query
	table collection
	table tables ~ database db data source
	row record document entry item
	row rows: page document item
	customer order product invoice sale price employee client supplier payment transaction subscriber shipment purchase account booking user session ~ document collection db database
	records entries rows data dataset ~ document collection database
	column field attribute property
	column field columns fields key: schema property field data source
	field column property attribute: schema property field
	schema structure shape model look-like looks-like
	look-like looks-like: schema snapshot screenshot
	sort order
	query question
	value: property value
	json csv excel spreadsheet dump: export
	connection session: connection
	which-connections connected am-i-connected: connections
	cluster server host instance: connect instance server
	another-server other-server: connect remote
	database: data source
	live lives living signed-up bought older named costs ~ find query
	overdue unpaid due assigned status priority ~ query property update
	student patient reservation flight hotel car vehicle inventory stock goods lead deal visitor device sensor game player rating album book school course ~ document collection database
	data records dataset: collection document
	field-names columns-of: schema fields
	placed shipped bought sold born: find query
	purge old-ones expired expire outdated older-than: delete many
	all-orders all-customers all-users all-products: find
	every-price all-prices set-all change-all: update many
	kind-of-records new-kind: collection
	drop-table: drop collection
	dbs databases: list database
	tables: list collection
	server-log db-log database-log: logs
	tracker board spreadsheet-like kanban list: data source`

// writings are pages, notes and what people say of them.
const writings = `
	page article wiki
	wiki article note notes document handbook minutes meeting-notes roadmap journal: page
	task todo to-do issue ticket chore
	task todo to-do reminder contact: page item row
	checklist to-do bullet item list paragraph heading section sentence quote: block
	paragraph bullet heading section passage: block
	nested inside child children below: children
	bottom end-of: append
	append attach: add insert append
	markdown text plain plain-text
	rewrite replace find-and-replace: update content
	due due-date status priority assign assignee label: property update
	title name
	title titled called named: title search
	reply respond answer remark: comment
	discussion thread conversation people: comment
	comment note feedback remark
	opinion ask ask-a-question leave reaction objection suggestion: comment
	leave ~ close write
	said say-about people-say think-of: comment
	annotation: annotated
	template boilerplate preset
	source origin
	doc documentation manual guide docs howto how-to tutorial: documentation knowledge
	documentation knowledge docs: search
	release version
	release-notes changelog whats-new: changelog
	news: log
	topic tag category
	draft post blog spec proposal agenda brief policy memo guide handbook protocol outline: page
	bullet bullets quote callout divider toggle-list subheading line-break: block
	title subject called: title
	deadline progress owner: property
	deadline reschedule postpone due: update property
	reminder ticket story bug epic: page item
	belongs-under under-that goes-under subpage child-page: move parent children
	discussion comments replies thread feedback: comment comments retrieve
	bottom footer closing: append
	wording text sentence phrase: content text block
	entries items: query items
	reading-list to-do-list todo-list task-list backlog: data source query`

// people are persons, and what is known of them.
const people = `
	user member person people colleague account coworker teammate staff everybody everyone somebody anyone guest employee: user
	team workspace organization company group: users members
	who: user
	whoami who-am-i am-i which-account: self user me
	me myself self own logged-in: self
	integration bot token: bot self
	fact observation remark knowledge detail: observation
	fact facts detail thing something one-thing one-more-thing single-fact: observation
	person people place company thing city project friend sister brother boss mother father wife husband customer: entity
	relation relationship edge link connection connect manager friend colleague boss employer married spouse works-with works-for belongs: relation
	connection between tie bond: relation
	entity node
	memory remember memorize mind keep-in-mind recall brain: graph knowledge memory
	remember memorize learn learned heard keep-in-mind: create add memory store entity observation
	add-about about-somebody: observation
	forget: delete remove memory entity observation
	know known you-know: knowledge graph memory node entity search open
	remember-about know-about remember-anything know-anyone: search nodes
	email mail
	email address phone: user
	event calendar appointment meeting
	secret password credential
	teacher doctor neighbour neighbor cousin child son daughter parents grandmother pet dog cat hero author family relative: entity
	birthday preference prefers likes loves hates favourite favorite allergy hobby habit opinion: observation
	told-you tell-you ever-told have-told: memory search nodes knowledge
	who-do-you-know you-know you-remember: search nodes open
	dont-forget do-not-forget don-t-forget not-forget: create add memory entity observation
	not-true wrong-about any-more anymore any-longer no-longer false untrue: delete remove
	father-of mother-of friend-of boss-of wife-of husband-of related-to knows-each: relation
	members people everyone staff folks crew: users user list
	profile account: user
	my-own own-user: self`

// browsing are web sites, and what is on them.
const browsing = `
	open visit go go-to browse surf head-to: navigate open
	http https www link url address: url navigate
	homepage home-page landing-page: page url
	web website webpage page site
	site website webpage web homepage tab button link screen browser checkbox form popup dropdown spinner ~ browser page
	press click tap push hit
	tick follow checkbox double-click button icon: click
	link: click
	enter fill input type
	enter type write-into write-in search-box text-field textbox input-box: type fill
	form checkout-form sign-up signup register registration login field details: form fill
	user-name username password: fill form
	key keyboard shortcut arrow escape enter-key esc: key press
	press-enter hit-enter press-escape hit-escape: key press
	dropdown option menu combobox list-of: option select
	mouse cursor pointer tooltip point hint: hover mouse
	drag pull reorder rearrange dragging drag-and-drop
	column card: drag
	popup alert prompt popped confirmation dialog popped-up pops-up message-box: dialog
	dark light theme dark-mode light-mode printed: color scheme media emulate
	mode print printed printing: media
	tab window
	window viewport phone mobile tablet: resize window
	capture shot snap looks picture-of image-of: screenshot take snapshot
	visible currently onscreen on-screen screen see-on: snapshot screenshot
	what-can-i-click element: snapshot
	word words phrase appear: find text
	traffic call request api: network request
	response header headers body status-code
	response header: request network
	problem bug warning message error exception: error console log
	script code javascript js snippet
	loading load loaded: navigate
	upload: file
	banner cookie cart headline slider widget sidebar modal carousel submenu scroll: browser page
	yes-to sure are-you-sure confirm-box: dialog handle
	night: dark
	take-me bring-me head-over surf-to: navigate
	credentials password username: fill form type
	selector language-selector select-box drop-down list-box picker: option select
	moving-over move-over mouse-over mouseover rollover over: hover
	small-screen screen-size desktop-size mobile-size resolution: resize
	one-before previous-page last-page page-before: navigate back
	radio-button toggle-button option: click
	slider knob pull: drag
	buttons controls elements widgets accessible: snapshot click
	does-the-page page-say page-contain: find snapshot
	another-tab new-tab next-to tabs: tab
	throw threw: error console
	load-from loads api-call ajax fetches: network requests
	picker attach: upload`

// versions are how work on code is kept.
const versions = `
	branch commit repository repo merge remote uncommitted untracked checkout rebase tag stash main origin ~ git
	version-control versioned source-control: git repository
	history past log
	happened activity timeline: log history
	author who blame wrote touched: blame author
	touched changed-last last-changed changed-this who-changed: blame log
	github gitlab origin upstream server: remote
	repository repo
	commit revision snapshot
	commit: record save
	record-changes save-work save-changes record-these check-in save-my: commit
	change changes changed work: diff commit
	what-changed have-i-changed did-i-change my-changes: diff status
	modified changed clean dirty pending local uncommitted not-committed staged: status
	stage ready prepare track next-commit to-be-committed: add stage
	lost lose: reflog recover restore
	head-before was-head tip: reflog
	conflict: merge
	bring: merge pull
	just-that just-one only-that single-commit one-commit particular-commit take-over pick: cherry pick
	on-top onto linear tidy-history tidy-up-the: rebase
	shelve aside park unfinished set-aside put-aside put-away for-later stow: stash
	in-parallel same-time at-the-same-time two-branches parallel side-by-side separate: worktree multiple parallel
	checkout working-copy: worktree checkout
	what-is-in details-of content-of: show get read
	mark label version milestone released: tag
	work-in working-in from-now-on: working set
	colleagues others teammates they: remote
	publish share: push
	turn-into turn-this: init
	wrap-up wrapping-up wrapup finish session shipped checklist must-be-done: wrap wrapup
	main master trunk default: branch
	fork codebase hash sha hunk contributor develop ~ git
	checkpoint savepoint milestone: commit snapshot
	replay: rebase
	hide stow put-by temporarily: stash
	idea-was whose responsible culprit fault: blame author
	others-pushed others-have anyone-pushed news-from: fetch
	differ differs vary deviation: diff
	what-will-be about-to pending outstanding: status diff
	to-commit anything-to-commit ready-to: status
	did-what who-did what-happened yesterday last-week: log
	reset bad-reset old-commit lost-work: reflog
	empty-repo new-repo new-repository fresh-repository start-a-repository: init
	get-a-copy fresh-copy copy-of: clone
	working-copy my-copy local-copy: pull worktree
	copy-a-commit: cherry pick
	untracked-stuff untracked: clean
	git-does-not not-tracked unversioned: untracked clean`

// systems are machines, services and what else there is to work with.
const systems = `
	env environment variable
	config configuration setting option preference
	process program
	container pod docker image
	deploy release rollout publish: deploy
	cluster kubernetes k8s
	issue bug defect
	pull-request merge-request pr: pull request
	review approve: review
	channel room chat
	message dm chat post: message
	inbox mailbox: mail message
	schedule plan book invite: event create
	weather forecast temperature: structured weather
	logs logging log-messages: log logging
	events: log
	resource reference pointer
	links: link
	structured schema: structured
	money reimburse repay give-back: refund pay
	price cost amount
	buy purchase order
	parcel package shipment delivery: track
	curl wget: fetch url request
	map place location address: location
	translate language: translate
	summarize digest: summary`

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
