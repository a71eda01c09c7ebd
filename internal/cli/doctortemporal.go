package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// tightRetention leaves a day for an update that Telegram keeps and a day for
	// one that comes late.
	tightRetention = 72 * time.Hour
	// pollFresh is how old a worker's last poll may be: a poll lasts a minute.
	pollFresh = 90 * time.Second
)

// examineTemporal goes from the server to what is in it, and passes over what
// cannot be seen without the step before.
func (d *doctor) examineTemporal(ctx context.Context) {
	d.examineSettings()
	s, err := d.reach(ctx)
	if err != nil {
		d.find("temporal", levelProblem, err.Error(), "")
		d.skip("no Temporal to ask", "namespace")
		d.skip("no Temporal to ask", namespaceChecks()...)
		return
	}
	defer s.Close()
	retention, err := s.retention(ctx)
	if !d.examineNamespace(s, err) {
		d.skip("no namespace to look at", namespaceChecks()...)
		return
	}
	d.examineRetention(retention)
	d.examineAttributes(ctx, s)
	if d.bot == 0 {
		d.skip("give --bot ID or a token", botChecks()...)
		return
	}
	d.examineWorkers(ctx, s)
	d.examineDuty(ctx, s)
	d.examineWork(ctx, s)
}

// botChecks are the names of what needs a bot to look at, and namespaceChecks of
// what needs a namespace.
func botChecks() []string { return append([]string{"workers", "duty"}, workChecks...) }

func namespaceChecks() []string {
	return append([]string{"retention", "search_attributes"}, botChecks()...)
}

// examineNamespace tells a server that is away from one that refuses.
func (d *doctor) examineNamespace(s *frontend, err error) bool {
	refusal := refused(err, s.options)
	if err != nil && refusal == nil {
		d.find("temporal", levelProblem, "no answer from "+s.options.HostPort+": "+err.Error(), "start it or set TEMPORAL_ADDRESS")
		d.skip("no Temporal to ask", "namespace")
		return false
	}
	d.find("temporal", levelOK, s.options.HostPort+" answers", "")
	if refusal != nil {
		d.find("namespace", levelProblem, refusal.Error(), "")
		return false
	}
	d.find("namespace", levelOK, s.options.Namespace, "")
	return true
}

// examineRetention: deduplication lasts as long as closed workflows are kept, and
// Telegram may deliver an update again for 24 h (Bot API, "Getting updates").
func (d *doctor) examineRetention(found time.Duration) {
	text := brief(found)
	const do = "run `durabot setup`, which raises it to 7 days"
	switch {
	case found < leastRetention:
		d.find("retention", levelProblem, text+", want 48h at least: an update that Telegram delivers again would be handled again", do)
	case found < tightRetention:
		d.find("retention", levelWarning, text+", want 72h or more to recognise late duplicates", do)
	default:
		d.find("retention", levelOK, text, "")
	}
}

// examineAttributes: without them all works, so only a wrong type is a problem.
func (d *doctor) examineAttributes(ctx context.Context, s *frontend) {
	missing, wrong, err := s.attributes(ctx)
	switch {
	case err != nil:
		d.find("search_attributes", levelWarning, "they cannot be read: "+err.Error(), "ask for permission to list them")
	case len(wrong) > 0:
		d.find("search_attributes", levelProblem, strings.Join(wrong, ", "), "remove what is there, then run `durabot setup`")
	case len(missing) > 0:
		d.find("search_attributes", levelWarning, "not registered: "+strings.Join(missing, ", ")+"; all works without, but nothing can be found by chat or kind",
			"run `durabot setup`, then restart the bot")
	default:
		d.find("search_attributes", levelOK, "all registered", "")
	}
}

// examineWorkers looks for a process that runs the bot's workflows. The server
// remembers a poller for minutes after it has gone, so only a fresh one counts.
func (d *doctor) examineWorkers(ctx context.Context, s *frontend) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	queue := contract.TaskQueue(d.bot)
	res, err := s.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: s.options.Namespace, TaskQueue: &taskqueue.TaskQueue{Name: queue}, TaskQueueType: enumspb.TASK_QUEUE_TYPE_WORKFLOW,
	})
	var none *serviceerror.NotFound
	if err != nil && !errors.As(err, &none) {
		d.find("workers", levelWarning, "the pollers of "+queue+" cannot be read: "+err.Error(), "")
		return
	}
	var who []string
	for _, p := range res.GetPollers() {
		if time.Since(p.GetLastAccessTime().AsTime()) < pollFresh {
			who = append(who, p.GetIdentity())
		}
	}
	if len(who) == 0 {
		d.find("workers", levelWarning, "no durabot run is polling "+queue, "start the bot with `durabot run`")
		return
	}
	d.find("workers", levelOK, strings.Join(who, ", "), "")
}

// examineDuty looks for the process that talks to Telegram. Without a process at
// all that is no finding of its own.
func (d *doctor) examineDuty(ctx context.Context, s *frontend) {
	h, err := s.holder(ctx, d.bot)
	switch {
	case err != nil:
		d.find("duty", levelWarning, "who is on duty cannot be read: "+err.Error(), "")
	case h.Identity == "" && d.level("workers") != levelOK:
		d.find("duty", levelSkipped, "no process to hold it", "")
	case h.Identity == "":
		d.find("duty", levelWarning, dutyText(h, time.Now())+": nothing is fetched and nothing is sent", "start a process without --no-duty, or see the log of one")
	case h.Pause != nil:
		d.find("duty", levelWarning, h.Identity+"; "+pausedText(*h.Pause, time.Now()), "run `durabot resume`")
	default:
		d.find("duty", levelOK, dutyText(h, time.Now()), "")
	}
}
