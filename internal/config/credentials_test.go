package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/config"
)

var ends = time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)

func credentials(t *testing.T, vars map[string]string) config.Credentials {
	t.Helper()
	vars["TEMPORAL_CONFIG_FILE"] = filepath.Join(t.TempDir(), "none.toml")
	e := env(vars)
	options, err := e.Temporal()
	require.NoError(t, err)
	c, err := e.Credentials(options)
	require.NoError(t, err)
	return c
}

func TestCredentialsSayWhenTheyEnd(t *testing.T) {
	t.Parallel()
	claims := func(s string) string { return "e30." + base64.RawURLEncoding.EncodeToString([]byte(s)) + ".sig" }
	for name, c := range map[string]struct {
		vars map[string]string
		want config.Credentials
	}{
		"none":                     {map[string]string{}, config.Credentials{}},
		"a key that says when":     {map[string]string{"TEMPORAL_API_KEY": claims(`{"exp":1803859200}`)}, config.Credentials{Kind: "API key", Until: ends}},
		"a key that does not":      {map[string]string{"TEMPORAL_API_KEY": claims(`{}`)}, config.Credentials{Kind: "API key"}},
		"a key that is no token":   {map[string]string{"TEMPORAL_API_KEY": "key"}, config.Credentials{Kind: "API key"}},
		"a key that looks like it": {map[string]string{"TEMPORAL_API_KEY": "a.%.c"}, config.Credentials{Kind: "API key"}},
		"a certificate":            {certificate(t), config.Credentials{Kind: "client certificate", Until: ends}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, credentials(t, c.vars))
		})
	}
}

// certificate are the variables of a client's certificate.
func certificate(t *testing.T) map[string]string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: ends}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return map[string]string{
		"TEMPORAL_TLS_CLIENT_CERT_DATA": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})),
		"TEMPORAL_TLS_CLIENT_KEY_DATA":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	}
}
