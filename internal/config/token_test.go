package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/config"
)

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestTheTokenComesFromItsVariableOrItsFile(t *testing.T) {
	t.Parallel()
	for name, vars := range map[string]map[string]string{
		"variable":                {"TELEGRAM_BOT_TOKEN": goodToken},
		"variable before file":    {"TELEGRAM_BOT_TOKEN": goodToken, "TELEGRAM_BOT_TOKEN_FILE": "/does/not/exist"},
		"file":                    {"TELEGRAM_BOT_TOKEN_FILE": file(t, goodToken)},
		"file that ends a line":   {"TELEGRAM_BOT_TOKEN_FILE": file(t, goodToken+"\n")},
		"file, variable is empty": {"TELEGRAM_BOT_TOKEN": "", "TELEGRAM_BOT_TOKEN_FILE": file(t, goodToken)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token, err := env(vars).Token()
			require.NoError(t, err)
			require.Equal(t, goodToken, token.Reveal())
		})
	}
}

func TestWithoutATokenTheErrorSaysWhereToGetOne(t *testing.T) {
	t.Parallel()
	for _, vars := range []map[string]string{
		nil, {"TELEGRAM_BOT_TOKEN": ""}, {"TELEGRAM_BOT_TOKEN_FILE": ""}, {"TELEGRAM_BOT_TOKEN_FILE": file(t, "")},
	} {
		_, err := env(vars).Token()
		require.ErrorIs(t, err, config.ErrNoToken)
		require.ErrorContains(t, err, "@BotFather")
	}
}

func TestAWrongTokenIsNamedByItsVariableAndNeverQuoted(t *testing.T) {
	t.Parallel()
	const nearly = "123456 ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi"
	_, err := env(map[string]string{"TELEGRAM_BOT_TOKEN": nearly}).Token()
	require.ErrorContains(t, err, "TELEGRAM_BOT_TOKEN: ")
	require.NotContains(t, err.Error(), "ABCDEF")

	_, err = env(map[string]string{"TELEGRAM_BOT_TOKEN_FILE": file(t, nearly)}).Token()
	require.ErrorContains(t, err, "TELEGRAM_BOT_TOKEN_FILE: ")
	require.NotContains(t, err.Error(), "ABCDEF")
}

func TestATokenFileThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none")
	_, err := env(map[string]string{"TELEGRAM_BOT_TOKEN_FILE": path}).Token()
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "TELEGRAM_BOT_TOKEN_FILE: ")
	require.ErrorContains(t, err, path)
}

func TestAVariableThatIsNotSetIsEmpty(t *testing.T) {
	t.Parallel()
	require.Empty(t, env(nil).Value("X"))
	require.Equal(t, "y", env(map[string]string{"X": "y"}).Value("X"))
}
