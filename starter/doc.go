// Package starter is the way in: it fetches updates from Telegram and starts a
// workflow for each.
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
// The package never handles an update and never sends anything. It refuses to
// move past what it could not store.
package starter
