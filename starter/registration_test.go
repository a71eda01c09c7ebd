package starter_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/starter"
)

const (
	ours    = "https://bot.example.org/hook/SECRET-path"
	foreign = "https://other.example.com/THEIR-path"
)

// hookAPI is a Telegram that knows a webhook.
type hookAPI struct {
	mu    sync.Mutex
	info  telegram.WebhookInfo
	asked []string
	last  telegram.WebhookRequest
	fails map[string]error // by method
}

// call notes a request and returns its failure.
func (a *hookAPI) call(method string, effect func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, method)
	if err := a.fails[method]; err != nil {
		return err
	}
	effect()
	return nil
}

func (a *hookAPI) WebhookInfo(context.Context) (info telegram.WebhookInfo, err error) {
	err = a.call("getWebhookInfo", func() { info = a.info })
	return info, err
}

func (a *hookAPI) SetWebhook(_ context.Context, r telegram.WebhookRequest) error {
	return a.call("setWebhook", func() { a.info.URL, a.last = r.URL, r })
}

func (a *hookAPI) DeleteWebhook(context.Context) error {
	return a.call("deleteWebhook", func() { a.info.URL = "" })
}

func (a *hookAPI) Me(context.Context) (telegram.User, error) {
	return telegram.User{}, a.call("getMe", func() {})
}

// with changes what Telegram knows, or answers.
func (a *hookAPI) with(change func(*hookAPI)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

func (a *hookAPI) count(method string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.asked {
		if m == method {
			n++
		}
	}
	return n
}

// seen is what was asked, the last webhook that was set, and where it is.
func (a *hookAPI) seen() (asked []string, last telegram.WebhookRequest, url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.asked...), a.last, a.info.URL
}

// failing has a method fail, nil ends it.
func (a *hookAPI) failing(method string, err error) {
	a.with(func(a *hookAPI) { a.fails = map[string]error{method: err} })
}

func hookRefusal(method string, code int, text string) *telegram.Error {
	return &telegram.Error{Method: method, Status: code, Code: code, Description: text, Written: true}
}

// registering is a registration that runs inside a bubble.
type registering struct {
	*hookAPI
	watch *watch
	log   *lines
	stop  context.CancelFunc
	ended chan struct{}
}

func register(t *testing.T, api *hookAPI, takeOver bool) *registering {
	t.Helper()
	return begin(t, api, takeOver, (*starter.Registration).Run)
}

func begin(t *testing.T, api *hookAPI, takeOver bool, run func(*starter.Registration, context.Context)) *registering {
	t.Helper()
	r := &registering{hookAPI: api, watch: &watch{}, log: &lines{}, ended: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	hook := telegram.WebhookRequest{URL: ours, Secret: postSecret, AllowedUpdates: []string{"message"}, MaxConnections: 7}
	registration := starter.NewRegistration(api, hook, takeOver, r.watch, slog.New(slog.NewTextHandler(r.log, nil)))
	go func() {
		run(registration, ctx)
		close(r.ended)
	}()
	t.Cleanup(stop)
	synctest.Wait()
	return r
}

func TestTheWebhookIsSetWithAllThatWasAsked(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]string{
		"none": "", "ours": ours, "ours in another form": "HTTPS://Bot.Example.org:443/hook/SECRET-path",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := register(t, &hookAPI{info: telegram.WebhookInfo{URL: found}}, false)
			asked, last, _ := r.seen()
			require.Equal(t, []string{"getWebhookInfo", "setWebhook"}, asked, name)
			require.Equal(t, telegram.WebhookRequest{URL: ours, Secret: postSecret, AllowedUpdates: []string{"message"}, MaxConnections: 7}, last)
			elapse(10 * time.Minute)
			require.Equal(t, 1, r.count("setWebhook"), "once")
			require.Equal(t, 11, r.count("getWebhookInfo"), "and looked at each minute")
			require.Empty(t, r.watch.told())
			r.stop()
			<-r.ended
			require.Zero(t, r.count("deleteWebhook"), "the next on duty takes it over")
			require.NotContains(t, r.log.String(), "SECRET")
		})
	}
}

func TestAForeignWebhookIsNeverTouched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := register(t, &hookAPI{info: telegram.WebhookInfo{URL: foreign}}, false)
		elapse(time.Hour)
		require.Zero(t, r.count("setWebhook"))
		require.Zero(t, r.count("deleteWebhook"))
		require.Equal(t, 61, r.count("getWebhookInfo"))
		require.Equal(t, "a webhook at other.example.com is set for this bot: remove it with deleteWebhook, or start with --take-over to replace it",
			r.watch.text(0))
		require.Equal(t, starter.ForeignWebhook, r.watch.told()[0])
		require.Equal(t, 1, r.log.count("the webhook is in trouble"))
		require.NotContains(t, r.log.String()+r.watch.text(0), "THEIR-path")
		r.with(func(a *hookAPI) { a.info.URL = "" })
		elapse(time.Minute)
		require.Equal(t, 1, r.count("setWebhook"), "it has gone away")
		require.Equal(t, starter.Fine, r.watch.told()[len(r.watch.told())-1])
	})
}

func TestATakeOverReplacesAForeignWebhookOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := register(t, &hookAPI{info: telegram.WebhookInfo{URL: foreign}, fails: map[string]error{"setWebhook": errHTML}}, true)
		elapse(time.Minute)
		r.failing("setWebhook", nil)
		elapse(time.Minute)
		_, _, url := r.seen()
		require.Equal(t, ours, url)
		require.Contains(t, r.log.String(), "in_place_of=other.example.com")
		require.NotContains(t, r.log.String(), "THEIR-path")
		set := r.count("setWebhook")
		r.with(func(a *hookAPI) { a.info.URL = foreign })
		elapse(time.Hour)
		require.Equal(t, set, r.count("setWebhook"), "two that take over would do so for ever")
		told := r.watch.told()
		require.Equal(t, starter.ForeignWebhook, told[len(told)-1])
		require.Contains(t, r.watch.text(len(told)-1), "somebody has replaced the webhook of this bot by one at other.example.com")
	})
}

func TestAWebhookThatSomebodyRemovesIsSetAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := register(t, &hookAPI{}, false)
		r.with(func(a *hookAPI) { a.info.URL = "" })
		elapse(time.Minute)
		require.Equal(t, 2, r.count("setWebhook"))
		require.Contains(t, r.log.String(), "was_removed=true")
	})
}

func TestAWebhookThatCannotBeSetIsTriedAgain(t *testing.T) {
	t.Parallel()
	limit := hookRefusal("setWebhook", http.StatusTooManyRequests, "Too Many Requests: retry after 100")
	limit.RetryAfter = 100 * time.Second
	for _, row := range []struct {
		name        string
		err         error
		least, most time.Duration // until the next try
		kind        starter.Trouble
	}{
		{"502", errHTML, 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"no answer", errTimeout, 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"another sets one", hookRefusal("setWebhook", 409, "Conflict: terminated by other setWebhook"), 750 * time.Millisecond, time.Second, starter.TelegramAway},
		{"429", limit, 100 * time.Second, 101 * time.Second, starter.Limited},
		{"400", hookRefusal("setWebhook", 400, "Bad Request: bad webhook: IP address 10.0.0.1 is reserved"), time.Minute, time.Minute, starter.Rejected},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := register(t, &hookAPI{fails: map[string]error{"setWebhook": row.err}}, false)
			require.Equal(t, []starter.Trouble{row.kind}, r.watch.told(), row.name)
			elapse(row.least - 1)
			require.Equal(t, 1, r.count("setWebhook"), row.name)
			elapse(row.most - row.least + 1)
			require.Equal(t, 2, r.count("setWebhook"), row.name)
			r.failing("setWebhook", nil)
			elapse(2 * time.Minute)
			_, _, url := r.seen()
			require.Equal(t, ours, url, row.name)
			require.Equal(t, starter.Fine, r.watch.told()[len(r.watch.told())-1])
			require.Equal(t, 1, r.log.count("the webhook is in trouble"))
		})
	}
}

func TestARefusedWebhookIsToldInTelegramsWordsWithItsHostAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := register(t, &hookAPI{fails: map[string]error{
			"setWebhook": hookRefusal("setWebhook", 400, "Bad Request: bad webhook: IP address 10.0.0.1 is reserved"),
		}}, false)
		require.Equal(t, "Telegram refuses the webhook at bot.example.org, see --webhook-url: telegram: setWebhook: status 400: "+
			"Bad Request: bad webhook: IP address 10.0.0.1 is reserved", r.watch.text(0))
	})
}

func TestTheTriesOfARegistrationBackOffToAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := register(t, &hookAPI{fails: map[string]error{"getWebhookInfo": errHTML}}, false)
		elapse(time.Hour)
		require.Less(t, r.count("getWebhookInfo"), 120)
		before := r.count("getWebhookInfo")
		elapse(10 * time.Minute)
		require.InDelta(t, 11, r.count("getWebhookInfo")-before, 3)
		alive, broken := r.watch.promise()
		require.True(t, alive.After(time.Now()))
		require.LessOrEqual(t, broken, time.Duration(0), "no promise was broken")
	})
}

func TestATokenIsRefusedOnlyIfGetMeSaysSo(t *testing.T) {
	t.Parallel()
	for me, kind := range map[error]starter.Trouble{nil: starter.TelegramAway, errUnauthorized: starter.Refused, errHTML: starter.TelegramAway} {
		for _, err := range []error{errUnauthorized, errNotFound} {
			synctest.Test(t, func(t *testing.T) {
				r := register(t, &hookAPI{fails: map[string]error{"getWebhookInfo": err, "getMe": me}}, false)
				require.Equal(t, []starter.Trouble{kind}, r.watch.told())
			})
		}
	}
}

func TestPostsThatFailAreToldInTelegramsWordsWhileUpdatesWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old := time.Now().Add(-time.Hour)
		r := register(t, &hookAPI{info: telegram.WebhookInfo{URL: ours, PendingUpdateCount: 3, LastErrorDate: old, LastErrorMessage: "long ago"}}, false)
		elapse(5 * time.Minute)
		require.Empty(t, r.watch.told(), "an error from before is none of this webhook")

		r.with(func(a *hookAPI) {
			a.info.LastErrorDate, a.info.LastErrorMessage = old.Add(time.Minute), "Read timeout expired"
		})
		elapse(time.Minute)
		require.Equal(t, []starter.Trouble{starter.Undelivered}, r.watch.told(), "whatever Telegram's clock says")
		require.Equal(t, "Telegram cannot deliver to bot.example.org, and 3 updates wait: Read timeout expired", r.watch.text(0))
		elapse(time.Minute)
		require.NotContains(t, r.watch.told(), starter.Fine, "it tries again within two minutes only")
		require.Equal(t, 1, r.log.count("the webhook is in trouble"))
		r.with(func(a *hookAPI) { a.info.PendingUpdateCount = 0 })
		elapse(time.Minute)
		require.Equal(t, starter.Fine, r.watch.told()[len(r.watch.told())-1], "nothing waits any more")
	})
}

func TestNoNewErrorForAWhileIsWellAlthoughUpdatesWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := register(t, &hookAPI{info: telegram.WebhookInfo{PendingUpdateCount: 9}}, false)
		r.with(func(a *hookAPI) { a.info.LastErrorDate, a.info.LastErrorMessage = time.Now(), "Connection refused" })
		elapse(time.Minute)
		require.Len(t, r.watch.told(), 1)
		elapse(3 * time.Minute)
		require.Equal(t, starter.Fine, r.watch.told()[len(r.watch.told())-1])
	})
}

func TestToPollEveryWebhookIsRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, &hookAPI{info: telegram.WebhookInfo{URL: foreign, PendingUpdateCount: 5}, fails: map[string]error{"deleteWebhook": errHTML}},
			true, (*starter.Registration).Remove)
		require.Equal(t, []starter.Trouble{starter.TelegramAway}, r.watch.told())
		r.failing("deleteWebhook", nil)
		<-r.ended
		_, _, url := r.seen()
		require.Empty(t, url)
		require.Equal(t, 2, r.count("deleteWebhook"))
		require.Contains(t, r.log.String(), "host=other.example.com")
		require.NotContains(t, r.log.String(), "THEIR-path")
		require.Equal(t, starter.Fine, r.watch.told()[len(r.watch.told())-1])

		r = begin(t, &hookAPI{}, true, (*starter.Registration).Remove)
		<-r.ended
		asked, _, _ := r.seen()
		require.Equal(t, []string{"getWebhookInfo"}, asked, "there is none")
	})
}

func TestARegistrationThatIsStoppedIsNoTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := &hookAPI{}
		api.fails = map[string]error{"getWebhookInfo": errors.New("cut")}
		r := &registering{watch: &watch{}, log: &lines{}}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		starter.NewRegistration(api, telegram.WebhookRequest{URL: ours}, false, r.watch, slog.New(slog.NewTextHandler(r.log, nil))).Run(ctx)
		require.Empty(t, r.watch.told())
		require.Empty(t, r.log.String())
	})
}

func TestOneAddressInAnotherFormIsTheSame(t *testing.T) {
	t.Parallel()
	for _, other := range []string{"https://a.example/x", "https://A.EXAMPLE/x", "https://a.example:443/x", "https://a.example/x/"} {
		require.True(t, starter.SameAddress("https://a.example/x", other), other)
	}
	for _, other := range []string{
		"", "http://a.example/x", "https://a.example:8443/x", "https://b.example/x", "https://a.example/X", "https://a.example/x?y", "https://a.example", "%zz",
	} {
		require.False(t, starter.SameAddress("https://a.example/x", other), other)
	}
	require.True(t, starter.SameAddress("%zz", "%zz"))
}
