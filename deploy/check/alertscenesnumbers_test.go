package check_test

import (
	"fmt"
	"time"
)

const (
	hour = time.Hour
	day  = 24 * hour
	week = 7 * day
)

func queueScenes() map[string][]scene {
	const span = 40 * time.Minute
	late := func(values string) string {
		return scrapes("durabot_oldest_pending_age_seconds"+one+values, "durabot_oldest_pending_age_seconds"+two+values)
	}
	unhandled := func(values string) string {
		return scrapes("durabot_inbox_unhandled"+one+values, "durabot_inbox_unhandled"+two+values)
	}
	bursts := ""
	for n := range 30 {
		bursts += fmt.Sprintf("0 %d ", 10*n)
	}
	return map[string][]scene{
		"DurabotQueueLate": {
			{"over ten minutes", late("600x3 601+15x160"), 0, span, 2 * time.Minute, "the oldest answer has waited for 11m 1s"},
			{"ten minutes", late("600x160"), 0, span, never, ""},
			{"paused", late("601+15x160") + trouble("budget", "", "1x160"), 0, span, never, ""},
		},
		"DurabotUpdatesPileUp": {
			{"four more a minute", unhandled("3+1x160"), 0, span, 10*time.Minute + 15*time.Second, "updates pile up, 4 more a minute"},
			{"for seven minutes", unhandled("3+1x28 31-1x30 1x100"), 0, span, never, ""},
			{"many, and no more of them", unhandled("500x160"), 0, span, never, ""},
			{"a day's wave", unhandled("3+0.2x160"), 0, span, never, ""},
			{"more each time, and empty in between", unhandled(bursts), 0, 12 * time.Minute, never, ""},
		},
	}
}

func failureScenes() map[string][]scene {
	handler := func(runs, failures string) string {
		return scrapes("durabot_handler_seconds_count"+one+runs, "durabot_handler_failures_total"+one+failures)
	}
	dead := func(last24h, open string) string {
		return minutes("durabot_dead_last_24h"+one+last24h, "durabot_dead_last_24h"+two+last24h, "durabot_dead_open"+one+open, "durabot_dead_open"+two+open)
	}
	calls := func(outcome, values string) string {
		return minutes(`durabot_calls_total{job="durabot",instance="a",method="sendMessage",outcome="` + outcome + `"} ` + values)
	}
	twice := func(values string) string { return minutes("durabot_possible_duplicates_total" + one + values) }
	const usual, hourly = "10x11519", "0+0.05x1439 " // 10 in 24 h, for 8 days; 3 an hour, for a day
	return map[string][]scene{
		"DurabotHandlerFails": {
			{"one of ten", handler("0+10x160", "0+1x160"), 0, hour / 2, 6*time.Minute + 30*time.Second, "10% of the runs of the handler fail"},
			{"one of thirty", handler("0+30x160", "0+1x160"), 0, hour / 2, never, ""},
			{"three in all", handler("0x3 1 2 3x160", "0x3 1 2 3x160"), 0, hour / 2, never, ""},
			{"no runs", handler("0x160", "0x160"), 0, hour / 2, never, ""},
		},
		"DurabotDeadLetters": {
			{"a new bot", dead("0x9 6x60", "0x9 6x60"), 0, hour, 15 * time.Minute, "6 dead letters in 24 h"},
			{"a new bot with few", dead("0x9 5x60", "0x9 5x60"), 0, hour, never, ""},
			{"more than usual", dead(usual+" 36x60", "1x12000"), 8*day - 10*time.Minute, 8*day + hour, 8*day + 5*time.Minute, "36 dead letters in 24 h"},
			{"as many as can be usual", dead(usual+" 35x60", "1x12000"), 8*day - 10*time.Minute, 8*day + hour, never, ""},
			{"dealt with", dead(usual+" 36x60", "1x11519 0x60"), 8*day - 10*time.Minute, 8*day + hour, never, ""},
		},
		"DurabotCallsDie": {
			{"a bad release", calls("rejected", "0+1x60"), 0, hour, 5*time.Minute + 15*time.Second, "5 calls ended rejected within an hour"},
			{"more than usual", calls("gave_up", hourly+"72+1x60"), day, day + hour, day + 12*time.Minute, "15 calls ended gave_up within an hour"},
			{"as usual", calls("uncertain", hourly+"72+0.05x120"), day - hour, day + 2*hour, never, ""},
			{"a few of a new bot", calls("rejected", "0 1 2 3 4x60"), 0, hour, never, ""},
			{"delivered", calls("delivered", "0+100x60"), 0, hour, never, ""},
		},
		"DurabotPossibleDuplicates": {
			{"answers are lost", twice("0+1x60"), 0, hour, 5*time.Minute + 15*time.Second, "5 messages may have arrived twice within an hour"},
			{"as usual", twice(hourly + "72+0.05x120"), day - hour, day + 2*hour, never, ""},
			{"a few of a new bot", twice("0 1 2 3 4x60"), 0, hour, never, ""},
		},
	}
}
