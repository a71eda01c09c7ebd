package cli_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Temporal Cloud takes a client certificate or an API key, over TLS, and both are
// read from Temporal's own profiles.

func TestAProfilesCertificateIsShownToTemporal(t *testing.T) {
	t.Parallel()
	ours := newIdentity(t)
	pool := x509.NewCertPool()
	pool.AddCert(ours.pair.Leaf)
	want := &tls.Config{Certificates: []tls.Certificate{ours.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS12}
	f := &fakeTemporal{retention: 720 * time.Hour, attributes: registered()}
	address := f.start(t, grpc.Creds(credentials.NewTLS(want)))
	d, c := examine(t, profile(t, address, fmt.Sprintf(`
[profile.cloud.tls]
client_cert_path = %q
client_key_path = %q
server_ca_cert_path = %q
`, ours.cert, ours.key, ours.cert)), "--bot", "7")
	require.Equal(t, "ok", d.levels()["temporal"], c.out)
	require.Equal(t, "ok", d.levels()["namespace"], c.out)
	require.Contains(t, c.out, "client certificate, until ")

	d, _ = examine(t, profile(t, address, fmt.Sprintf("[profile.cloud.tls]\nserver_ca_cert_path = %q\n", ours.cert)), "--bot", "7")
	require.Equal(t, "problem", d.levels()["temporal"], "nobody is let in without one")
}

func TestAProfilesAPIKeyIsShownToTemporal(t *testing.T) {
	t.Parallel()
	ours, key := newIdentity(t), keyUntil(time.Now().Add(90*24*time.Hour))
	f := &fakeTemporal{retention: 720 * time.Hour, attributes: registered(), denied: true}
	address := f.start(t, grpc.Creds(credentials.NewServerTLSFromCert(&ours.pair)), grpc.UnaryInterceptor(onlyWith(key)))
	tls := fmt.Sprintf("[profile.cloud.tls]\nserver_ca_cert_path = %q\n", ours.cert)
	d, c := examine(t, profile(t, address, fmt.Sprintf("api_key = %q\n%s", key, tls)), "--bot", "7")
	require.Equal(t, "ok", d.levels()["namespace"], c.out)
	require.Contains(t, c.out, "API key, until ")
	require.NotContains(t, c.out+c.errout, key)

	d, c = examine(t, profile(t, address, fmt.Sprintf("api_key = %q\n%s", "another", tls)), "--bot", "7")
	require.Equal(t, "problem", d.levels()["namespace"])
	require.Contains(t, c.out, "TEMPORAL_API_KEY: Temporal at "+address+" refuses these credentials")
	require.NotContains(t, c.out+c.errout, "another")
}

// onlyWith lets in those who show this key and name the namespace, as Temporal
// Cloud does.
func onlyWith(key string) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		if fmt.Sprint(md["authorization"]) != "[Bearer "+key+"]" || fmt.Sprint(md["temporal-namespace"]) != "[bots.a1b2c]" {
			return nil, status.Error(codes.Unauthenticated, "invalid token")
		}
		return handle(ctx, req)
	}
}

// profile are the variables that choose a profile of this text.
func profile(t *testing.T, address, rest string) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "temporal.toml")
	text := fmt.Sprintf("[profile.cloud]\naddress = %q\nnamespace = \"bots.a1b2c\"\n%s", address, rest)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return map[string]string{"TEMPORAL_CONFIG_FILE": path, "TEMPORAL_PROFILE": "cloud"}
}

// identity is a certificate that signs itself, and the files it is in.
type identity struct {
	pair      tls.Certificate
	cert, key string
}

func newIdentity(t *testing.T) identity {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(90 * 24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	id := identity{cert: filepath.Join(t.TempDir(), "client.pem"), key: filepath.Join(t.TempDir(), "client.key")}
	require.NoError(t, os.WriteFile(id.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600))
	require.NoError(t, os.WriteFile(id.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	id.pair, err = tls.LoadX509KeyPair(id.cert, id.key)
	require.NoError(t, err)
	return id
}
