// Package broadcast looks at broadcasts and steers them: where one stands, how each
// of its recipients ended, and what a person wants done to it. Whoever starts them
// is the starter.
//
// It asks Temporal alone. What it tells lives as long as the broadcast's parts, which
// the namespace keeps for its retention after they have ended.
package broadcast
