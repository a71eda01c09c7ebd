package check_test

import "time"

func troubleScenes() map[string][]scene {
	const begins, over, span = time.Minute, "0x3 1x7 0x80", 20 * time.Minute
	const lasts = "0x3 1x80"
	fires := func(part, kind string, after time.Duration, summary string) scene {
		return scene{part + " " + kind, trouble(part, kind, lasts), 0, span, begins + after, summary}
	}
	quiet := func(name, part, kind, values string) scene {
		return scene{name, trouble(part, kind, values), 0, span, never, ""}
	}
	const (
		refused  = "Telegram refuses the token (401)"
		telegram = "Telegram cannot be reached"
		temporal = "Temporal cannot be reached, or refuses"
		unwell   = " has been unwell for five minutes"
	)
	return map[string][]scene{
		"DurabotTokenRefused": {
			fires("token", "", 0, refused), fires("intake", "unauthorized", 0, refused), quiet("a conflict", "intake", "conflict", lasts),
		},
		"DurabotConflict": {
			fires("intake", "conflict", time.Minute, "another program polls with the token (409)"),
			{"with polls that are won", trouble("intake", "conflict", "0x3 1 1 0 1 0 0 1 0 1 1 0 1x60"), 0, span, begins + time.Minute, "another program polls with the token (409)"},
			quiet("of a hand-over", "intake", "conflict", "0x3 1 0x80"), quiet("a webhook", "intake", "webhook", lasts),
		},
		"DurabotTelegramAway": {
			fires("telegram", "", 2*time.Minute, telegram), fires("intake", "telegram", 2*time.Minute, telegram), quiet("over soon", "telegram", "", over),
		},
		"DurabotTemporalAway": {
			fires("temporal", "", time.Minute, temporal), fires("intake", "temporal", time.Minute, temporal), quiet("over soon", "temporal", "", "0x3 1x2 0x80"),
		},
		"DurabotWorkflowStuck": {
			fires("workflows", "", 3*time.Minute, "a workflow cannot go on with this release"), quiet("one task failed", "workflows", "", over),
		},
		"DurabotLimited": {
			fires("penalty", "", time.Minute, "Telegram limits the whole bot (429)"), quiet("for seconds", "penalty", "", "0x3 1x2 0x80"),
		},
		"DurabotTrouble": {
			fires("intake", "webhook", 5*time.Minute, "intake webhook"+unwell), fires("intake", "", 5*time.Minute, "intake "+unwell),
			fires("worker", "", 5*time.Minute, "worker "+unwell),
			quiet("over soon", "intake", "delivery", over), quiet("a conflict", "intake", "conflict", lasts), quiet("a late queue", "queue", "", lasts),
		},
	}
}
