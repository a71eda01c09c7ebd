package cli

// These are tested without the servers that a whole command needs: an hour of
// waiting, a UI that is elsewhere, words for every state a call can be in.
var (
	FirstContact = firstContact
	DefaultUI    = defaultUI
	Brief        = brief
	Short        = short
	CallText     = callText
	Refused      = refused
)

// StoryText is the timeline of `update show`.
var StoryText = writeStory

// Shown is what it shows.
type Shown = shown
