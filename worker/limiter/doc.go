// Package limiter is the one budget for everything a bot sends.
//
// The send worker holds one [Limiter] for its bot and asks it before every
// request to Telegram; nothing else may send. [Limiter.Acquire] answers with a
// [Grant] when the request may leave, or with [*Paced] when the chat must wait
// so long that holding a slot for it would be a waste.
//
// # What is promised
//
// Telegram counts a call somewhere between our request and its answer, so a
// call stays in its window from its grant until one window after its answer; a
// call without an answer stays in. Counted this way no window ever holds more
// than its limit. One counted call per chat is in the air at a time, and inside
// (chat, class) calls leave in the order of [Request.Since]. A call that must
// wait for its method only may be overtaken; a newer edit goes in the place of
// the older one that it replaces.
//
// No call goes into a penalty. When a penalty ends, one probe goes alone; once
// it is answered the scope goes on at its even rate, without a burst. The one
// exception is the scout of [Limiter.Penalize], which finds out whether a long
// penalty on a chat is one method's only.
//
// A 429 says that the configured rate is too high for its chat, or for the bot:
// it halves that rate, which recovers by an eighth of the whole each 30 s.
//
// [Urgent] goes before [Normal] before [Bulk], but a class that has been passed
// over often enough gets the next turn, so bulk keeps one grant in twenty and
// normal one in five, whatever waits above: among chats that are ready, and again
// inside a chat that has several classes.
//
// Inside a class flows take turns, and inside a flow chats do: of two broadcasts
// each gets half, however many wait in the other. Single calls are one flow. A
// flow may have an even rate of its own: two of its calls are never closer than
// that, but for the 10 ms by which a late one may be followed early. It holds up
// no other flow, only what stands behind it in the order of its chat and class.
//
// What is paid for spends a budget beside the free one, with turns of its own, and
// neither waits for the other. The slots in the air and a penalty on the bot are
// common.
//
// What is of no use later is not kept: a transient call is dropped rather than
// delayed, and an edit of a message ends when a newer one is known.
//
// # Calls larger than a limit
//
// A call of more items than a window holds, such as an album of ten in a chat
// with a burst of three, goes when that window is empty and pays afterwards:
// nothing follows before the even rate has made up for all its items. While a
// large call has its turn and waits for room in the bot's window, calls of its
// class and below wait behind it; they would otherwise take the room for ever.
//
// # The next process
//
// [Limiter.State] is what a successor must know so that the promises hold over
// the change, and [Restore] makes it go on with that. Callers that were waiting
// come again: until they have, a later call may overtake them.
//
// # What it refuses
//
// It never sends, retries, logs or reads the wall clock except to order calls
// that carry no time of their own, and to read and write a state: all waits are
// monotonic. It starts no goroutine that outlives a wait. It remembers no chat
// longer than its window, penalty or learned rate, and 15 minutes after an edit.
// It does not coordinate processes: two limiters for one bot send twice the
// limit.
package limiter
