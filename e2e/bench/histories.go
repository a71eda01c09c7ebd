package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"go.temporal.io/api/workflowservice/v1"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
)

// each reads the histories of the workflows that a query finds.
func (b *bot) each(ctx context.Context, query string, read func(*workflowpb.WorkflowExecutionInfo, []*historypb.HistoryEvent)) error {
	return b.found(ctx, query, func(e *workflowpb.WorkflowExecutionInfo) error {
		events, err := b.history(ctx, e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId())
		if err == nil {
			read(e, events)
		}
		return err
	})
}

// found goes through the workflows that a query finds.
func (b *bot) found(ctx context.Context, query string, look func(*workflowpb.WorkflowExecutionInfo) error) error {
	var page []byte
	for {
		list, err := b.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: page})
		if err != nil {
			return err
		}
		for _, e := range list.GetExecutions() {
			if err := look(e); err != nil {
				return err
			}
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return nil
		}
	}
}

func (b *bot) history(ctx context.Context, id, run string) (events []*historypb.HistoryEvent, err error) {
	pages := b.client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for pages.HasNext() {
		e, err := pages.Next()
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// spread adds to figures, where there are several processes, how many tasks of
// updates in a hundred were run by another one than the first.
func (b *bot) spread(ctx context.Context, figures []figure) ([]figure, error) {
	if b.Processes < 2 {
		return figures, nil
	}
	first, all := 0.0, 0.0
	err := b.each(ctx, fmt.Sprintf("WorkflowId STARTS_WITH 'update/%d/'", b.id), func(_ *workflowpb.WorkflowExecutionInfo, events []*historypb.HistoryEvent) {
		for _, e := range events {
			if who := e.GetWorkflowTaskCompletedEventAttributes().GetIdentity(); who != "" {
				all++
				if strings.HasPrefix(who, strconv.Itoa(b.pid())+"@") {
					first++
				}
			}
		}
	})
	return append(figures, figure{Name: "run by the other processes", Unit: "% of tasks", Value: 100 * (all - first) / all}), err
}
