package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

// news is the name of a bot's broadcast.
const news = "news"

// mail starts a broadcast to n people, as a person does.
func (b *bot) mail(ctx context.Context, n int) error {
	var audience bytes.Buffer
	for i := range n {
		fmt.Fprintln(&audience, firstRecipient+i)
	}
	path := filepath.Join(b.dir, strconv.FormatInt(b.id, 10)+".txt")
	if err := os.WriteFile(path, audience.Bytes(), 0o600); err != nil {
		return err
	}
	_, err := b.verb(ctx, "broadcast", "start", news, "--audience", path, "--text", bulkText, "--yes")
	return err
}

// mailed waits until the broadcast has ended.
func (b *bot) mailed(ctx context.Context) error {
	return b.client.GetWorkflow(ctx, contract.BroadcastID(b.id, news), "").Get(ctx, nil)
}

// told counts what went wrong: recipients of n without an outcome of their own,
// and those that have more copies than one, unless they are flagged.
func (b *bot) told(ctx context.Context, n int, ledger []message) (untold, doubled float64, err error) {
	copies := map[string]int{}
	for _, m := range ledger {
		if m.Text == bulkText {
			copies[strconv.FormatInt(m.ChatID, 10)]++
		}
	}
	told := map[string]bool{}
	_, err = broadcast.Report(ctx, b.client, b.id, news, func(r broadcast.Row) error {
		switch {
		case told[r.Chat], r.Outcome == "pending", r.Outcome == string(contract.Delivered) && copies[r.Chat] == 0:
			untold++
		case copies[r.Chat] > 1 && !r.PossibleDuplicate:
			doubled++
		}
		told[r.Chat] = true
		return nil
	})
	return untold + float64(n-len(told)), doubled, err
}

// longest is the number of events of the longest run of the broadcast's workflows.
func (b *bot) longest(ctx context.Context) (float64, error) {
	query := fmt.Sprintf("WorkflowId STARTS_WITH '%s' AND ExecutionStatus != 'Running'", contract.BroadcastID(b.id, news))
	most := 0.0
	err := b.found(ctx, query, func(e *workflowpb.WorkflowExecutionInfo) error {
		most = max(most, float64(e.GetHistoryLength()))
		return nil
	})
	return most, err
}
