// Package contract holds what the parts of durabot say to each other: the
// author's types (Update, Call), the names and IDs under which things are found
// in Temporal, the inputs and results of workflows and activities, and the
// closed lists of outcomes, reasons and failure types.
//
// Everything here ends up in a workflow history or in a JSON answer that a
// script reads. So fields are added, never renamed, and nothing here belongs to
// Telegram's own type system: an update is raw JSON, a call is a method name
// and its parameters.
//
// The package imports nothing of ours and does no I/O.
package contract
