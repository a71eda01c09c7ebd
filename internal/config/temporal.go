package config

import (
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Temporal reads Temporal's own variables (TEMPORAL_ADDRESS,
// TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, …) and profiles, as its command line does.
func (e Env) Temporal() (client.Options, error) {
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: lookup{e}})
	if err != nil {
		return client.Options{}, fmt.Errorf("TEMPORAL_… settings: %w", err)
	}
	if options.HostPort == "" {
		options.HostPort = client.DefaultHostPort
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	return options, nil
}

// lookup is an Env as envconfig wants it.
type lookup struct{ Env }

func (l lookup) LookupEnv(name string) (string, bool) { return l.Env(name) }

// Environ lists variables by prefix, which only TEMPORAL_GRPC_META_… needs; it
// is the process's own.
func (l lookup) Environ() []string { return envconfig.EnvLookupOS.Environ() }
