import { describe, expect, it } from 'vitest'
import { failed, ran } from './run.ts'

interface Example {
  command: string
  output: string
  headline: string
  errors?: string[]
}

const EXAMPLES: Record<string, Example> = {
  'plain words': {
    command: 'npm test',
    output: 'ran everything\n3 tests failed, 40 passed',
    headline: '3 failed, 40 passed',
    errors: ['ran everything', '3 tests failed, 40 passed'],
  },
  jest: {
    command: 'npm test',
    output: `FAIL src/cart.test.ts
  ● Cart › adds totals

    expect(received).toBe(expected) // Object.is equality

    Expected: 30
    Received: 20

      12 |     const cart = new Cart()
    > 14 |     expect(cart.total()).toBe(30)
         |                          ^

      at Object.<anonymous> (src/cart.test.ts:14:27)

Test Suites: 1 failed, 3 passed, 4 total
Tests:       1 failed, 2 skipped, 41 passed, 44 total
Snapshots:   0 total
Time:        2.31 s, estimated 3 s`,
    headline: '1 failed, 41 passed, 2 skipped in 2.3 s',
    errors: [
      'Cart › adds totals: expect(received).toBe(expected) // Object.is equality; expected 30, received 20 (src/cart.test.ts:14:27)',
    ],
  },
  vitest: {
    command: 'npx vitest run',
    output: ` ❯ test/cart.test.ts (3 tests | 1 failed) 12ms
   × Cart > adds totals 5ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/cart.test.ts > Cart > adds totals
AssertionError: expected 20 to be 30 // Object.is equality

- Expected
+ Received

- 30
+ 20

 ❯ test/cart.test.ts:14:27

 Test Files  1 failed | 3 passed (4)
      Tests  1 failed | 41 passed | 2 skipped (44)
   Start at  10:00:00
   Duration  2.31s (transform 30ms, setup 0ms)`,
    headline: '1 failed, 41 passed, 2 skipped in 2.3 s',
    errors: [
      'Cart > adds totals: AssertionError: expected 20 to be 30 // Object.is equality (test/cart.test.ts:14:27)',
    ],
  },
  mocha: {
    command: 'npx mocha',
    output: `
  41 passing (2s)
  1 pending
  1 failing

  1) Cart
       adds totals:

      AssertionError: expected 20 to equal 30
      + expected - actual

      at Context.<anonymous> (test/cart.test.js:14:27)
`,
    headline: '1 failed, 41 passed, 1 skipped in 2 s',
    errors: ['Cart adds totals: AssertionError: expected 20 to equal 30 (test/cart.test.js:14:27)'],
  },
  pytest: {
    command: 'pytest',
    output: `tests/test_cart.py .F                                    [100%]

=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
>       assert total() == 30
E       assert 20 == 30
E        +  where 20 = total()

tests/test_cart.py:9: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 20 == 30
==================== 1 failed, 1 passed, 1 skipped in 2.35s ====================`,
    headline: '1 failed, 1 passed, 1 skipped in 2.4 s',
    errors: ['tests/test_cart.py::test_total: assert 20 == 30 (tests/test_cart.py:9)'],
  },
  unittest: {
    command: 'python3 -m unittest',
    output: `.sF
======================================================================
FAIL: test_total (test_cart.CartTest.test_total)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/dev/shop/test_cart.py", line 4, in test_total
    self.assertEqual(total(), 30)
AssertionError: 20 != 30

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)`,
    headline: '1 failed, 1 passed, 1 skipped in 0.001 s',
    errors: ['test_cart.CartTest.test_total: AssertionError: 20 != 30 (/home/dev/shop/test_cart.py:4)'],
  },
  go: {
    command: 'go test ./...',
    output: `--- FAIL: TestTotal (0.00s)
    cart_test.go:14: got 20, want 30
FAIL
FAIL	example.com/shop/cart	0.003s
ok  	example.com/shop/api	0.012s
FAIL`,
    headline: '1 package failed, 1 package passed, 1 failing test in 0.01 s',
    errors: ['TestTotal: got 20, want 30 (cart_test.go:14)'],
  },
  cargo: {
    command: 'cargo test',
    output: `running 2 tests
test tests::total ... FAILED

---- tests::total stdout ----

thread 'tests::total' (31205) panicked at src/lib.rs:2:47:
assertion \`left == right\` failed
  left: 20
 right: 30

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s

error: test failed, to rerun pass \`--lib\``,
    headline: '1 failed, 1 passed in 0.2 s',
    errors: ['tests::total: assertion `left == right` failed; left 20; right 30 (src/lib.rs:2:47)'],
  },
  surefire: {
    command: 'mvn test',
    output: `[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in CartTest
[ERROR] Failures: 
[ERROR]   CartTest.total:14 expected: <30> but was: <20>
[INFO] 
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0
[INFO] BUILD FAILURE
[INFO] Total time:  2.345 s`,
    headline: '1 failed, 2 passed in 2.3 s',
    errors: ['CartTest.total: expected: <30> but was: <20> (CartTest.java:14)'],
  },
  gradle: {
    command: './gradlew test',
    output: `> Task :test FAILED

CartTest > total() FAILED
    org.opentest4j.AssertionFailedError at CartTest.java:14

3 tests completed, 1 failed

FAILURE: Build failed with an exception.
BUILD FAILED in 3s`,
    headline: '1 failed, 2 passed in 3 s',
    errors: ['CartTest > total(): org.opentest4j.AssertionFailedError (CartTest.java:14)'],
  },
  rspec: {
    command: 'bundle exec rspec',
    output: `Failures:

  1) Cart adds totals
     Failure/Error: expect(cart.total).to eq(30)

       expected: 30
            got: 20

       (compared using ==)
     # ./spec/cart_spec.rb:14:in 'block (2 levels) in <top (required)>'

Finished in 0.01 seconds (files took 0.1 seconds to load)
42 examples, 1 failure, 1 pending`,
    headline: '1 failed, 40 passed, 1 skipped in 0.01 s',
    errors: ['Cart adds totals: expect(cart.total).to eq(30); expected 30, got 20 (./spec/cart_spec.rb:14)'],
  },
  minitest: {
    command: 'rails test',
    output: `Failure:
CartTest#test_total [test/cart_test.rb:14]:
Expected: 30
  Actual: 20

Finished in 0.123s, 8.1 runs/s.
3 runs, 3 assertions, 1 failures, 0 errors, 0 skips`,
    headline: '1 failed, 2 passed in 0.12 s',
    errors: ['CartTest#test_total: expected 30, actual 20 (test/cart_test.rb:14)'],
  },
  phpunit: {
    command: 'vendor/bin/phpunit',
    output: `There was 1 failure:

1) CartTest::testTotal
Failed asserting that 20 matches expected 30.

/app/tests/CartTest.php:14

FAILURES!
Tests: 3, Assertions: 3, Failures: 1.`,
    headline: '1 failed, 2 passed',
    errors: ['CartTest::testTotal: Failed asserting that 20 matches expected 30. (/app/tests/CartTest.php:14)'],
  },
  dotnet: {
    command: 'dotnet test',
    output: `  Failed Shop.Tests.CartTests.Total [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 30
Actual:   20
  Stack Trace:
     at Shop.Tests.CartTests.Total() in /app/CartTests.cs:line 14

Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 12 ms - Shop.Tests.dll (net8.0)`,
    headline: '1 failed, 2 passed in 0.01 s',
    errors: [
      'Shop.Tests.CartTests.Total: Assert.Equal() Failure: Values differ; expected 30, actual 20 (/app/CartTests.cs:14)',
    ],
  },
  ctest: {
    command: 'ctest',
    output: `67% tests passed, 1 tests failed out of 3

Total Test time (real) =   0.02 sec

The following tests FAILED:
	  2 - cart (Failed)`,
    headline: '1 failed, 2 passed in 0.02 s',
    errors: ['cart: Failed'],
  },
  'node --test': {
    command: 'node --test',
    output: `✖ adds totals (1.2ms)
ℹ tests 3
ℹ suites 0
ℹ pass 1
ℹ fail 1
ℹ cancelled 0
ℹ skipped 1
ℹ todo 0
ℹ duration_ms 171.98

✖ failing tests:

test at test/cart.test.js:2:1
✖ adds totals (1.2ms)
  AssertionError [ERR_ASSERTION]: 20 is not 30
      at TestContext.<anonymous> (test/cart.test.js:2:32)`,
    headline: '1 failed, 1 passed, 1 skipped in 0.17 s',
    errors: ['adds totals: AssertionError [ERR_ASSERTION]: 20 is not 30 (test/cart.test.js:2:32)'],
  },
  playwright: {
    command: 'npx playwright test',
    output: `  1) [chromium] › tests/cart.spec.ts:14:5 › adds totals ─────────────

    Error: expect(received).toBe(expected)

    Expected: 30
    Received: 20

        at /app/tests/cart.spec.ts:16:27

  1 failed
    [chromium] › tests/cart.spec.ts:14:5 › adds totals ───
  2 passed (3.4s)`,
    headline: '1 failed, 2 passed in 3.4 s',
    errors: [
      'adds totals: Error: expect(received).toBe(expected); expected 30, received 20 (/app/tests/cart.spec.ts:16:27)',
    ],
  },
  deno: {
    command: 'deno test',
    output: `adds totals => ./cart_test.ts:3:6
error: AssertionError: Values are not equal.

FAILED | 2 passed | 1 failed (12ms)`,
    headline: '1 failed, 2 passed in 0.01 s',
    errors: ['adds totals: AssertionError: Values are not equal. (./cart_test.ts:3:6)'],
  },
  bun: {
    command: 'bun test',
    output: `error: expect(received).toBe(expected)

Expected: 30
Received: 20

      at <anonymous> (/app/cart.test.ts:5:19)
(fail) Cart > adds totals [0.12ms]

 2 pass
 1 fail
 3 expect() calls
Ran 3 tests across 1 files. [12.00ms]`,
    headline: '1 failed, 2 passed in 0.01 s',
    errors: [
      'Cart > adds totals: error: expect(received).toBe(expected); expected 30, received 20 (/app/cart.test.ts:5:19)',
    ],
  },
  exunit: {
    command: 'mix test',
    output: `  1) test adds totals (CartTest)
     test/cart_test.exs:14
     Assertion with == failed
     code:  assert total() == 30
     left:  20
     right: 30

Finished in 0.03 seconds (0.00s async, 0.03s sync)
3 tests, 1 failure`,
    headline: '1 failed, 2 passed in 0.03 s',
    errors: ['CartTest adds totals: Assertion with == failed; left 20, right 30 (test/cart_test.exs:14)'],
  },
  swift: {
    command: 'swift test',
    output: `/app/CartTests.swift:14: error: -[ShopTests.CartTests testTotal] : XCTAssertEqual failed: ("20") is not equal to ("30")
	 Executed 3 tests, with 1 failure (0 unexpected) in 0.012 (0.013) seconds`,
    headline: '1 failed, 2 passed in 0.01 s',
    errors: [
      'ShopTests.CartTests testTotal: XCTAssertEqual failed: ("20") is not equal to ("30") (/app/CartTests.swift:14)',
    ],
  },
}

describe('commands.test runs', () => {
  it.each(Object.entries(EXAMPLES))('%s', (_name, { command, output, headline, errors }) => {
    const result = failed(command, output)
    expect(result).toMatchObject({ kind: 'test', ok: false, exitCode: 1, headline })
    expect(result.errors).toEqual(errors)
    expect(result.facts).toContain(`Tests: ${headline} (${command})`)
  })

  it.each(Object.entries(EXAMPLES))('%s: a failure behind a pipe is found', (_name, { command, output }) => {
    expect(ran(`${command} 2>&1 | tail -40`, output)).toMatchObject({ ok: false, exitCode: null })
  })

  it.each([
    ['npm test', 'Tests:       41 passed, 41 total\nTime:        2.3 s', '41 passed in 2.3 s'],
    [
      'npm test',
      '\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m41 passed\u001b[39m\u001b[22m\u001b[90m (41)\u001b[39m',
      '41 passed',
    ],
    ['pytest -q', '41 passed, 1 skipped, 3 warnings in 2.30s', '41 passed, 1 skipped, 3 warnings in 2.3 s'],
    ['php artisan test', '  Tests:    3 passed (7 assertions)\n  Duration: 0.12s', '3 passed in 0.12 s'],
    ['vendor/bin/phpunit', 'OK (3 tests, 3 assertions)', '3 passed'],
    ['go test ./...', 'ok  \tshop/api\t0.012s\tcoverage: 81.2% of statements', '1 package passed in 0.01 s'],
    [
      './shop_test',
      '[==========] 3 tests from 1 test suite ran. (20 ms total)\n[  PASSED  ] 3 tests.',
      '3 passed in 0.02 s',
    ],
    ['prove -r t', 'Files=3, Tests=12,  1 wallclock secs\nResult: PASS', '12 passed in 1 s'],
    ['flutter test', '00:02 +3: All tests passed!', '3 passed in 2 s'],
  ])('%s: a run that passes', (command, output, headline) => {
    expect(ran(command, output)).toMatchObject({ kind: 'test', ok: true, exitCode: 0, headline, errors: [] })
  })

  it('coverage is a fact', () => {
    expect(ran('npm test', 'Tests:       4 passed, 4 total\nAll files |   87.5 |  70 |').facts).toContain(
      'Test coverage is 87.5 % (npm test)',
    )
  })
})

/** Of summaries whose only words are these. */
describe('a summary without a test that ran', () => {
  it.each([
    ['pytest', '3 skipped in 0.12s'],
    ['pytest', '1 error in 0.51s'],
    ['pytest', '2 deselected in 0.01s'],
    ['pytest', '1 warning in 0.02s'],
    ['pytest', '1 rerun in 0.3s'],
    ['gradle check', 'Cart > total() SKIPPED'],
    ['go vet', '--- SKIP: Cart (0.00s)'],
    ['dart run', '0:1 +3: done'],
  ])('%s: %s', (_, output) => {
    expect(ran('npm test', output).headline).not.toBeNull()
  })
})
