package story

import (
	"errors"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
)

var errNoPayload = errors.New("no such payload")

// decode reads payload n.
func decode(payloads *commonpb.Payloads, n int, into any) error {
	all := payloads.GetPayloads()
	if n >= len(all) {
		return errNoPayload
	}
	return converter.GetDefaultDataConverter().FromPayload(all[n], into)
}

// result reads what a workflow returned, or the detail of its failure, where a
// failed one of ours keeps it.
func result(e *historypb.HistoryEvent, into any) error {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
		return decode(e.GetWorkflowExecutionCompletedEventAttributes().GetResult(), 0, into)
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
		return decode(details(e.GetWorkflowExecutionFailedEventAttributes().GetFailure()), 0, into)
	default:
		return errNoPayload
	}
}

// details are those of the innermost application failure.
func details(f *failurepb.Failure) *commonpb.Payloads {
	return innermost(f).GetApplicationFailureInfo().GetDetails()
}

// innermost is the failure below the SDK's own framing.
func innermost(f *failurepb.Failure) *failurepb.Failure {
	for f.GetApplicationFailureInfo() == nil && f.GetCause() != nil {
		f = f.GetCause()
	}
	return f
}

// scheduledBy is the event that scheduled the activity of e, 0 for other events.
func scheduledBy(e *historypb.HistoryEvent) int64 {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
		return e.GetActivityTaskStartedEventAttributes().GetScheduledEventId()
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		return e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		return e.GetActivityTaskFailedEventAttributes().GetScheduledEventId()
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		return e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId()
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		return e.GetActivityTaskCanceledEventAttributes().GetScheduledEventId()
	default:
		return 0
	}
}
