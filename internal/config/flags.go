package config

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// Fill gives each flag that was not set on the command line the value of its
// variable: DURABOT_GLOBAL_PER_SECOND for --global-per-second.
func (e Env) Fill(flags *pflag.FlagSet) error {
	var first error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "DURABOT_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := e(name)
		if !ok || f.Changed || first != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			first = fmt.Errorf("%s: want a %s, got %q", name, f.Value.Type(), value)
		}
	})
	return first
}
