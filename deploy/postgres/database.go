package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/tools/sql"
)

// database is where one server keeps what it knows: the store, and beside it the
// one that lists are asked of.
type database struct {
	file                   string
	user, password         string
	host, port, name, list string
}

// databases are those of a file, in the PostgreSQL at user:password@host:port.
func databases(postgres, file string) (database, error) {
	login, address, ok := strings.Cut(postgres, "@")
	user, password, _ := strings.Cut(login, ":")
	host, port, has := strings.Cut(address, ":")
	if !ok || !has || user == "" {
		return database{}, errors.New("POSTGRES: want user:password@host:port of a PostgreSQL whose user may make databases")
	}
	name := named(file)
	return database{file: file, user: user, password: password, host: host, port: port, name: name, list: name + "_visibility"}, nil
}

// prepare makes the databases, unless the file says that they are there.
func (d database) prepare() error {
	if _, err := os.Stat(d.file); err == nil {
		return nil
	}
	for name, schema := range map[string]string{d.name: "temporal", d.list: "visibility"} {
		for _, step := range [][]string{
			{"create-database"},
			{"setup-schema", "--version", "0.0"},
			{"update-schema", "--schema-name", "postgresql/v12/" + schema},
		} {
			// An error ends the process: the tool is a program.
			tool := []string{"temporal-sql-tool", "--plugin", postgresql.PluginName, "--ep", d.host, "--port", d.port, "--user", d.user, "--password", d.password, "--db", name}
			if err := sql.RunTool(append(tool, step...)); err != nil {
				return fmt.Errorf("%s of %s: %w", step[0], name, err)
			}
		}
	}
	return os.WriteFile(d.file, []byte(d.name+"\n"), 0o600)
}

// store is a database as the server's settings have it.
func (d database) store(name string) config.DataStore {
	return config.DataStore{SQL: &config.SQL{
		PluginName: postgresql.PluginName, DatabaseName: name, ConnectAddr: d.host + ":" + d.port, ConnectProtocol: "tcp",
		User: d.user, Password: d.password, MaxConns: 20, MaxIdleConns: 20, MaxConnLifetime: time.Hour,
	}}
}
