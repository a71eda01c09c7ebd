package check_test

import (
	"fmt"
	"maps"
	"strings"
	"time"
)

// Two processes, scraped every 15 s from minute 0 on.
const (
	one = `{job="durabot",instance="durabot-1:8080"} `
	two = `{job="durabot",instance="durabot-2:8080"} `
)

// scrapes are series, each of them a name with labels and its values.
func scrapes(series ...string) string { return "load 15s\n  " + strings.Join(series, "\n  ") + "\n\n" }

// minutes are series as scraped once a minute, for what takes days.
func minutes(series ...string) string { return "load 1m\n  " + strings.Join(series, "\n  ") + "\n\n" }

// trouble is a part of the first process that is unwell, with the second well.
func trouble(part, kind, values string) string {
	labels := fmt.Sprintf(`{job="durabot",instance="%%s",part=%q,kind=%q}`, part, kind)
	return scrapes(
		"durabot_trouble"+fmt.Sprintf(labels, "durabot-1:8080")+" "+values,
		"durabot_trouble"+fmt.Sprintf(labels, "durabot-2:8080")+" 0x400",
	)
}

func alertScenes() map[string][]scene {
	all := map[string][]scene{}
	for _, some := range []map[string][]scene{dutyScenes(), queueScenes(), failureScenes(), troubleScenes()} {
		maps.Copy(all, some)
	}
	return all
}

func dutyScenes() map[string][]scene {
	up := "up" + one + "1x80"
	return map[string][]scene{
		"DurabotProcessDown": {
			{"down", scrapes("up"+one+"1x3 0x80", "up"+two+"1x80"), 0, 20 * time.Minute, 2 * time.Minute, "durabot-1:8080 does not answer"},
			{"restarted", scrapes("up"+one+"1x3 0x3 1x80", "up"+two+"1x80"), 0, 20 * time.Minute, never, ""},
			{"another job's", scrapes(`up{job="node",instance="a"} 0x80`), 0, 20 * time.Minute, never, ""},
		},
		"DurabotNobodyOnDuty": {
			{"both stand by", scrapes("durabot_on_duty"+one+"1x3 0x80", "durabot_on_duty"+two+"0x80", up), 0, 20 * time.Minute, 2 * time.Minute, "nobody is on duty"},
			{
				"all down", scrapes("durabot_on_duty"+one+"1x3 stale", "durabot_on_duty"+two+"0x3 stale", "up"+one+"1x3 0x80", "up"+two+"1x3 0x80"),
				0, 20 * time.Minute, 2 * time.Minute, "nobody is on duty",
			},
			{"no process known", scrapes(`up{job="node",instance="a"} 1x80`), 0, 20 * time.Minute, time.Minute, "nobody is on duty"},
			{"taken over after a kill", scrapes("durabot_on_duty"+one+"1x3 stale", "up"+one+"1x3 0x80", "durabot_on_duty"+two+"0x6 1x80", "up"+two+"1x80"), 0, 20 * time.Minute, never, ""},
			{"handed over", scrapes("durabot_on_duty"+one+"1x3 0x80", "durabot_on_duty"+two+"0x4 1x80", up), 0, 20 * time.Minute, never, ""},
		},
		"DurabotPaused": {
			{"forgotten", trouble("budget", "", "0x3 1x400"), 0, 90 * time.Minute, 61 * time.Minute, "all sending has been paused for an hour"},
			{"for half an hour", trouble("budget", "", "0x3 1x120 0x200"), 0, 90 * time.Minute, never, ""},
		},
	}
}
