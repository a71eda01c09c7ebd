// Package starter is the way in: it fetches updates from Telegram and starts a
// workflow for each. Every other workflow that is started from outside is
// started here, too: messages, broadcasts with their audience, the marks of chats,
// and the duty.
//
// The poller calls getUpdates; the inbox stores what it brought; route says to
// which chat an update belongs. An update is confirmed to Telegram only by a
// later getUpdates whose offset lies past it, and the offset passes an update
// only once Temporal has it. So
//
//   - a process that dies before the start finds the update again at Telegram;
//   - one that dies after the start finds it again too, starts the same workflow
//     ID, is told that it exists, and counts a duplicate;
//   - the offset needs no storage of its own: Telegram keeps it.
//
// The same holds for the next process on duty, which polls without an offset and
// is given what was not confirmed. What it cannot find out that way is handed to
// it, or looked up in Temporal: the tails, which put its first updates behind the
// last ones of the process before it, and the marks of chats.
//
// Chats that are closed to the bot, have moved, or are limited for long have a
// workflow of their own. An update from a chat is told to Chats before its own
// workflow is started, so that the chat is open again when its turn comes.
//
// The package never handles an update and never sends anything. It refuses to
// move past what it could not store.
package starter
