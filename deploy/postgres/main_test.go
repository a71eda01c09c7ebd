package main

import (
	"strings"
	"testing"
)

// TestTheDevServersCommandLineIsTaken with the flags that the tests and the bench
// give it.
func TestTheDevServersCommandLineIsTaken(t *testing.T) {
	t.Parallel()
	o, err := parse(strings.Fields("server start-dev --ip 127.0.0.1 --port 7300 --headless --log-level error --db-filename /tmp/a.db " +
		"--sqlite-pragma journal_mode=wal --search-attribute TgChat=Keyword --dynamic-config-value matching.useNewMatcher=true --dynamic-config-value limit.blobSize.warn=7"))
	if err != nil {
		t.Fatal(err)
	}
	if o.ip != "127.0.0.1" || o.port != 7300 || o.file != "/tmp/a.db" {
		t.Errorf("got %+v", o)
	}
	if o.dynamic["matching.usenewmatcher"] != true || o.dynamic["limit.blobsize.warn"] != 7 {
		t.Errorf("dynamic config is %v", o.dynamic)
	}
	if _, err := parse([]string{"workflow", "list"}); err == nil || !strings.Contains(err.Error(), "usage:") {
		t.Errorf("another command: got %v", err)
	}
}

func TestADatabaseIsNamedByItsFile(t *testing.T) {
	t.Parallel()
	one, err := databases("temporal:secret@127.0.0.1:5433", "/tmp/a.db")
	if err != nil {
		t.Fatal(err)
	}
	other, _ := databases("temporal:secret@127.0.0.1:5433", "/tmp/b.db")
	if one.name == other.name || one.list != one.name+"_visibility" || one.port != "5433" || one.password != "secret" {
		t.Errorf("got %+v and %+v", one, other)
	}
	if _, err := databases("", "/tmp/a.db"); err == nil || !strings.Contains(err.Error(), "POSTGRES") {
		t.Errorf("without a PostgreSQL: got %v", err)
	}
}
