package telegramsim

import "time"

// Limits are sliding windows over all counted calls: sends, edits, forwards,
// copies and chat actions, with one per item for albums and batches. Answers to
// queries, deletes, pins and reads are free. A limit of 0 means its default, a
// negative one switches that limit off.
type Limits struct {
	// PerChat is the number of calls to one private chat in PerChatWindow.
	// Default 3 in 3 s.
	PerChat       int
	PerChatWindow time.Duration
	// PerGroup is the number of calls to one group or channel (negative id) in
	// PerGroupWindow. Default 20 in 60 s.
	PerGroup       int
	PerGroupWindow time.Duration
	// Global is the number of calls of the whole bot in GlobalWindow. Default 30
	// in 1 s.
	Global       int
	GlobalWindow time.Duration
	// PaidPerSecond is the number of calls of the whole bot in 1 s that are sent with
	// allow_paid_broadcast. They are not counted in Global. Default 1000.
	PaidPerSecond int
	// Off switches all windows off, and paying with them. Penalties set by hand still
	// hold.
	Off bool
	// AlbumAsOne counts an album or a batch once instead of once per item, as
	// how Telegram counts them is not public.
	AlbumAsOne bool
	// UTF16 measures texts and captions in UTF-16 units instead of code points, as
	// much of what is written about the limit of 4096 says it is done.
	UTF16 bool
	// PenaltyFactor multiplies a penalty each time a counted call arrives while
	// it lasts. Default 2; 1 keeps penalties as they are.
	PenaltyFactor float64
	// MaxPenalty is where that growth ends. Default 6 h.
	MaxPenalty time.Duration
}

func (l Limits) withDefaults() Limits {
	setInt(&l.PerChat, 3)
	setInt(&l.PerGroup, 20)
	setInt(&l.Global, 30)
	setInt(&l.PaidPerSecond, 1000)
	setDuration(&l.PerChatWindow, 3*time.Second)
	setDuration(&l.PerGroupWindow, time.Minute)
	setDuration(&l.GlobalWindow, time.Second)
	setDuration(&l.MaxPenalty, 6*time.Hour)
	if l.PenaltyFactor < 1 {
		l.PenaltyFactor = 2
	}
	return l
}

// forChat tells a group from a person by the sign of the id, as every client
// has to; channels are groups here. Telegram publishes no figure for channels and
// calls all of them approximate (Bots FAQ, "My bot is hitting limits").
func (l Limits) forChat(id int64) (limit int, span time.Duration) {
	if id < 0 {
		return l.PerGroup, l.PerGroupWindow
	}
	return l.PerChat, l.PerChatWindow
}

func setInt(field *int, value int) {
	if *field == 0 {
		*field = value
	}
}

func setDuration(field *time.Duration, value time.Duration) {
	if *field <= 0 {
		*field = value
	}
}
