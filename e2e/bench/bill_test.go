package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

func event(kind enumspb.EventType) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: kind}
}

// marker is one that a workflow task left.
func marker(task int64) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_MARKER_RECORDED, Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{WorkflowTaskCompletedEventId: task},
		},
	}
}

// upsert sets these attributes.
func upsert(names ...string) *historypb.HistoryEvent {
	fields := map[string]*commonpb.Payload{}
	for _, name := range names {
		fields[name] = nil
	}
	return &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, Attributes: &historypb.HistoryEvent_UpsertWorkflowSearchAttributesEventAttributes{
			UpsertWorkflowSearchAttributesEventAttributes: &historypb.UpsertWorkflowSearchAttributesEventAttributes{
				SearchAttributes: &commonpb.SearchAttributes{IndexedFields: fields},
			},
		},
	}
}

func TestActionsAreCountedAsTheyAreBilled(t *testing.T) {
	t.Parallel()
	started, signaled := event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED), event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
	for name, c := range map[string]struct {
		events []*historypb.HistoryEvent
		want   float64
	}{
		"a workflow":                     {[]*historypb.HistoryEvent{started, event(enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED)}, 1},
		"a signal that starts one":       {[]*historypb.HistoryEvent{started, signaled}, 1},
		"a signal that comes later":      {[]*historypb.HistoryEvent{started, event(enumspb.EVENT_TYPE_TIMER_STARTED), signaled}, 3},
		"the markers of one task":        {[]*historypb.HistoryEvent{marker(4), marker(4), marker(9)}, 2},
		"attributes":                     {[]*historypb.HistoryEvent{upsert("TgOutcome"), upsert("TemporalChangeVersion"), upsert("TgOutcome", "TemporalChangeVersion")}, 2},
		"an activity and its third try":  {[]*historypb.HistoryEvent{event(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED), tried(3)}, 3},
		"a local activity tried again":   {[]*historypb.HistoryEvent{retriedLocally(2)}, 2},
		"what costs nothing":             {[]*historypb.HistoryEvent{event(enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED), event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED)}, 0},
		"a child, as its parent sees it": {[]*historypb.HistoryEvent{event(enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED), event(enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.InDelta(t, c.want, billed(c.events), 0)
		})
	}
}

func tried(attempt int32) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, Attributes: &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
			ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{Attempt: attempt},
		},
	}
}

func retriedLocally(n uint32) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, Attributes: &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
			WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{
				MeteringMetadata: &commonpb.MeteringMetadata{NonfirstLocalActivityExecutionAttempts: n},
			},
		},
	}
}

func TestHeartbeatsAreCountedFromTheMetrics(t *testing.T) {
	t.Parallel()
	n, err := requestsOf(strings.NewReader(`# TYPE temporal_request gauge
temporal_request{namespace="default",operation="RecordActivityTaskHeartbeat",task_queue="a"} 3
temporal_request{namespace="default",operation="RecordActivityTaskHeartbeat",task_queue="b"} 4
temporal_request{namespace="default",operation="StartWorkflowExecution"} 5
temporal_request_latency_seconds_sum{operation="RecordActivityTaskHeartbeat"} 6
`), "RecordActivityTaskHeartbeat")
	require.NoError(t, err)
	require.InDelta(t, 7, n, 0)
}
