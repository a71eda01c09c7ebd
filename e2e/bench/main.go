package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"
)

// plan is how much is measured.
type plan struct {
	Runs      int           // of each measurement
	Processes int           // of the bot
	Latency   time.Duration // of every answer
	Steady    time.Duration // of the steady load
	Burst     int           // updates of a burst
	Soak      int           // updates before memory is read
	Messages  int           // sent one after the other
	Lines     int           // of a file of messages
	Bulk      int           // recipients of a broadcast that is followed to its end
	Waiting   int           // recipients of a broadcast that others overtake
	Replies   time.Duration // of the replies that overtake it, few a second and then many
	Penalty   time.Duration // on one chat
	Held      int           // replies, and as many messages, that wait for its end
	Storm     time.Duration // of what a group is asked for
	Audience  int           // of a broadcast whose processes are killed
	Crowd     int           // the audience of one without limits
	Posts     int           // of a webhook
	Metered   int           // updates, and as many messages, whose cost is counted
	Idle      time.Duration // of a bot whose cost is counted
	Leaves    int           // of the process on duty, by a stop and by a kill
}

func main() {
	run := bench
	if len(os.Args) > 1 && os.Args[1] == simCommand {
		run = func() error { return simulate(os.Args[2:]) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench measures what the flags say.
func bench() error {
	p := plan{Latency: 40 * time.Millisecond}
	format := flag.String("o", "table", "table or json")
	only := flag.String("only", "", "measure these alone, separated by commas: steady, burst, memory, outbox, file, webhook, limit, standby, handover, penalty, priority, group, broadcast, actions, flood")
	flag.IntVar(&p.Runs, "runs", 3, "runs of each measurement; the median is printed")
	flag.IntVar(&p.Processes, "processes", 1, "processes of the bot; one is on duty, and all run workflows and handlers")
	flag.DurationVar(&p.Steady, "steady", 30*time.Second, "length of the steady load")
	flag.IntVar(&p.Burst, "burst", 600, "updates of a burst")
	flag.IntVar(&p.Soak, "soak", 10_000, "updates before memory is read")
	flag.IntVar(&p.Messages, "messages", 100, "messages that are sent one after the other")
	flag.IntVar(&p.Lines, "lines", 10_000, "lines of a file of messages")
	flag.IntVar(&p.Bulk, "bulk", 1500, "recipients of the broadcast that is to use the limit")
	flag.IntVar(&p.Waiting, "waiting", 10_000, "recipients of the broadcast that replies overtake")
	flag.DurationVar(&p.Replies, "replies", time.Minute, "length of the replies that overtake it")
	flag.DurationVar(&p.Penalty, "penalty", 30*time.Second, "length of the penalty on one chat")
	flag.IntVar(&p.Held, "held", 10, "replies, and as many messages, that wait for its end")
	flag.DurationVar(&p.Storm, "storm", time.Minute, "length of the load on one group")
	flag.IntVar(&p.Audience, "audience", 10_000, "recipients of the broadcast whose processes are killed")
	flag.IntVar(&p.Posts, "posts", 1000, "posts of a webhook, 200 a second")
	flag.IntVar(&p.Metered, "metered", 200, "updates, and as many messages, whose cost on Temporal Cloud is counted")
	flag.DurationVar(&p.Idle, "idle", time.Minute, "how long a bot with nothing to do is watched")
	flag.IntVar(&p.Leaves, "leaves", 3, "how often the process on duty is stopped, and killed")
	flag.IntVar(&p.Crowd, "crowd", 100_000, "recipients of the broadcast without limits")
	flag.Parse()
	list, err := chosen(*only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	l, err := newLab(ctx, p)
	if err != nil {
		return err
	}
	figures, err := l.measure(ctx, list)
	l.close()
	if err != nil {
		return fmt.Errorf("%w (its logs stay in %s)", err, l.dir)
	}
	_ = os.RemoveAll(l.dir)
	return show(os.Stdout, *format, p.Runs, figures)
}

// figure is one measured number.
type figure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	// Goal is what it should keep to, "" for a number without a goal.
	Goal string    `json:"goal,omitempty"`
	All  []float64 `json:"runs"`
}

func show(out io.Writer, format string, runs int, figures []figure) error {
	if format == "json" {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(figures)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "measurement\tmedian of %d\tunit\tgoal\truns\n", runs)
	for _, f := range figures {
		fmt.Fprintf(w, "%s\t%.1f\t%s\t%s\t%.1f\n", f.Name, f.Value, f.Unit, f.Goal, f.All)
	}
	return w.Flush()
}
