// Package telegramsim is a local stand-in for the Telegram Bot API: the judge
// of our tests and the server behind the chat page of "make dev".
//
// It owns what Telegram's side of a bot owns: the update queue with its
// confirmation rules, chats and their life cycle, accepted messages, rate
// limits with penalties that grow, and faults on request. Rules follow the open
// server (tdlib/telegram-bot-api, Client.cpp and HttpConnection.cpp; tdlib/td,
// TQueue.cpp) where it can be read, and the Bot API docs elsewhere; real flood
// limits are not public, so those are settings.
//
// Tests and the assembly of the development server call it. It imports no other
// package of this module, so that a mistake of ours cannot hide in it.
//
// It refuses to be a Telegram client.
//
// # Guarantees
//
// Files that users or the bot sent are served as /file/bot<token>/<file_path>
// after getFile, with the size and the hour that the Bot API docs name.
//
// A webhook gets the updates of the same queue by the rules of the real server: one
// update of a lane at a time and lanes side by side, tried again until a 2xx or until
// it is too old. As there, an update may come twice, and the updates of a chat that
// are of different kinds may overtake each other. Every delivery is in
// [Sim.Deliveries].
//
// Markup is read as strictly as Telegram reads it, and refused in its words; see
// [ParseText]. What is stored, answered and listed is the text without markup, and
// its entities.
//
// Every accepted message is in [Sim.Ledger], in order of acceptance, whatever
// happened to its answer. Every request is in [Sim.Requests], whatever fault
// hit it. Time is read from package time only, so a handler called directly
// inside a testing/synctest bubble follows the bubble's clock.
package telegramsim
