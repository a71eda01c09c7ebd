# What a developer runs; `make` alone lists it. CI runs the same targets.
# Needs Go and make. Tools are built into bin/ under their version.

GOLANGCI_VERSION      := v2.15.0
WORKFLOWCHECK_VERSION := v0.6.0
GOVULNCHECK_VERSION   := v1.9.0

golangci      := bin/golangci-lint-$(GOLANGCI_VERSION)
workflowcheck := bin/workflowcheck-$(WORKFLOWCHECK_VERSION)
govulncheck   := bin/govulncheck-$(GOVULNCHECK_VERSION)

VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Flags for every go test, such as TESTFLAGS='-race -count=1'.
TESTFLAGS ?=
# Arguments for make dev and make bench, such as ARGS='--telegram'.
ARGS      ?=
# One package may run real servers for minutes; a hang must still end.
timeout   := -timeout 20m

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: dev
dev: build ## Run everything here: Temporal with its UI, a Telegram simulator with a chat page, the bot
	@bin/durabot dev $(ARGS)

.PHONY: build
build: ## Build bin/durabot
	go build -trimpath -ldflags '-X github.com/durabot/durabot/internal/cli.Version=$(VERSION)' -o bin/durabot ./cmd/durabot

.PHONY: test
test: server ## Run all tests: of the parts, of the whole on a real Temporal server, of the examples
	go test $(timeout) $(TESTFLAGS) ./...
	@$(MAKE) --no-print-directory examples

.PHONY: unit
unit: ## Run the tests of the parts alone
	go test $(timeout) $(TESTFLAGS) $$(go list ./... | grep -v '/e2e')

.PHONY: e2e
e2e: server ## Run the tests of the guarantees, on a real Temporal server and the simulator
	go test $(timeout) $(TESTFLAGS) ./e2e/...

.PHONY: torture
torture: server ## Torment all guarantees at once: 20 seeds, about 100 s each, every third by webhook; ARGS='-torture.seed=7 -torture.seeds=1'
	go test ./e2e -count=1 -timeout 2h -run G11 -v -torture.for=40s -torture.seeds=20 $(ARGS)

.PHONY: outage
outage: server ## Have the network gone for a quarter of an hour: to Telegram, to Temporal, to both; ARGS='-away.for=1h'
	go test ./e2e -count=1 -timeout 3h -run TestAway -v -away.for=15m $(ARGS)

# The build that make rolling begins with: a commit or a tag.
OLD       ?= HEAD

.PHONY: rolling
rolling: server ## Roll an older build forward to this one and back under load, 5 minutes; OLD=v1.0.0
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	git archive -o "$$dir/old.tar" $(OLD) && mkdir "$$dir/old" && tar -xf "$$dir/old.tar" -C "$$dir/old" && \
	(cd "$$dir/old" && go build -o "$$dir/testbot" ./e2e/testbot) && \
	go test ./e2e -count=1 -timeout 30m -run Rolling -v -rolling.old="$$dir/testbot" -rolling.for=5m $(ARGS)

.PHONY: deploy
deploy: server $(golangci) ## Check the files of deploy/ against the program, without a container engine
	@for module in deploy/*/go.mod; do \
		echo "cd $${module%/go.mod} && go vet ./... && golangci-lint run && go test ./..."; \
		(cd "$${module%/go.mod}" && go vet ./... && ../../$(golangci) run && go test $(timeout) $(TESTFLAGS) ./...) || exit 1; \
	done

.PHONY: examples
examples: ## Test the examples, each a module of its own
	@for module in examples/*/go.mod; do \
		[ -e "$$module" ] || continue; \
		echo "cd $${module%/go.mod} && go test ./..."; \
		(cd "$${module%/go.mod}" && go vet ./... && go test $(timeout) $(TESTFLAGS) ./...) || exit 1; \
	done

.PHONY: fuzz
fuzz: ## Fuzz every parser of bytes from outside, 10 s each
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sort | while IFS=: read -r file target; do \
		echo "$${file%/*} $${target#func }"; \
		go test -run '^$$' -fuzz "^$${target#func }$$" -fuzztime 10s "$${file%/*}" </dev/null || exit 1; \
	done

.PHONY: bench
bench: server ## Measure speed, and how limits are kept, on this machine (about 75 minutes)
	go run ./e2e/bench $(ARGS)

.PHONY: lint
lint: $(golangci) $(workflowcheck) ## Check style, the import table and that workflows are deterministic
	go vet ./...
	$(golangci) run
	$(workflowcheck) ./workflows/...

.PHONY: fmt
fmt: $(golangci) ## Format the code and apply the fixes that lint knows itself
	$(golangci) fmt
	$(golangci) run --fix --issues-exit-code 0

.PHONY: vuln
vuln: $(govulncheck) ## Look for known vulnerabilities; skipped when their database cannot be reached
	@out=$$($(govulncheck) ./... 2>&1) && code=0 || code=$$?; echo "$$out"; \
	case "$$code $$out" in \
		"0 "*) ;; \
		*"fetching vulnerabilities"*) echo "vuln: skipped, the database cannot be reached" ;; \
		*) exit 1 ;; \
	esac

.PHONY: server
server: ## Have a Temporal dev server in place, built once in about 4 minutes
	@go run ./tools/devserver >/dev/null

.PHONY: tools
tools: $(golangci) $(workflowcheck) $(govulncheck) ## Build the tools of lint and vuln into bin/

.PHONY: clean
clean: ## Remove the development server's data and what interrupted builds left
	rm -rf .dev bin/.temporal-build-* bin/.tool-*

$(golangci):
	$(call install,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION))

$(workflowcheck):
	$(call install,workflowcheck,go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION))

$(govulncheck):
	$(call install,govulncheck,golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION))

# install builds module $(2) aside and moves its binary $(1) into place whole. An
# interrupted build must not leave a half tool that make takes for a finished one.
define install
@echo "building $@"
@mkdir -p bin
@dir=$$(mktemp -d "$(CURDIR)/bin/.tool-XXXXXX"); trap 'rm -rf "$$dir"' EXIT; \
	GOBIN="$$dir" GOWORK=off GOFLAGS=-buildvcs=false go install $(2) && mv "$$dir/$(1)" $@
endef
