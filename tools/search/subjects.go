package search

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
	attachment enclosure: attachment file upload
	archive archived: archive update trash
	temp temporary scratch: temp
	backup ~ file export
	paper novel chapter story poem recipe memo thesis presentation slides brochure statement textfile html css settings: file
	scan gif avatar portrait diagram chart sketch wallpaper camera: image media
	mp3 wav melody tune hear: audio media
	tree drilldown branches-of: tree
	desktop downloads home root: directory
	usb drives volume mount: directory
	encoding bytes: file
	subfolders subdirectories deep deeply recursively everywhere anywhere: recursive tree search
	created-when creation: info
	stored on-disk on-my-disk on-the-disk: file
	opening-lines start-of first-lines last-lines first-line last-line top-of end-of-a beginning-of: head tail read
	restricted boundary boundaries sandbox sandboxed limits: allowed access
	can-you-see may-i may-you can-you-read can-you-access have-access-to: allowed access
	lying-around lies-in is-in-this inside-this in-this-folder in-the-folder in-my-folder in-a-folder: list directory
	contents-of-a-folder folder-contents directory-contents: list directory
	outline of-folders folder-structure directory-structure: tree directory
	big-files large-files: sizes size
	attributes properties: info`

// records are what lies in a database.
const records = `
	db database
	mongo sql postgres mysql sqlite: database db query
	table collection
	table tables ~ database db data source
	row record document entry item
	row rows: page document item data source query
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
	purge old-ones expired expire outdated: delete many
	older-than newer-than: find date info
	all-orders all-customers all-users all-products: find
	every-price all-prices set-all change-all: update many
	kind-of-records: collection
	drop-table: drop collection
	dbs databases: list database
	tables: list collection
	server-log db-log database-log: logs
	tracker board spreadsheet-like kanban list: data source
	rows entries records: query find
	month year week quarter ~ aggregate find
	one-record one-customer one-order: find
	on-every on-all in-bulk mass every-record all-records: many update
	set-a-flag flag: update
	last-orders latest-orders: find
	fields field-types data-types types: schema
	tablespace footprint megabytes gigabytes: size storage
	warnings-of errors-of: logs
	foreign-key reference join: relation`

// writings are pages, notes and what people say of them.
const writings = `
	page article wiki
	wiki article note notes document handbook minutes roadmap journal: page
	task todo to-do issue ticket chore
	task todo to-do reminder contact: page item row ~ data source query
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
	discussion thread conversation: comment
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
	reading-list to-do-list todo-list task-list backlog: data source query
	cover icon emoji: page icon
	trash bin restore-page: page trash archive
	rename-page page-title change-title: update page properties
	another-title different-title new-title: update page properties
	write-up: create page
	where-did-i where-did-we where-have-i: search find
	reads-like as-text in-text: markdown
	wiki-page note-page meeting-page: page
	mention remark-about: comment`

// people are persons, and what is known of them.
const people = `
	user member person people colleague account coworker teammate staff everybody everyone somebody anyone guest employee: user
	team workspace organization company group: users members
	who: user
	whoami who-am-i am-i which-account: self user me
	me myself self own logged-in: self
	integration bot token: bot self
	fact observation knowledge detail: observation
	fact facts detail thing something one-thing one-more-thing: observation
	person people place company thing city project friend sister brother boss mother father wife husband customer: entity
	relation relationship edge link connection connect married works-with works-for: relation
	manager friend colleague boss employer spouse belongs knows ~ relation
	connection between tie bond: relation
	entity node
	memory remember memorize mind keep-in-mind recall brain: graph knowledge memory
	remember memorize learn learned heard keep-in-mind: create add memory store entity observation
	add-about about-somebody: observation
	forget: delete remove ~ memory entity observation
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
	my-own own-user: self
	who-is tell-me-about know-about known-about heard-of: open search nodes user
	colleague friend: relation user
	somebody-new someone-new new-person new-friend new-client new-customer new-colleague: create entity
	learnt found-out turns-out it-turns noticed: add observation
	stored-about saved-about remembered-about know-of anything-about something-about: search nodes
	in-your-memory your-memory you-have-stored: graph memory read nodes
	everything-you all-you-know all-that-you whole-memory entire-memory: read graph
	memorised memorized remembered: graph memory
	new-fact another-fact more-about add-facts: add observation`

// browsing are web sites, and what is on them.
const browsing = `
	open visit go go-to browse surf head-to: navigate open
	http https www link url address: url navigate
	homepage home-page landing-page: page url
	web website webpage site: browser url page
	page ~ browser web
	site website webpage web homepage tab button link screen browser checkbox form popup dropdown spinner ~ browser
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
	page-say page-contain: find snapshot
	another-tab new-tab next-to tabs: tab
	throw threw: error console
	load-from loads api-call ajax fetches: network requests
	picker attach: upload
	web-page web-site our-site my-site the-site: browser page navigate
	photo-of shot-of picture-of-the image-of-the image-of-a snapshot-of: screenshot
	print-layout print-view print-preview print-version: media emulate
	maximize maximise fullscreen full-screen bigger-window smaller-window: resize
	accessibility outline-of-the-page page-structure: snapshot
	output console-output: console messages
	log-of-the-page page-log: console
	give-the-site hand-the-site attach-file add-file file-picker: upload
	address-bar: navigate url
	scroll-down scroll-up page-down page-up arrow-key: key press
	key-in fill-out fill-in fill-up: fill type form
	calls-made calls-does requests-made: network requests
	card tile: element drag
	show-up come-up turn-up: wait appear
	reload refresh: navigate`

// versions are how work on code is kept.
const versions = `
	branch commit repository repo merge remote uncommitted untracked checkout rebase tag stash main origin ~ git
	version-control versioned source-control: git repository
	history past log
	log print output ~ console log
	check-out: checkout clone
	source-code: repository code
	happened activity timeline: log history
	author who blame wrote touched: blame author
	touched changed-last last-changed changed-this who-changed: blame log
	github gitlab origin upstream: remote
	server ~ remote
	to-the-server on-github to-github: push
	from-the-server: pull fetch
	new-commits anything-new something-new: fetch pull
	an-archive tarball: compress gzip archive
	who-worked worked-on: log author blame
	one-commit a-commit this-commit: show commit cherry
	edit edits ~ diff change
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
	just-that just-one only-that single-commit particular-commit take-over pick: cherry pick
	on-top onto linear tidy-history tidy-up-the: rebase
	shelve aside park unfinished set-aside put-aside put-away for-later stow: stash
	in-parallel same-time at-the-same-time parallel side-by-side separate: worktree multiple parallel
	checkout working-copy: worktree checkout
	what-is-in details-of content-of: show get read
	mark label version milestone released: tag
	work-in working-in from-now-on: working set
	others teammates they: remote pull fetch
	publish share: push
	turn-into turn-this: init
	wrap-up wrapping-up wrapup finish session shipped checklist: wrap wrapup
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
	reset old-commit lost-work: reflog
	empty-repo new-repo new-repository fresh-repository start-a-repository: init
	get-a-copy fresh-copy copy-of: clone
	working-copy my-copy local-copy: pull worktree
	copy-a-commit: cherry pick
	untracked-stuff untracked: clean
	not-tracked unversioned: untracked clean
	squash interactive: rebase
	amend: commit
	did-i-touch did-i-change i-changed i-touched i-have-changed have-i-touched i-edited i-modified: status diff
	earlier-version older-version previous-version old-version: show checkout log restore
	no-longer-want dont-want: reset discard
	add-to-the-commit in-the-commit for-the-commit next-commit: add stage
	project code: repository
	cloned-from come-from comes-from: remote
	of-the-others from-others other-people by-others my-team: pull fetch
	the-team with-the-team: push
	never-added: untracked
	signed signature: verify tag
	authorship responsible: blame
	on-top-of onto-main: rebase
	current-directory working-directory default-directory: working dir
	in-between since-then since-yesterday: log diff
	conflicting collide: merge`

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
	summarize digest: summary
	pods nodes containers services deployments: list get
	restart reboot: start stop
	alert alarm incident: alert issue
	shell terminal bash command cli: run execute command
	free-busy availability free-slot: calendar event
	attendee invitee participant: user
	subscription plan: subscription
	ring phone-call text-message sms: send message
	star favorite bookmark: star
	assignee reporter: user issue
	sprint backlog milestone epic: issue project
	bill charge: invoice payment
	song playlist album: track
	route directions distance navigate-to: directions
	stock-price quote share-price: quote price
	news headline: article
	website-content page-content scrape crawl extract: fetch url scrape`
