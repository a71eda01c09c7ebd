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
// (chat, class) calls leave in the order of [Request.Since].
//
// No call goes into a penalty. When a penalty ends, one probe goes alone; once
// it is answered the scope goes on at its even rate, without a burst.
//
// Inside a class chats take turns. [Urgent] goes before [Normal] before [Bulk],
// but a class that has been passed over often enough gets the next turn, so
// bulk keeps one grant in twenty and normal one in five, whatever waits above:
// among chats that are ready, and again inside a chat that has several classes.
//
// # Calls larger than a limit
//
// A call of more items than a window holds, such as an album of ten in a chat
// with a burst of three, goes when that window is empty and pays afterwards:
// nothing follows before the even rate has made up for all its items. While a
// large call has its turn and waits for room in the bot's window, calls of its
// class and below wait behind it; they would otherwise take the room for ever.
//
// # What it refuses
//
// It never sends, retries, logs or reads the wall clock except to order calls
// that carry no time of their own: all waits are monotonic. It starts no
// goroutine that outlives a wait and remembers no chat longer than its window
// or penalty. It does not coordinate processes: two limiters for one bot send
// twice the limit.
package limiter
