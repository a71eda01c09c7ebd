// Package telegram speaks the Bot API and says how a call ended.
//
// It owns the bot token, the HTTP client, the shape of answers and errors, the
// table of methods and the classes of outcome. The poller, the webhook and the
// send activities call it; nothing else in the program knows the token or a
// Bot API URL.
//
// It guarantees:
//
//   - One Call is at most one request on the wire. Nothing is retried here, so
//     that the layer above is the only one that counts attempts. A Download is
//     a read, which net/http may ask for again when an idle connection was dead.
//   - [Error.Written] is false only when Telegram cannot have seen the call.
//   - No error holds the token, its secret half or a request URL, in any layer
//     that errors.Unwrap reaches.
//   - [Classify] is a pure function, so a recorded error always means the same.
//
// It refuses to sleep, to log, to follow redirects (the token is part of the
// path) and to know Bot API types: params and results stay raw JSON, so a field
// Telegram adds tomorrow passes through today.
package telegram
