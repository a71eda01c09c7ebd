package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/durabot/durabot/internal/devserver"
)

// plan is how much is measured.
type plan struct {
	Runs    int           // of each measurement
	Steady  time.Duration // of the steady load
	Burst   int           // updates of a burst
	Soak    int           // updates before memory is read
	Latency time.Duration // of every answer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	p := plan{Latency: 40 * time.Millisecond}
	format := flag.String("o", "table", "table or json")
	flag.IntVar(&p.Runs, "runs", 3, "runs of each measurement; the median is printed")
	flag.DurationVar(&p.Steady, "steady", 30*time.Second, "length of the steady load")
	flag.IntVar(&p.Burst, "burst", 600, "updates of a burst")
	flag.IntVar(&p.Soak, "soak", 10_000, "updates before memory is read")
	flag.Parse()
	if err := run(ctx, p, *format, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
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

// run measures and prints.
func run(ctx context.Context, p plan, format string, out io.Writer) error {
	dir, err := os.MkdirTemp("", "durabot-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	lab, err := newLab(ctx, p, dir)
	if err != nil {
		return err
	}
	defer lab.temporal.Stop()
	figures, err := lab.measure(ctx)
	if err != nil {
		return err
	}
	if format == "json" {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(figures)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "measurement\tmedian of %d\tunit\tgoal\truns\n", p.Runs)
	for _, f := range figures {
		fmt.Fprintf(w, "%s\t%.1f\t%s\t%s\t%.1f\n", f.Name, f.Value, f.Unit, f.Goal, f.All)
	}
	return w.Flush()
}

// lab is what all measurements share.
type lab struct {
	plan
	dir      string
	binary   string
	temporal *devserver.Server
	bots     int64
}

func newLab(ctx context.Context, p plan, dir string) (*lab, error) {
	l := &lab{plan: p, dir: dir, binary: filepath.Join(dir, "durabot")}
	path, err := devserver.Find(ctx, devserver.FindOptions{Dir: root(), Progress: os.Stderr})
	if err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", l.binary, "github.com/durabot/durabot/cmd/durabot") //nolint:gosec // our own package
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build durabot: %w\n%s", err, out)
	}
	l.temporal, err = devserver.Start(ctx, devserver.Options{
		Path: path, DBFile: filepath.Join(dir, "temporal.db"), LogFile: filepath.Join(dir, "temporal.log"),
	})
	return l, err
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// root is the folder of the module, whose bin/ holds the Temporal server.
func root() string {
	out, err := exec.Command("go", "env", "GOMOD").Output() //nolint:noctx // answers at once
	if err != nil {
		return "."
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}
