package search

import (
	"strings"
	"sync"
)

// synonyms are words, one group a line, that people use for what tools call by
// another word of the group.
const synonyms = `
	create add make new insert generate
	write save store put
	delete remove drop erase wipe destroy
	clear clean reset empty
	forget delete
	remember memory create add store
	note add observation comment write
	get read fetch retrieve load show view display see look print
	list show display all browse
	find search query lookup locate seek filter
	update edit change modify patch alter replace set
	undo revert reset restore rollback
	append insert add
	move rename transfer
	copy clone duplicate
	send push post publish submit deliver
	send mail email message
	download clone fetch pull get
	upload push attach
	sync pull fetch
	open navigate visit go browse
	close dismiss quit exit end shut
	dismiss reject handle cancel
	accept confirm approve allow permit
	allow permit permission access
	press click tap push hit
	type enter input fill write
	choose select pick
	run execute evaluate invoke call perform
	start begin launch trigger
	stop cancel abort end kill halt
	pause wait sleep delay
	wait until appear
	zip compress gzip archive
	unzip decompress extract
	join merge combine
	link connect relation relate
	switch checkout toggle change
	mark tag label
	compare diff difference
	resize smaller larger bigger size
	shelve stash aside
	describe explain detail info
	explain why reason plan slow
	think reason reflect thought
	count many number total
	sum add plus total
	average mean aggregate statistic
	group aggregate
	folder directory dir
	file document
	image picture photo screenshot
	media image photo video audio sound
	tree structure hierarchy
	size space big large storage
	info metadata detail property attribute
	web website page site url browser
	network http request
	popup dialog alert prompt modal
	dropdown option select menu combobox
	console log error
	form field
	table collection
	record document row entry item
	field schema column property
	schema structure
	sort order
	history log past
	author who blame wrote
	user who member person people account
	when time date modified
	where location path place
	person entity
	fact observation
	relation relationship association edge
	entity node object
	graph knowledge network
	reply comment respond answer
	discussion comment thread conversation
	paragraph block text
	release version tag
	remote upstream origin github
	commit revision
	repository repo
	secret password credential token
	task issue ticket todo
	event calendar appointment meeting
	env environment
	config configuration setting
	db database
	js javascript
	doc document documentation
	echo repeat
	which list
	what show get
	previous back
	unfinished uncommitted stash
	text string content`

// related gives the stems that are used for a stem, in a fixed order.
var related = sync.OnceValue(func() map[string][]string {
	others := map[string][]string{}
	for line := range strings.Lines(synonyms) {
		group := strings.Fields(line)
		for _, one := range group {
			for _, other := range group {
				if one != other {
					others[stem(one)] = append(others[stem(one)], stem(other))
				}
			}
		}
	}
	return others
})
