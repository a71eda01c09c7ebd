package cli

import "encoding/json"

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

// SendParams are the parameters that send makes of --params and --chat.
func SendParams(params, chat string) (json.RawMessage, error) {
	given, err := parseParams(params)
	if err != nil {
		return nil, err
	}
	return (&sendFlags{chat: chat}).address(given)
}

// Shown is what it shows.
type Shown = shown
