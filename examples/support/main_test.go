package main

import (
	"testing"
	"time"

	"github.com/durabot/durabot"
)

func TestAMessageIsAnsweredWithButtons(t *testing.T) {
	t.Parallel()
	calls, err := support(t.Context(), durabot.Update{Kind: "message", ChatID: 42})
	if err != nil || len(calls) != 1 {
		t.Fatalf("want one call, got %v, %v", calls, err)
	}
	if calls[0].Params.(durabot.Params)["reply_markup"] == nil {
		t.Fatal("want buttons")
	}
}

func TestAskingForAPersonAlertsTheAdminAndRemindsLater(t *testing.T) {
	t.Parallel()
	u := durabot.Update{Kind: "callback_query", ChatID: 42, Raw: []byte(`{"update_id":1,"callback_query":{"data":"person"}}`)}
	calls, err := support(t.Context(), u)
	if err != nil || len(calls) != 3 {
		t.Fatalf("want three calls, got %v, %v", calls, err)
	}
	if wait := time.Until(calls[1].At); wait < 59*time.Minute {
		t.Fatalf("want a reminder in an hour, got one in %v", wait)
	}
	if calls[2].Priority != durabot.Urgent || !calls[2].Independent {
		t.Fatal("want an alert that waits for nothing")
	}
}

func TestOpeningHoursNeedNobody(t *testing.T) {
	t.Parallel()
	u := durabot.Update{Kind: "callback_query", ChatID: 42, Raw: []byte(`{"update_id":1,"callback_query":{"data":"hours"}}`)}
	calls, err := support(t.Context(), u)
	if err != nil || len(calls) != 1 {
		t.Fatalf("want one call, got %v, %v", calls, err)
	}
}
