package contract

// Types of failure as they appear in histories. The first group is retried by
// the server, the second is final.
const (
	// FailureRateLimited carries Telegram's retry_after; it uses no attempt.
	FailureRateLimited = "RateLimited"
	// FailurePaced is our own wait for a chat's window; it uses no attempt.
	FailurePaced = "Paced"
	// FailureUnavailable is a failure of the road, or of Telegram, that passes.
	FailureUnavailable = "Unavailable"
	// FailureUnauthorized is a token that Telegram does not take; it uses no attempt.
	FailureUnauthorized = "Unauthorized"

	// FailureUnreachable: the chat is closed to the bot.
	FailureUnreachable = "Unreachable"
	// FailureMoved: the chat moved twice while one call was on its way.
	FailureMoved = "Moved"
	// FailureRejected: Telegram will never take this call.
	FailureRejected = "Rejected"
	// FailureUncertain: an at-most-once call whose outcome nobody knows.
	FailureUncertain = "Uncertain"
	// FailureExpired: too late to matter.
	FailureExpired = "Expired"
	// FailureGaveUp: the call failed too often.
	FailureGaveUp = "GaveUp"
	// FailureOvertaken: the call has waited too long for a reason of its own and
	// must leave its update's turn.
	FailureOvertaken = "Overtaken"
	// FailureSuperseded: a newer edit of the same message took its place.
	FailureSuperseded = "Superseded"
	// FailureDropped: a chat action ("typing…") that would have come too late.
	FailureDropped = "Dropped"
	// FailureHandler: the author's handler failed at every attempt.
	FailureHandler = "HandlerFailed"
	// FailureUndecodable: the update is of a known kind but not of its shape.
	FailureUndecodable = "Undecodable"
	// FailureTooLarge: the update does not fit into a payload.
	FailureTooLarge = "TooLarge"
)
