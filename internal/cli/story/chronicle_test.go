package story_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

// noon is when every message of these tests was accepted.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// chronicle is a history in the making: each event a second after the last.
type chronicle struct{ events []*historypb.HistoryEvent }

func (c *chronicle) add(kind enumspb.EventType, e *historypb.HistoryEvent) int64 {
	e.EventId, e.EventType = int64(len(c.events)+1), kind
	e.EventTime = timestamppb.New(noon.Add(time.Duration(len(c.events)) * time.Second))
	c.events = append(c.events, e)
	return e.GetEventId()
}

func payloads(values ...any) *commonpb.Payloads {
	p, err := converter.GetDefaultDataConverter().ToPayloads(values...)
	if err != nil {
		panic(err) // a test's own value
	}
	return p
}

// begun is the history of a message that has just been started.
func begun(in contract.MessageInput, delay time.Duration) *chronicle {
	c := &chronicle{}
	in.Key, in.AcceptedAt = "parcel-17", noon
	c.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
			WorkflowId: "message/7/parcel-17", WorkflowType: &commonpb.WorkflowType{Name: contract.MessageWorkflow}, Input: payloads(in),
			FirstWorkflowTaskBackoff: durationpb.New(delay),
		},
	}})
	return c
}

// asked records a local activity and what it answered.
func (c *chronicle) asked(kind string, answer any) {
	c.add(enumspb.EVENT_TYPE_MARKER_RECORDED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
		MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{MarkerName: "LocalActivity", Details: map[string]*commonpb.Payloads{
			"data":   payloads(map[string]any{"ActivityType": kind, "ReplayTime": noon.Add(time.Duration(len(c.events)) * time.Second)}),
			"result": payloads(answer),
		}},
	}})
}

// sends records that a call was asked for, and returns its event's id.
func (c *chronicle) sends(call contract.Call) int64 {
	return c.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
		ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
			ActivityId: call.Method, ActivityType: &commonpb.ActivityType{Name: contract.SendActivity}, Input: payloads(contract.SendInput{Call: call}),
		},
	}})
}

// made records a call's end.
func (c *chronicle) made(scheduled int64, attempts int32, res contract.CallResult) {
	c.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
		ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{ScheduledEventId: scheduled, Attempt: attempts},
	}})
	c.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
		ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{ScheduledEventId: scheduled, Result: payloads(res)},
	}})
}

// timer records one that was started.
func (c *chronicle) timer(wait time.Duration) {
	c.add(enumspb.EVENT_TYPE_TIMER_STARTED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_TimerStartedEventAttributes{
		TimerStartedEventAttributes: &historypb.TimerStartedEventAttributes{StartToFireTimeout: durationpb.New(wait)},
	}})
}

// died records a death with its dead letter.
func (c *chronicle) died(res contract.CallResult) {
	c.add(enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_StartChildWorkflowExecutionInitiatedEventAttributes{
			StartChildWorkflowExecutionInitiatedEventAttributes: &historypb.StartChildWorkflowExecutionInitiatedEventAttributes{
				WorkflowId: "dead/7/message/parcel-17", WorkflowType: &commonpb.WorkflowType{Name: contract.DeadLetterWorkflow},
				Input: payloads(contract.DeadInput{Key: "parcel-17"}, nil),
			},
		},
	})
	c.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionFailedEventAttributes{
		WorkflowExecutionFailedEventAttributes: &historypb.WorkflowExecutionFailedEventAttributes{Failure: &failurepb.Failure{
			FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Details: payloads(res)}},
		}},
	}})
}

func (c *chronicle) message(t *testing.T, pending ...*workflowpb.PendingActivityInfo) story.Message {
	t.Helper()
	m, err := story.MessageOf(story.Source{Events: c.events, Pending: pending})
	require.NoError(t, err)
	return m
}

// says is a call with this text.
func says(text string) contract.Call {
	params, err := json.Marshal(map[string]any{"chat_id": 42, "text": text})
	if err != nil {
		panic(err) // a test's own value
	}
	return contract.Call{Method: "sendMessage", Params: json.RawMessage(params)}
}
