package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telemetry"
)

const secret = "AAsecretAA"

func hide(s string) string { return strings.ReplaceAll(s, secret, "[hidden]") }

func logger(t *testing.T, level, format string) (*slog.Logger, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	log, err := telemetry.NewLogger(&out, level, format, hide)
	require.NoError(t, err)
	return log, &out
}

// stringer shows a secret when it is printed.
type stringer struct{}

func (stringer) String() string { return "s " + secret }

// valuer shows it when it is logged.
type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.GroupValue(slog.String("v", secret)) }

func TestNoSecretPassesALoggerWhateverItIsWrappedIn(t *testing.T) {
	t.Parallel()
	link, err := url.Parse("https://api.telegram.org/bot" + secret + "/getMe")
	require.NoError(t, err)
	failure := fmt.Errorf("getMe: %w", errors.New("at "+secret))
	for name, value := range map[string]any{
		"string": "token " + secret + " twice " + secret, "error": failure, "stringer": stringer{}, "valuer": valuer{}, "url": link,
		"slice": []string{secret}, "map": map[string]any{"k": secret}, "struct": struct{ T string }{secret}, "bytes": json.RawMessage(`"` + secret + `"`),
		"group": slog.GroupValue(slog.String("a", secret), slog.Any("b", failure)),
	} {
		for _, format := range []string{"json", "text"} {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				log, out := logger(t, "info", format)
				log.InfoContext(t.Context(), "call", "value", value)
				log.With("value", value).WithGroup("g").InfoContext(t.Context(), "call", "n", 1)
				require.NotContains(t, out.String(), secret)
				require.Equal(t, 2, strings.Count(out.String(), "\n"))
			})
		}
	}
}

func TestNoSecretPassesInAMessageOrAKey(t *testing.T) {
	t.Parallel()
	log, out := logger(t, "info", "json")
	log.InfoContext(t.Context(), "a "+secret, secret, 1) //nolint:sloglint // the point is what must not be done
	require.NotContains(t, out.String(), secret)
	require.Contains(t, out.String(), "a [hidden]")
}

func TestAnErrorIsLoggedByItsText(t *testing.T) {
	t.Parallel()
	log, out := logger(t, "info", "json")
	log.WarnContext(t.Context(), "poll", "error", errors.New("at "+secret), "update_id", int64(9007199254740993))
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.Equal(t, "at [hidden]", line["error"])
	require.Equal(t, "WARN", line["level"])
	require.Contains(t, out.String(), `"update_id":9007199254740993`)
}

func TestALogValueThatIsNilIsNoPanic(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		log, out := logger(t, "info", format)
		require.NotPanics(t, func() {
			log.InfoContext(t.Context(), "call", "url", (*url.URL)(nil), "error", error(nil), "buffer", (*bytes.Buffer)(nil))
		})
		require.Contains(t, out.String(), "call")
	}
}

func TestALogIsJSONWhereNobodyWatches(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	log, err := telemetry.NewLogger(file, "info", "", hide)
	require.NoError(t, err)
	log.InfoContext(t.Context(), "hello")
	data, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	require.True(t, json.Valid(data), "a file is no terminal")

	other, out := logger(t, "info", "")
	other.InfoContext(t.Context(), "hello")
	require.True(t, json.Valid(out.Bytes()), "and neither is a buffer")
}

func TestTheFormatIsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	log, out := logger(t, "info", "text")
	log.InfoContext(t.Context(), "hello", "chat_id", 42)
	require.Contains(t, out.String(), "level=INFO msg=hello chat_id=42")
}

func TestTheLevelHoldsBack(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]int{"debug": 4, "info": 3, "warn": 2, "ERROR": 1} {
		log, out := logger(t, level, "json")
		log.DebugContext(t.Context(), "d")
		log.InfoContext(t.Context(), "i")
		log.WarnContext(t.Context(), "w")
		log.ErrorContext(t.Context(), "e")
		require.Equal(t, want, strings.Count(out.String(), "\n"), level)
	}
}

func TestAWrongLevelOrFormatNamesItsFlag(t *testing.T) {
	t.Parallel()
	_, err := telemetry.NewLogger(&bytes.Buffer{}, "loud", "json", hide)
	require.EqualError(t, err, `--log-level: want debug, info, warn or error, got "loud"`)
	_, err = telemetry.NewLogger(&bytes.Buffer{}, "info", "xml", hide)
	require.EqualError(t, err, `--log-format: want text or json, got "xml"`)
}

// full is a disk that is.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAFullDiskIsAnErrorOfTheHandler(t *testing.T) {
	t.Parallel()
	log, err := telemetry.NewLogger(full{}, "info", "json", hide)
	require.NoError(t, err)
	require.ErrorContains(t, log.Handler().Handle(t.Context(), slog.Record{Message: "x"}), "disk full")
}
