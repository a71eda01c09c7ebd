// Package durabot is the author's door: a bot is a function from an update to
// the calls that answer it, and durabot does the rest.
//
//	func main() { durabot.Main(handle) }
//
//	func handle(ctx context.Context, u durabot.Update) ([]durabot.Call, error) {
//		return []durabot.Call{{
//			Method: "sendMessage",
//			Params: durabot.Params{"chat_id": u.ChatID, "text": "Hello!"},
//		}}, nil
//	}
//
// The handler is a plain function and is tested as one. It may run more than
// once for an update (a process can die in the middle of it), and its result
// counts once: it changes the world by the calls it returns, and reads Telegram
// through Reader. Calls are made in order, within Telegram's limits, across
// crashes and restarts; each ends in one listed outcome.
package durabot
