// Package text owns the text of a message: what Telegram counts, how a text that
// is too long is cut, how one is escaped, and how the fields of a recipient are
// filled in. The activities call it before a call is made, the starter to check a
// broadcast; authors reach its escapes through the root package.
//
// It guarantees:
//
//   - What fits is returned byte for byte as it came.
//   - No piece is longer than Telegram takes, none is blank, and none begins or
//     ends inside a character that people see as one.
//   - The pieces one after the other are the text, without parts at which there is
//     nothing to see, and every character is formatted as it was.
//   - Cutting is a pure function: the same call gives the same pieces.
//   - No error quotes the text.
//
// Two units meet here. Telegram's limits count the code points of the text that
// is left after its markup was read; the offsets and lengths of entities count
// UTF-16 code units.
//
// It refuses to guess: what its strict readers of HTML and MarkdownV2 cannot read
// is an error with the place of the mistake, and the old "Markdown" is not cut.
package text
