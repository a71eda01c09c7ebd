package config_test

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// options are flags of every type in use.
type options struct {
	rate   float64
	burst  int
	name   string
	on     bool
	age    time.Duration
	values []string
}

func flags(t *testing.T, args ...string) (*pflag.FlagSet, *options) {
	t.Helper()
	o := &options{}
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.Float64Var(&o.rate, "global-per-second", 28, "")
	f.IntVar(&o.burst, "chat-burst", 3, "")
	f.StringVar(&o.name, "intake", "poll", "")
	f.BoolVar(&o.on, "auto-answer-callbacks", true, "")
	f.DurationVar(&o.age, "max-update-age", 0, "")
	f.StringSliceVar(&o.values, "allowed-updates", []string{"message"}, "")
	require.NoError(t, f.Parse(args))
	return f, o
}

func TestAFlagGoesBeforeAVariableAndAVariableBeforeTheDefault(t *testing.T) {
	t.Parallel()
	vars := env(map[string]string{"DURABOT_GLOBAL_PER_SECOND": "7.5", "DURABOT_CHAT_BURST": "9"})
	f, o := flags(t, "--chat-burst", "4")
	require.NoError(t, vars.Fill(f))
	require.Equal(t, &options{rate: 7.5, burst: 4, name: "poll", on: true, values: []string{"message"}}, o)
}

func TestAFlagSetToItsDefaultStillGoesFirst(t *testing.T) {
	t.Parallel()
	f, o := flags(t, "--chat-burst=3", "--auto-answer-callbacks=true")
	require.NoError(t, env(map[string]string{"DURABOT_CHAT_BURST": "9", "DURABOT_AUTO_ANSWER_CALLBACKS": "false"}).Fill(f))
	require.Equal(t, 3, o.burst)
	require.True(t, o.on)
}

func TestEveryTypeOfFlagHasAVariable(t *testing.T) {
	t.Parallel()
	f, o := flags(t)
	require.NoError(t, env(map[string]string{
		"DURABOT_GLOBAL_PER_SECOND": "0", "DURABOT_CHAT_BURST": "1", "DURABOT_INTAKE": "", "DURABOT_AUTO_ANSWER_CALLBACKS": "false",
		"DURABOT_MAX_UPDATE_AGE": "10m", "DURABOT_ALLOWED_UPDATES": "message,poll",
	}).Fill(f))
	require.Equal(t, &options{burst: 1, age: 10 * time.Minute, values: []string{"message", "poll"}}, o, "an empty variable is a value, too")
}

func TestAWrongVariableIsNamed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ value, want string }{
		"DURABOT_CHAT_BURST":            {"many", `DURABOT_CHAT_BURST: want a int, got "many"`},
		"DURABOT_GLOBAL_PER_SECOND":     {"", `DURABOT_GLOBAL_PER_SECOND: want a float64, got ""`},
		"DURABOT_MAX_UPDATE_AGE":        {"10", `DURABOT_MAX_UPDATE_AGE: want a duration, got "10"`},
		"DURABOT_AUTO_ANSWER_CALLBACKS": {"yes!", `DURABOT_AUTO_ANSWER_CALLBACKS: want a bool, got "yes!"`},
	} {
		f, _ := flags(t)
		require.EqualError(t, env(map[string]string{name: row.value}).Fill(f), row.want)
	}
}

func TestOfSeveralWrongVariablesTheFirstIsNamed(t *testing.T) {
	t.Parallel()
	f, _ := flags(t)
	err := env(map[string]string{"DURABOT_MAX_UPDATE_AGE": "x", "DURABOT_CHAT_BURST": "y"}).Fill(f)
	require.ErrorContains(t, err, "DURABOT_CHAT_BURST")
	require.NotContains(t, err.Error(), "DURABOT_MAX_UPDATE_AGE")
}
