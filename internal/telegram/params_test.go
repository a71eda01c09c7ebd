package telegram_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

func TestItemsCountsTheMessagesOfABatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, params string
		want           int
	}{
		"one message":             {"sendMessage", `{"chat_id":1,"text":"x"}`, 1},
		"album":                   {"sendMediaGroup", `{"media":[{},{},{}]}`, 3},
		"album in any case":       {"SENDMEDIAGROUP", `{"media":[{},{}]}`, 2},
		"album as form text":      {"sendMediaGroup", `{"media":"[{},{}]"}`, 2},
		"copies":                  {"copyMessages", `{"message_ids":[1,2,3,4]}`, 4},
		"forwards":                {"forwardMessages", `{"message_ids":[1,2]}`, 2},
		"paid media is one":       {"sendPaidMedia", `{"media":[{},{},{}]}`, 1},
		"deletes make none":       {"deleteMessages", `{"message_ids":[1,2,3]}`, 1},
		"empty album":             {"sendMediaGroup", `{"media":[]}`, 1},
		"media missing":           {"sendMediaGroup", `{}`, 1},
		"media of another type":   {"sendMediaGroup", `{"media":7}`, 1},
		"params broken":           {"sendMediaGroup", `{"media":[`, 1},
		"params nil":              {"copyMessages", ``, 1},
		"longer than any allowed": {"copyMessages", `{"message_ids":[` + strings.Repeat("1,", 500) + `1]}`, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, telegram.Items(c.method, json.RawMessage(c.params)))
		})
	}
}

func TestChatIDReadsEverySpelling(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]struct {
		id       int64
		username string
		ok       bool
	}{
		`{"chat_id":42}`:                     {42, "", true},
		`{"chat_id":-1001234567890}`:         {-1001234567890, "", true},
		`{"chat_id":"-1001234567890"}`:       {-1001234567890, "", true},
		`{"chat_id":9007199254740993}`:       {9007199254740993, "", true},
		`{"chat_id":4.2e1}`:                  {42, "", true},
		`{"chat_id":"@durabot"}`:             {0, "@durabot", true},
		`{"chat_id":"@"}`:                    {},
		`{"chat_id":"durabot"}`:              {},
		`{"chat_id":4.5}`:                    {},
		`{"chat_id":0}`:                      {},
		`{"chat_id":null}`:                   {},
		`{"chat_id":[42]}`:                   {},
		`{"chat_id":"99999999999999999999"}`: {},
		`{"CHAT_ID":42}`:                     {},
		`{"callback_query_id":"7"}`:          {},
		`[]`:                                 {},
		`{"chat_id":`:                        {},
		``:                                   {},
	} {
		t.Run(params, func(t *testing.T) {
			t.Parallel()
			id, username, ok := telegram.ChatID(json.RawMessage(params))
			require.Equal(t, want.id, id)
			require.Equal(t, want.username, username)
			require.Equal(t, want.ok, ok)
		})
	}
}

func FuzzParams(f *testing.F) {
	f.Add(`{"chat_id":"@a","media":[{}]}`)
	f.Add(`{"chat_id":-1e400,"media":"["}`)
	f.Fuzz(func(t *testing.T, params string) {
		id, username, ok := telegram.ChatID(json.RawMessage(params))
		require.Equal(t, ok, id != 0 || username != "")
		require.False(t, id != 0 && username != "")
		items := telegram.Items("sendMediaGroup", json.RawMessage(params))
		require.True(t, items >= 1 && items <= 100)
	})
}

func TestACallIsPaidForWhereItAsksAndTelegramAllows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, params string
		want           bool
	}{
		{"sendMessage", `{"chat_id":1,"allow_paid_broadcast":true}`, true},
		{"SENDMESSAGE", `{"chat_id":1,"allow_paid_broadcast":"true"}`, true},
		{"sendMessage", `{"chat_id":1,"allow_paid_broadcast":false}`, false},
		{"sendMessage", `{"chat_id":1,"text":"allow_paid_broadcast"}`, false},
		{"sendMessage", `{"chat_id":1}`, false},
		{"forwardMessage", `{"chat_id":1,"allow_paid_broadcast":true}`, false},
		{"editMessageText", `{"chat_id":1,"allow_paid_broadcast":true}`, false},
		{"sendMessage", `{"chat_id":1,"allow_paid_broadcast":true,"business_connection_id":"b"}`, false},
		{"sendMessage", `[]`, false},
	} {
		require.Equal(t, c.want, telegram.Paid(c.method, json.RawMessage(c.params)), c.method+c.params)
	}
}
