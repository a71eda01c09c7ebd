package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
)

// bill is what a bot has used of Temporal Cloud.
type bill struct {
	actions float64
	bytes   float64 // of histories
	at      time.Time
}

// cost is what something uses, and the time for which it was counted.
func (b *bot) cost(ctx context.Context, do func() error) (bill, time.Duration, error) {
	before, err := b.total(ctx)
	if err != nil {
		return bill{}, 0, err
	}
	if err := do(); err != nil {
		return bill{}, 0, err
	}
	after, err := b.total(ctx)
	return bill{actions: after.actions - before.actions, bytes: after.bytes - before.bytes}, after.at.Sub(before.at), err
}

// total is all that the bot has used: what its histories tell, and the heartbeats,
// which leave no event.
func (b *bot) total(ctx context.Context) (all bill, err error) {
	if err := b.listed(ctx); err != nil {
		return bill{}, err
	}
	if all.actions, err = b.heartbeats(ctx); err != nil {
		return bill{}, err
	}
	all.at = time.Now()
	err = b.each(ctx, b.everything(), func(e *workflowpb.WorkflowExecutionInfo, events []*historypb.HistoryEvent) {
		all.actions, all.bytes = all.actions+billed(events), all.bytes+float64(e.GetHistorySizeBytes())
	})
	return all, err
}

// listed waits until lists are complete, which they are a moment after a workflow
// has ended.
func (b *bot) listed(ctx context.Context) error {
	for before := int64(-1); ; {
		res, err := b.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Query: "(" + b.everything() + ") AND ExecutionStatus != 'Running'",
		})
		if err != nil || res.GetCount() == before {
			return err
		}
		before = res.GetCount()
		if err := rest(ctx, time.Second); err != nil {
			return err
		}
	}
}

// everything is the query for the bot's workflows.
func (b *bot) everything() string {
	var kinds []string
	for _, kind := range []string{"update", "message", "chat", "dead", "broadcast"} {
		kinds = append(kinds, fmt.Sprintf("WorkflowId STARTS_WITH '%s/%d/'", kind, b.id))
	}
	return fmt.Sprintf("%s OR WorkflowId = 'duty/%d'", strings.Join(kinds, " OR "), b.id)
}

// heartbeats counts the heartbeats of activities that the first process has sent.
func (b *bot) heartbeats(ctx context.Context) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.http+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return requestsOf(resp.Body, "RecordActivityTaskHeartbeat")
}

// requestsOf counts the requests of one kind in metrics of the Temporal SDK.
func requestsOf(metrics io.Reader, operation string) (n float64, err error) {
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if !strings.HasPrefix(name, "temporal_request{") || !strings.Contains(name, `operation="`+operation+`"`) {
			continue
		}
		one, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, err
		}
		n += one
	}
	return n, lines.Err()
}

// billed counts the Actions of a history by Temporal Cloud's list of them
// (docs.temporal.io/cloud/actions). A child costs two: one in its parent's
// history, one in its own.
func billed(events []*historypb.HistoryEvent) float64 {
	n := 0.0
	marked := int64(0) // the workflow task of the last marker: all of one cost one
	for i, e := range events {
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
			// A signal that starts a workflow costs one in all.
			if i+1 == len(events) || events[i+1].GetEventType() != enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
				n++
			}
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, enumspb.EVENT_TYPE_TIMER_STARTED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
			enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED,
			enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
			n++
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			n += float64(e.GetActivityTaskStartedEventAttributes().GetAttempt() - 1)
		case enumspb.EVENT_TYPE_MARKER_RECORDED:
			if task := e.GetMarkerRecordedEventAttributes().GetWorkflowTaskCompletedEventId(); task != marked {
				n, marked = n+1, task
			}
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			n += float64(e.GetWorkflowTaskCompletedEventAttributes().GetMeteringMetadata().GetNonfirstLocalActivityExecutionAttempts())
		case enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
			if !onlyVersions(e) {
				n++
			}
		}
	}
	return n
}

// onlyVersions reports whether an event sets the attribute of versions alone, which
// is free.
func onlyVersions(e *historypb.HistoryEvent) bool {
	fields := e.GetUpsertWorkflowSearchAttributesEventAttributes().GetSearchAttributes().GetIndexedFields()
	_, versions := fields["TemporalChangeVersion"]
	return versions && len(fields) == 1
}
