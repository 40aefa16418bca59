# Everything that is done to this repository has a target here; the recipes are
# the commands that one would type. Tools that go.mod does not pin are pinned
# below.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
# The tests' PostgreSQL: RESTAQ_TEST_POSTGRES if set, else a server of our own.
WITH_POSTGRES = go run ./internal/pgtest/withpostgres
# How long each fuzz target runs.
FUZZTIME = 10s
# How long the scenarios of internal/chaos that go on at random take together.
SOAK = 10m
# Slow tests of what runs on one goroutine, or mostly in programs that they start:
# the race detector would see little in them.
RACELESS = /(cmd/(restaq|restaqvet)|internal/(corpus|events|generate|check|house|refresh))$$
# The Go files that are ours to format; testdata may be broken on purpose.
GO_FILES = $$(git ls-files -co --exclude-standard -- '*.go' ':!*/testdata/*')

.DEFAULT_GOAL = help
.PHONY: help generate test race fuzz schemas soak lint check-generated screenshots examples demo compare-events bench

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile

generate: ## write all generated files
	go generate ./...
	go -C bench generate ./...

schemas: ## read the providers' specifications again, and generate
	go run ./internal/refresh
	go generate .

test: ## run all tests, against a real PostgreSQL
	$(WITH_POSTGRES) go test ./...
	go -C bench test ./...

race: ## run the tests under the race detector
	$(WITH_POSTGRES) go test -race $$(go list ./... | grep -vE '$(RACELESS)')

fuzz: ## run each fuzz target for FUZZTIME (10s)
	@grep -rEo --include='*_test.go' '^func Fuzz\w+' . | while IFS=: read -r file func; do \
		go test -run '^$$' -fuzz "^$${func#func }$$" -fuzzminimizetime 5x -fuzztime $(FUZZTIME) "$$(dirname "$$file")" || exit 1; \
	done

soak: ## kill, stop and cut off processes and the server for SOAK (10m)
	$(WITH_POSTGRES) env RESTAQ_SOAK=$(SOAK) go test -count=1 -timeout 0 -v ./internal/chaos
	$(WITH_POSTGRES) go test -count=1 -timeout 0 -v ./runtime/postgres -run PrunedExecutions -prune 1000000
	RESTAQ_SOAK=$(SOAK) go test -count=1 -timeout 10m -v -run TestNewEvents ./runtime/dashboard

lint: ## gofmt, vet, staticcheck, tidy modules
	@echo gofmt -l; unformatted=$$(gofmt -l $(GO_FILES)) && test -z "$$unformatted" || { echo "$$unformatted"; exit 1; }
	go vet ./...
	go -C bench vet ./...
	go run $(STATICCHECK) ./...
	go -C bench run $(STATICCHECK) ./...
	go mod tidy -diff
	go -C bench mod tidy -diff

check-generated: ## fail if generating again changes a file
	.ci/check-generated

screenshots: ## take the pictures of docs/dashboard.md, in chromium
	RESTAQ_SCREENSHOTS=$(CURDIR)/docs/dashboard go test -count=1 -run TestScreenshots ./runtime/dashboard

examples: ## run the examples' tests
	$(WITH_POSTGRES) go test -count=1 ./examples/...

demo: ## show deliveries, a failure, retries and a restart, in seconds
	go run ./examples/billing -demo

compare-events: ## print how other generators do on GitHub's schema
	go -C bench run ./events

bench: ## measure the generator and the runtime, and print rows
	go -C bench run .
