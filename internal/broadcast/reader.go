package broadcast

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

// queryTimeout bounds the question to a part that is open: where no process runs
// nobody answers.
const queryTimeout = 10 * time.Second

// partRows are the recipients of one part.
type partRows struct {
	rows     []Row
	complete bool
	err      error
}

// reader reads parts.
type reader struct {
	client Client
	// silent is set when a part did not answer in time. Hundreds may be open, and no
	// other is asked.
	silent atomic.Bool
}

func (r *reader) read(ctx context.Context, id string) partRows {
	d, err := describe(ctx, r.client, id)
	if err != nil {
		return partRows{err: forgotten(id, err)}
	}
	switch d.GetWorkflowExecutionInfo().GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return r.ended(ctx, id)
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return r.underWay(ctx, id)
	default:
		rows, err := r.begun(ctx, id, Row{Outcome: string(contract.ReasonUncertain), Error: "the part was terminated before it could tell"})
		return partRows{rows, true, err}
	}
}

// forgotten says of a part that is not there what became of it.
func forgotten(id string, err error) error {
	if errors.Is(err, ErrNone) {
		return fmt.Errorf("%s is forgotten: it ended longer ago than the namespace's retention", id)
	}
	return err
}

// ended reads a part's result.
func (r *reader) ended(ctx context.Context, id string) partRows {
	event, err := first(ctx, r.client, id, "", enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	if err != nil {
		return partRows{err: forgotten(id, err)}
	}
	var res contract.PartResult
	if err := converter.GetDefaultDataConverter().FromPayloads(event.GetWorkflowExecutionCompletedEventAttributes().GetResult(), &res); err != nil {
		return partRows{err: fmt.Errorf("read the result of %s: %w", id, err)}
	}
	return partRows{rows: rowsOf(res), complete: true}
}

// underWay asks a part what it knows.
func (r *reader) underWay(ctx context.Context, id string) partRows {
	if res, ok := r.ask(ctx, id); ok {
		return partRows{rows: rowsOf(res), complete: true}
	}
	rows, err := r.begun(ctx, id, Row{Outcome: string(contract.Pending)})
	return partRows{rows: rows, err: err}
}

func (r *reader) ask(ctx context.Context, id string) (res contract.PartResult, ok bool) {
	if r.silent.Load() {
		return res, false
	}
	asking, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	value, err := r.client.QueryWorkflow(asking, id, "", contract.ResultsQuery)
	if err == nil {
		err = value.Get(&res)
	}
	if asking.Err() != nil {
		r.silent.Store(true)
	}
	return res, err == nil
}

// begun is how the recipients of a part stood when its newest run began; those
// that had no outcome are like row.
func (r *reader) begun(ctx context.Context, id string, row Row) ([]Row, error) {
	in, err := input[contract.PartInput](ctx, r.client, id)
	if err != nil {
		return nil, forgotten(id, err)
	}
	rows := rowsOf(contract.PartResult{Results: in.Results})
	for _, a := range in.Recipients {
		row.Chat = a.Chat
		rows = append(rows, row)
	}
	return rows, nil
}

func rowsOf(res contract.PartResult) []Row {
	rows := make([]Row, 0, len(res.Results)+len(res.Left))
	for _, r := range res.Results {
		rows = append(rows, Row{
			Chat: r.Chat, Outcome: r.Told(), MessageID: r.MessageID, Error: r.Error, At: r.At,
			PossibleDuplicate: r.PossibleDuplicate, Degraded: r.Degraded, MovedTo: r.MovedTo,
		})
	}
	for _, chat := range res.Left {
		rows = append(rows, Row{Chat: chat, Outcome: string(contract.Pending)})
	}
	return rows
}
