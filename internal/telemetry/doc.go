// Package telemetry is what durabot says about itself: logs, metrics and health.
//
// The worker reports to it, the command line serves it. No message text and no
// bot token passes through it, and no chat id is ever a metric label.
package telemetry
