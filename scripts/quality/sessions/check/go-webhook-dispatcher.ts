import type { Recorder } from '../../recorder.ts'
import { startProject } from './lib/project.ts'

export const project = 'courier'

/** Go service: a flaky test that is a data race, a deadlock on the way, and a timeout that never applied. */

const goMod = `module github.com/northpier/courier

go 1.21

require (
	github.com/go-chi/chi/v5 v5.0.11
	github.com/stretchr/testify v1.8.4
	go.uber.org/zap v1.26.0
)
`

const dispatcher = `package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"
)

var ErrStopped = errors.New("dispatcher stopped")

// Delivery is one webhook on its way to one customer endpoint.
type Delivery struct {
	ID       string
	Endpoint string
	Body     []byte
	Attempts int
}

// Dispatcher fans deliveries out to a fixed pool of workers.
type Dispatcher struct {
	client   *http.Client
	log      *zap.Logger
	queue    chan *Delivery
	workers  int
	budget   int
	mu       sync.Mutex
	inflight map[string]*Delivery
	stopped  bool
	wg       sync.WaitGroup
}

func New(log *zap.Logger, workers, budget int) *Dispatcher {
	return &Dispatcher{
		client:   &http.Client{},
		log:      log,
		queue:    make(chan *Delivery, 256),
		workers:  workers,
		budget:   budget,
		inflight: make(map[string]*Delivery),
	}
}

// Start launches the workers; they live until Stop or until ctx is done.
func (d *Dispatcher) Start(ctx context.Context) {
	for i := 0; i < d.workers; i++ {
		d.wg.Add(1)
		go d.work(ctx)
	}
}

// Enqueue accepts a delivery, or refuses it when the dispatcher is stopping.
func (d *Dispatcher) Enqueue(dl *Delivery) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return ErrStopped
	}
	d.inflight[dl.ID] = dl
	d.queue <- dl
	return nil
}

func (d *Dispatcher) work(ctx context.Context) {
	defer d.wg.Done()
	for dl := range d.queue {
		for dl.Attempts < d.budget {
			dl.Attempts++
			if err := d.deliver(ctx, dl); err == nil {
				break
			} else {
				d.log.Warn("delivery failed", zap.String("id", dl.ID), zap.Error(err))
			}
			time.Sleep(backoff(dl.Attempts))
		}
		d.markDone(dl)
	}
}

func (d *Dispatcher) deliver(ctx context.Context, dl *Delivery) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, dl.Endpoint, bytes.NewReader(dl.Body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Courier-Delivery", dl.ID)
	resp, err := d.client.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("endpoint answered %d", resp.StatusCode)
	}
	return resp.Body.Close()
}

func (d *Dispatcher) markDone(dl *Delivery) {
	delete(d.inflight, dl.ID)
}

// Pending counts the deliveries that are not finished yet.
func (d *Dispatcher) Pending() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.inflight)
}

// Stop refuses new deliveries and waits for those under way.
func (d *Dispatcher) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.stopped = true
	close(d.queue)
	d.wg.Wait()
}

func backoff(attempt int) time.Duration {
	return time.Duration(attempt*attempt) * 20 * time.Millisecond
}
`

const dispatcherTest = `package dispatch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func TestDispatcher_DeliversAll(t *testing.T) {
	var hits atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer srv.Close()
	d := New(zap.NewNop(), 4, 3)
	d.Start(context.Background())
	for i := 0; i < 100; i++ {
		require.NoError(t, d.Enqueue(&Delivery{ID: fmt.Sprint(i), Endpoint: srv.URL}))
	}
	d.Stop()
	require.EqualValues(t, 100, hits.Load())
}

func TestDispatcher_RetryBudget(t *testing.T) {
	var hits atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer srv.Close()
	d := New(zap.NewNop(), 8, 3)
	d.Start(context.Background())
	for i := 0; i < 20; i++ {
		require.NoError(t, d.Enqueue(&Delivery{ID: fmt.Sprint(i), Endpoint: srv.URL}))
	}
	require.Eventually(t, func() bool { return d.Pending() == 0 }, 3*time.Second, 5*time.Millisecond)
	require.EqualValues(t, 60, hits.Load())
	d.Stop()
}
`

const mainGo = `package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/northpier/courier/internal/api"
	"github.com/northpier/courier/internal/config"
	"github.com/northpier/courier/internal/dispatch"
	"go.uber.org/zap"
)

func main() {
	log, _ := zap.NewProduction()
	cfg := config.FromEnv()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()

	d := dispatch.New(log, cfg.Workers, cfg.RetryBudget)
	d.Start(ctx)

	srv := &http.Server{
		Addr:         cfg.Addr,
		Handler:      api.Router(d, log),
		ReadTimeout:  10 * time.Second,
		WriteTimeout: 30 * time.Second,
	}
	go func() {
		<-ctx.Done()
		shutdown, stop := context.WithTimeout(context.Background(), 15*time.Second)
		defer stop()
		_ = srv.Shutdown(shutdown)
		d.Stop()
	}()
	log.Info("courier listens", zap.String("addr", cfg.Addr))
	if err := srv.ListenAndServe(); err != nil && err != http.ErrServerClosed {
		log.Fatal("server", zap.Error(err))
	}
}
`

const configGo = `package config

import (
	"os"
	"strconv"
)

// Config is everything courier reads from its environment.
type Config struct {
	Addr        string
	Workers     int
	RetryBudget int
}

func FromEnv() Config {
	return Config{
		Addr:        str("COURIER_ADDR", ":8085"),
		Workers:     num("COURIER_WORKERS", 16),
		RetryBudget: num("COURIER_RETRY_BUDGET", 5),
	}
}

func str(key, fallback string) string {
	if v := os.Getenv(key); v != "" {
		return v
	}
	return fallback
}

func num(key string, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv(key)); err == nil {
		return n
	}
	return fallback
}
`

const apiGo = `package api

import (
	"errors"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/northpier/courier/internal/dispatch"
	"go.uber.org/zap"
)

func Router(d *dispatch.Dispatcher, log *zap.Logger) http.Handler {
	r := chi.NewRouter()
	r.Post("/v1/deliveries/{id}", func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<20))
		if err != nil {
			http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
			return
		}
		err = d.Enqueue(&dispatch.Delivery{
			ID:       chi.URLParam(req, "id"),
			Endpoint: req.Header.Get("X-Courier-Endpoint"),
			Body:     body,
		})
		if errors.Is(err, dispatch.ErrStopped) {
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	r.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	return r
}
`

const ciYaml = `name: ci
on: [push]
jobs:
  test:
    runs-on: ubuntu-22.04
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-go@v5
        with:
          go-version: '1.21'
      - run: go vet ./...
      - run: go test ./...
`

const raceOutput = `==================
WARNING: DATA RACE
Write at 0x00c0001a6330 by goroutine 31:
  runtime.mapdelete_faststr()
      /usr/local/go/src/runtime/map_faststr.go:301 +0x0
  github.com/northpier/courier/internal/dispatch.(*Dispatcher).markDone()
      /home/dev/courier/internal/dispatch/dispatcher.go:108 +0x64
  github.com/northpier/courier/internal/dispatch.(*Dispatcher).work()
      /home/dev/courier/internal/dispatch/dispatcher.go:84 +0x2d1

Previous read at 0x00c0001a6330 by goroutine 24:
  github.com/northpier/courier/internal/dispatch.(*Dispatcher).Pending()
      /home/dev/courier/internal/dispatch/dispatcher.go:115 +0x8c
  github.com/northpier/courier/internal/dispatch.TestDispatcher_RetryBudget.func2()
      /home/dev/courier/internal/dispatch/dispatcher_test.go:47 +0x30

Goroutine 31 (running) created at:
  github.com/northpier/courier/internal/dispatch.(*Dispatcher).Start()
      /home/dev/courier/internal/dispatch/dispatcher.go:54 +0x7a
==================
--- FAIL: TestDispatcher_RetryBudget (0.41s)
    dispatcher_test.go:48: 
        	Error Trace:	/home/dev/courier/internal/dispatch/dispatcher_test.go:48
        	Error:      	Not equal: 
        	            	expected: int(60)
        	            	actual  : int64(57)
        	Test:       	TestDispatcher_RetryBudget
    testing.go:1465: race detected during execution of test
FAIL
FAIL	github.com/northpier/courier/internal/dispatch	6.912s
FAIL`

const deadlockOutput = `panic: test timed out after 30s
running tests:
	TestDispatcher_DeliversAll (30s)

goroutine 66 [running]:
testing.(*M).startAlarm.func1()
	/usr/local/go/src/testing/testing.go:2259 +0x1fc

goroutine 7 [semacquire]:
sync.runtime_Semacquire(0xc0000b2060?)
	/usr/local/go/src/runtime/sema.go:62 +0x25
sync.(*WaitGroup).Wait(0xc0000b2058?)
	/usr/local/go/src/sync/waitgroup.go:116 +0x48
github.com/northpier/courier/internal/dispatch.(*Dispatcher).Stop(0xc0000b2000)
	/home/dev/courier/internal/dispatch/dispatcher.go:130 +0xa5

goroutine 12 [sync.Mutex.Lock]:
sync.runtime_SemacquireMutex(0xc0000b2048?, 0x0?, 0x1?)
	/usr/local/go/src/runtime/sema.go:77 +0x25
sync.(*Mutex).lockSlow(0xc0000b2044)
	/usr/local/go/src/sync/mutex.go:171 +0x15d
github.com/northpier/courier/internal/dispatch.(*Dispatcher).markDone(0xc0000b2000, 0xc00011c0c0)
	/home/dev/courier/internal/dispatch/dispatcher.go:109 +0x3d
FAIL	github.com/northpier/courier/internal/dispatch	30.017s
FAIL`

export default async function (r: Recorder): Promise<void> {
  startProject(
    r,
    {
      'go.mod': goMod,
      'internal/dispatch/dispatcher.go': dispatcher,
      'internal/dispatch/dispatcher_test.go': dispatcherTest,
      'internal/config/config.go': configGo,
      'internal/api/router.go': apiGo,
      'cmd/courier/main.go': mainGo,
      '.github/workflows/ci.yml': ciYaml,
      'README.md':
        '# courier\n\nDelivers webhooks to customer endpoints with retries.\n\n| Variable | Default |\n|---|---|\n| COURIER_ADDR | :8085 |\n| COURIER_WORKERS | 16 |\n| COURIER_RETRY_BUDGET | 5 |\n',
    },
    {
      author: 'Lena Obermann',
      commits: ['Dispatcher with worker pool', 'Count pending deliveries for the dashboard', 'Retry budget from env'],
    },
  )

  r.prompt(
    'TestDispatcher_RetryBudget fails in CI maybe one run in eight, always green on my laptop. Please find the real cause, I do not want a sleep or a bigger timeout in the test.',
  )
  r.say("I'll look at the dispatcher and its test, then try to reproduce the failure.")
  await r.bash('ls && git log --oneline | head -5', { description: 'List project and recent commits' })
  await r.glob('**/*.go')
  await r.read('internal/dispatch/dispatcher_test.go')
  await r.read('internal/dispatch/dispatcher.go')
  await r.bash('go test ./internal/dispatch/', {
    description: 'Run dispatcher tests',
    stdoutOverride: 'ok  \tgithub.com/northpier/courier/internal/dispatch\t0.583s',
  })
  await r.bash('go test -count=20 -run RetryBudget ./internal/dispatch/', {
    description: 'Repeat the flaky test 20 times',
    stdoutOverride: 'ok  \tgithub.com/northpier/courier/internal/dispatch\t8.214s',
  })
  r.say('Green 20 times without the race detector. With -race and fewer CPUs it may show.')
  await r.bash('GOMAXPROCS=2 go test -race -count=20 -run RetryBudget ./internal/dispatch/', {
    description: 'Repeat with race detector on two CPUs',
    stdoutOverride: raceOutput,
    exitCode: 1,
  })
  await r.grep('inflight', { path: 'internal', output_mode: 'content', '-n': true })
  await r.read('internal/dispatch/dispatcher.go', { offset: 60, limit: 60 })
  r.say(
    'markDone deletes from the inflight map without taking mu, while Enqueue and Pending hold it. I add the lock there.',
  )
  r.todo([
    { content: 'Reproduce with -race', status: 'completed', activeForm: 'Reproducing' },
    { content: 'Guard inflight in markDone', status: 'in_progress', activeForm: 'Guarding inflight' },
    { content: 'Run race detector in CI', status: 'pending', activeForm: 'Changing CI' },
  ])
  await r.edit(
    'internal/dispatch/dispatcher.go',
    '\tdelete(d.inflight, dl.ID)\n',
    '\td.mu.Lock()\n\tdefer d.mu.Unlock()\n\tdelete(d.inflight, dl.ID)\n',
  )
  await r.bash('GOMAXPROCS=2 go test -race -count=20 -timeout 30s ./internal/dispatch/', {
    description: 'Run all dispatcher tests with race detector',
    stdoutOverride: deadlockOutput,
    exitCode: 1,
  })
  r.say(
    'Now Stop holds mu while it waits for the workers, and the workers need mu in markDone: a deadlock. Stop has to let go of the lock before wg.Wait. Enqueue has the same smell: it sends on the queue while holding mu, so a full queue blocks everything.',
  )
  await r.edit(
    'internal/dispatch/dispatcher.go',
    `	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.stopped = true
	close(d.queue)
	d.wg.Wait()
`,
    `	d.mu.Lock()
	already := d.stopped
	d.stopped = true
	d.mu.Unlock()
	if already {
		return
	}
	d.senders.Wait() // nobody sends on a closed queue
	close(d.queue)
	d.wg.Wait()
`,
  )
  await r.multiEdit('internal/dispatch/dispatcher.go', [
    { old_string: '\twg       sync.WaitGroup\n', new_string: '\twg       sync.WaitGroup\n\tsenders  sync.WaitGroup\n' },
    {
      old_string: `	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return ErrStopped
	}
	d.inflight[dl.ID] = dl
	d.queue <- dl
	return nil
`,
      new_string: `	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return ErrStopped
	}
	d.inflight[dl.ID] = dl
	d.senders.Add(1)
	d.mu.Unlock()
	defer d.senders.Done()
	d.queue <- dl
	return nil
`,
    },
  ])
  await r.bash('gofmt -l ./internal && go vet ./...', { description: 'Format and vet', stdoutOverride: '' })
  await r.bash('GOMAXPROCS=2 go test -race -count=20 -timeout 60s ./internal/dispatch/', {
    description: 'Run all dispatcher tests with race detector',
    stdoutOverride: 'ok  \tgithub.com/northpier/courier/internal/dispatch\t23.406s',
  })
  await r.edit('.github/workflows/ci.yml', '      - run: go test ./...', '      - run: go test -race -count=3 ./...')
  await r.bash('git status --short && git diff --stat', { description: 'Check what changed' })
  await r.bash(
    `git add -A && git commit -q -F - <<'MSG'
dispatch: guard inflight in markDone, do not hold mu while waiting

markDone deleted from the inflight map without mu, so Pending could see 0
before the last retries were counted (flaky TestDispatcher_RetryBudget).
Taking mu there exposed a deadlock: Stop held mu during wg.Wait. Enqueue
now sends outside the lock, guarded by the senders WaitGroup.

CI runs with -race because plain go test never showed the problem.
MSG
git log --oneline | head -2`,
    { description: 'Commit the race fix' },
  )
  r.end(
    'The flaky test was a data race: `markDone` deleted from `inflight` without `mu`. Taking the lock there uncovered a deadlock, because `Stop` held `mu` during `wg.Wait()`; both are fixed and `Enqueue` no longer sends on the queue while holding the lock. 20 runs with `-race` on two CPUs are green (23.4 s). CI now uses `go test -race -count=3`.',
  )

  r.prompt(
    'Great. Second thing: support says slow customers block deliveries for up to 30 s although we promise a 5 s timeout per attempt. Where is that timeout supposed to be? Fix it, and make it configurable. A customer may get his own value later so keep that in mind.',
  )
  await r.grep('[Tt]imeout', { path: '.', glob: '*.go', output_mode: 'content', '-n': true })
  await r.read('cmd/courier/main.go')
  await r.read('internal/config/config.go')
  r.say(
    'Nowhere. The http.Client has no Timeout and deliver uses the worker context, which only ends at shutdown. The 30 s that support sees is the load balancer of the customer giving up. I write a failing test first.',
  )
  await r.edit(
    'internal/dispatch/dispatcher_test.go',
    'func TestDispatcher_RetryBudget(',
    `func TestDeliver_SlowEndpointGivesUp(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release }))
	defer srv.Close()
	defer close(release)
	d := New(zap.NewNop(), 1, 1)
	d.attemptTimeout = 50 * time.Millisecond
	begun := time.Now()
	err := d.deliver(context.Background(), &Delivery{ID: "slow", Endpoint: srv.URL})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(begun), time.Second)
}

func TestDispatcher_RetryBudget(`,
  )
  await r.bash('go test -run SlowEndpoint ./internal/dispatch/', {
    description: 'Run the new test',
    stdoutOverride: `# github.com/northpier/courier/internal/dispatch [github.com/northpier/courier/internal/dispatch.test]
internal/dispatch/dispatcher_test.go:40:4: d.attemptTimeout undefined (type *Dispatcher has no field or method attemptTimeout)
FAIL	github.com/northpier/courier/internal/dispatch [build failed]
FAIL`,
    exitCode: 1,
  })
  await r.multiEdit('internal/dispatch/dispatcher.go', [
    {
      old_string: '\tbudget   int\n\tmu ',
      new_string: '\tbudget   int\n\n\tattemptTimeout time.Duration\n\n\tmu ',
    },
    {
      old_string: 'func New(log *zap.Logger, workers, budget int) *Dispatcher {',
      new_string: `// DefaultAttemptTimeout is what we promise customers for one attempt.
const DefaultAttemptTimeout = 5 * time.Second

func New(log *zap.Logger, workers, budget int) *Dispatcher {`,
    },
    {
      old_string: '\t\tinflight: make(map[string]*Delivery),\n',
      new_string: '\t\tinflight: make(map[string]*Delivery),\n\n\t\tattemptTimeout: DefaultAttemptTimeout,\n',
    },
    {
      old_string:
        '\treq, err := http.NewRequestWithContext(ctx, http.MethodPost, dl.Endpoint, bytes.NewReader(dl.Body))',
      new_string:
        '\tctx, cancel := context.WithTimeout(ctx, d.attemptTimeout)\n\tdefer cancel()\n\treq, err := http.NewRequestWithContext(ctx, http.MethodPost, dl.Endpoint, bytes.NewReader(dl.Body))',
    },
  ])
  await r.bash('go test -run SlowEndpoint -v ./internal/dispatch/', {
    description: 'Run the new test',
    stdoutOverride: `=== RUN   TestDeliver_SlowEndpointGivesUp
--- PASS: TestDeliver_SlowEndpointGivesUp (0.05s)
PASS
ok  	github.com/northpier/courier/internal/dispatch	0.061s`,
  })
  await r.read('internal/dispatch/dispatcher.go', { offset: 96, limit: 28 })
  r.say(
    'While here: on a status of 300 or more the response body is never closed, so each failed attempt leaks a connection.',
  )
  await r.edit(
    'internal/dispatch/dispatcher.go',
    `	if resp.StatusCode >= 300 {
		return fmt.Errorf("endpoint answered %d", resp.StatusCode)
	}
	return resp.Body.Close()
`,
    `	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection is reused
	if resp.StatusCode >= 300 {
		return fmt.Errorf("endpoint answered %d", resp.StatusCode)
	}
	return nil
`,
  )
  await r.bash('go build ./...', {
    description: 'Build',
    stdoutOverride:
      '# github.com/northpier/courier/internal/dispatch\ninternal/dispatch/dispatcher.go:118:9: undefined: io\ninternal/dispatch/dispatcher.go:118:17: undefined: io\ninternal/dispatch/dispatcher.go:118:28: undefined: io',
    exitCode: 1,
  })
  await r.edit('internal/dispatch/dispatcher.go', '\t"fmt"\n', '\t"fmt"\n\t"io"\n')
  await r.bash('go build ./...', { description: 'Build', stdoutOverride: '' })
  await r.multiEdit('internal/config/config.go', [
    { old_string: '\tRetryBudget int\n', new_string: '\tRetryBudget int\n\n\tAttemptTimeout time.Duration\n' },
    {
      old_string: '\t\tRetryBudget: num("COURIER_RETRY_BUDGET", 5),\n',
      new_string:
        '\t\tRetryBudget: num("COURIER_RETRY_BUDGET", 5),\n\n\t\tAttemptTimeout: span("COURIER_ATTEMPT_TIMEOUT", 5*time.Second),\n',
    },
    { old_string: '\t"strconv"\n', new_string: '\t"strconv"\n\t"time"\n' },
    {
      old_string: 'func num(',
      new_string: `func span(key string, fallback time.Duration) time.Duration {
	if d, err := time.ParseDuration(os.Getenv(key)); err == nil && d > 0 {
		return d
	}
	return fallback
}

func num(`,
    },
  ])
  await r.edit(
    'internal/dispatch/dispatcher.go',
    '// Start launches',
    `// WithAttemptTimeout sets how long one attempt may take.
func (d *Dispatcher) WithAttemptTimeout(limit time.Duration) *Dispatcher {
	d.attemptTimeout = limit
	return d
}

// Start launches`,
  )
  await r.edit(
    'cmd/courier/main.go',
    'd := dispatch.New(log, cfg.Workers, cfg.RetryBudget)',
    'd := dispatch.New(log, cfg.Workers, cfg.RetryBudget).WithAttemptTimeout(cfg.AttemptTimeout)',
  )
  await r.edit(
    'README.md',
    '| COURIER_RETRY_BUDGET | 5 |\n',
    '| COURIER_RETRY_BUDGET | 5 |\n| COURIER_ATTEMPT_TIMEOUT | 5s |\n',
  )
  await r.bash('go vet ./... && go test -race ./...', {
    description: 'Vet and run all tests',
    stdoutOverride: `?   	github.com/northpier/courier/cmd/courier	[no test files]
?   	github.com/northpier/courier/internal/api	[no test files]
?   	github.com/northpier/courier/internal/config	[no test files]
ok  	github.com/northpier/courier/internal/dispatch	1.377s`,
  })
  await r.bash(
    `git commit -qam "dispatch: limit each attempt with its own context deadline

A context per attempt instead of http.Client.Timeout, because all customers
share one client and an endpoint may get its own limit later. Also close the
body of refused deliveries, which leaked one connection per failed attempt." && git log --oneline | head -1`,
    { description: 'Commit the timeout' },
  )
  r.end(
    'There was no timeout at all: the client had none and `deliver` used the worker context. Each attempt now has its own `context.WithTimeout`, default 5 s, set by `COURIER_ATTEMPT_TIMEOUT`. I chose a context per attempt over `http.Client.Timeout` because the client is shared by all customers and you want per-customer values later. Next step would be reading the limit from the endpoint record.',
  )

  r.prompt(
    'Question only, please change nothing: do we reuse connections to the same customer host well enough? One big customer gets about 40 parallel deliveries.',
  )
  await r.grep('Transport', { path: '.', glob: '*.go' })
  await r.bash('go doc net/http.DefaultTransport', {
    description: 'Look at the default transport',
    stdoutOverride: `package http // import "net/http"

var DefaultTransport RoundTripper = &Transport{
	Proxy: ProxyFromEnvironment,
	ForceAttemptHTTP2:     true,
	MaxIdleConns:          100,
	IdleConnTimeout:       90 * time.Second,
	TLSHandshakeTimeout:   10 * time.Second,
	ExpectContinueTimeout: 1 * time.Second,
}`,
  })
  r.webFetch(
    'https://pkg.go.dev/net/http#Transport',
    'What is the default of MaxIdleConnsPerHost and what happens to connections above it?',
    'MaxIdleConnsPerHost, if non-zero, controls the maximum idle (keep-alive) connections to keep per-host. If zero, DefaultMaxIdleConnsPerHost is used, which is 2. Connections above that number are closed after use instead of being returned to the pool.',
  )
  await r.bash('grep -rn "http.Client{" --include=*.go .', { description: 'Find clients' })
  r.end(
    'Not well. The dispatcher uses the default transport, where MaxIdleConnsPerHost is 2, so of 40 parallel deliveries 38 connections are closed after use and need a new TLS handshake. With HTTP/2 endpoints this does not matter, they multiplex on one connection. I would set MaxIdleConnsPerHost to 64 on an own transport; nothing was changed.',
  )

  r.prompt(
    'ok leave that for the next sprint. Last one: move us to go 1.23, the platform team drops 1.21 images on Friday',
  )
  await r.grep('1\\.21', { path: '.', output_mode: 'content', '-n': true })
  await r.edit('go.mod', 'go 1.21', 'go 1.23.4')
  await r.edit('.github/workflows/ci.yml', "go-version: '1.21'", "go-version: '1.23'")
  await r.bash('go mod tidy && go test -race ./...', {
    description: 'Tidy and test with new Go',
    stdoutOverride: `go: downloading go1.23.4 (linux/amd64)
ok  	github.com/northpier/courier/internal/dispatch	1.402s`,
  })
  await r.bash('golangci-lint run', {
    description: 'Lint',
    stdoutOverride: `internal/api/router.go:14:39: unused-parameter: parameter 'log' seems to be unused, consider removing or renaming it as _ (revive)
func Router(d *dispatch.Dispatcher, log *zap.Logger) http.Handler {
                                      ^
1 issues:
* revive: 1`,
    exitCode: 1,
  })
  await r.edit(
    'internal/api/router.go',
    '\t\tw.WriteHeader(http.StatusAccepted)',
    '\t\tlog.Debug("accepted", zap.String("id", chi.URLParam(req, "id")))\n\t\tw.WriteHeader(http.StatusAccepted)',
  )
  await r.bash('golangci-lint run', { description: 'Lint', stdoutOverride: '0 issues.' })
  await r.bash('git commit -qam "Move to Go 1.23.4, log accepted deliveries" && git status --short', {
    description: 'Commit',
  })
  r.end(
    'go.mod is on 1.23.4 and CI on 1.23; tests and golangci-lint are clean. The unused logger in `Router` now logs accepted deliveries.',
  )
}

export const facts: { ask: string; expect: string[] }[] = [
  { ask: 'What was the cause of the flaky TestDispatcher_RetryBudget?', expect: ['markDone', 'inflight', 'race'] },
  { ask: 'Why did the dispatcher deadlock after the lock was added?', expect: ['deadlock', 'Stop', 'wg.Wait'] },
  { ask: 'How does Enqueue avoid holding the lock while sending?', expect: ['Enqueue', 'senders'] },
  { ask: 'With which flags does CI run the Go tests now?', expect: ['-race -count=3'] },
  { ask: 'Which variable sets the limit of one attempt, and its default?', expect: ['COURIER_ATTEMPT_TIMEOUT', '5'] },
  { ask: 'Why a context per attempt and not the timeout of the client?', expect: ['http.Client.Timeout', 'share'] },
  { ask: 'Which test covers a slow customer endpoint?', expect: ['TestDeliver_SlowEndpointGivesUp'] },
  { ask: 'Why did failed deliveries leak connections?', expect: ['leak', 'connection', 'body'] },
  { ask: 'What was found about connection reuse to one host?', expect: ['MaxIdleConnsPerHost', '64'] },
  { ask: 'Which Go version is the project on now?', expect: ['1.23.4'] },
]
