package config

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Credentials are what a process shows to Temporal.
type Credentials struct {
	// Kind is "API key", "client certificate", or "" for none.
	Kind string
	// Until is when they end, zero where they do not say.
	Until time.Time
}

// Credentials are those of Temporal's own variables and profiles.
func (e Env) Credentials(options client.Options) (Credentials, error) {
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{EnvLookup: lookup{e}})
	if err != nil {
		return Credentials{}, fmt.Errorf("TEMPORAL_… settings: %w", err)
	}
	if profile.APIKey != "" {
		return Credentials{Kind: "API key", Until: expiry(profile.APIKey)}, nil
	}
	if tls := options.ConnectionOptions.TLS; tls != nil && len(tls.Certificates) > 0 {
		c := Credentials{Kind: "client certificate"}
		if leaf := tls.Certificates[0].Leaf; leaf != nil {
			c.Until = leaf.NotAfter
		}
		return c, nil
	}
	return Credentials{}, nil
}

// expiry is when a key ends that is a JSON Web Token (RFC 7519, "exp"), zero for
// every other. Nothing of it is verified: only its server can do that.
func expiry(key string) time.Time {
	parts := strings.Split(key, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Exp int64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(raw, &claims) != nil || claims.Exp <= 0 {
		return time.Time{}
	}
	return time.Unix(claims.Exp, 0).UTC()
}
