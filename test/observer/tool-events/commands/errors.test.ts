import { describe, expect, it } from 'vitest'
import { failed, ran } from './run.ts'

describe('commands.errors', () => {
  it.each([
    [
      'npx tsc --noEmit',
      "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
      "error TS2322: Type 'string' is not assignable to type 'number'. (src/a.ts:3:5)",
      'src/a.ts',
    ],
    [
      'npx tsc',
      "src/a.ts:3:5 - error TS2304: Cannot find name 'x'.\n\nFound 1 error in src/a.ts:3",
      "error TS2304: Cannot find name 'x'. (src/a.ts:3:5)",
      'src/a.ts',
    ],
    [
      'cargo build',
      'error[E0308]: mismatched types\n --> src/lib.rs:1:25\n  |\n1 | pub fn total() -> i32 { "x" }\n  |                   ---   ^^^ expected `i32`, found `&str`\n\nerror: could not compile `shop` (lib) due to 1 previous error',
      'error[E0308]: mismatched types; expected `i32`, found `&str` (src/lib.rs:1:25)',
      'src/lib.rs',
    ],
    [
      'cargo run',
      "thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds: the len is 0",
      'panic: index out of bounds: the len is 0 (src/main.rs:3:5)',
      'src/main.rs',
    ],
    [
      'go build ./...',
      '# shop/cart\ncart/cart.go:10:2: undefined: total',
      'undefined: total (cart/cart.go:10:2)',
      'cart/cart.go',
    ],
    [
      'go run .',
      'panic: runtime error: index out of range [1] with length 1\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/dev/shop/main.go:7 +0x1d\nexit status 2',
      'panic: runtime error: index out of range [1] with length 1 (/home/dev/shop/main.go:7)',
      '/home/dev/shop/main.go',
    ],
    [
      'make',
      'gcc -c a.c\na.c: In function ‘main’:\na.c:1:20: error: ‘x’ undeclared (first use in this function)\nmake: *** [Makefile:3: a.o] Error 1',
      '‘x’ undeclared (first use in this function) (a.c:1:20)',
      'a.c',
    ],
    [
      'gcc b.c',
      "/usr/bin/ld: /tmp/cc.o: in function `main':\nb.c:(.text+0xa): undefined reference to `f'\ncollect2: error: ld returned 1 exit status",
      "undefined reference to `f' (b.c)",
      'b.c',
    ],
    [
      'javac A.java',
      'A.java:1: error: incompatible types: String cannot be converted to int\n1 error',
      'incompatible types: String cannot be converted to int (A.java:1)',
      'A.java',
    ],
    [
      'mvn compile',
      '[ERROR] /app/src/main/java/Cart.java:[10,5] cannot find symbol',
      'cannot find symbol (/app/src/main/java/Cart.java:10:5)',
      '/app/src/main/java/Cart.java',
    ],
    [
      'java Main',
      'Exception in thread "main" java.lang.NullPointerException: cart is null\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)\n\tat shop.Cart.total(Cart.java:12)',
      'java.lang.NullPointerException: cart is null (Cart.java:12)',
      'Cart.java',
    ],
    [
      'dotnet build',
      "/app/Cart.cs(10,5): error CS0103: The name 'x' does not exist [/app/Shop.csproj]",
      "error CS0103: The name 'x' does not exist (/app/Cart.cs:10:5)",
      '/app/Cart.cs',
    ],
    [
      'node app.js',
      '/app/src/a.js:3\n  x()\n  ^\n\nTypeError: x is not a function\n    at f (/app/src/a.js:3:4)\n    at node:internal/main/run_main_module:28:49',
      'TypeError: x is not a function (/app/src/a.js:3:4)',
      '/app/src/a.js',
    ],
    [
      'node app.js',
      "Error: Cannot find package 'x'\n    at y (/app/node_modules/z/i.js:1:2)\n    at f (/app/src/a.js:3:4)",
      "Error: Cannot find package 'x' (/app/src/a.js:3:4)",
      '/app/src/a.js',
    ],
    [
      'python main.py',
      'Traceback (most recent call last):\n  File "/app/main.py", line 3, in <module>\n    f()\n  File "/usr/lib/python3.11/json/x.py", line 2, in f\n    y\nKeyError: \'k\'',
      "KeyError: 'k' (/app/main.py:3)",
      '/app/main.py',
    ],
    [
      'python main.py',
      '  File "/app/main.py", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax',
      'SyntaxError: invalid syntax (/app/main.py:3)',
      '/app/main.py',
    ],
    [
      'ruby a.rb',
      "lib/cart.rb:14:in 'total': undefined method '+' for nil (NoMethodError)",
      "undefined method '+' for nil (NoMethodError) (lib/cart.rb:14)",
      'lib/cart.rb',
    ],
    [
      'php a.php',
      'PHP Fatal error:  Uncaught Error: Call to undefined function f() in /app/a.php:3',
      'Error: Call to undefined function f() (/app/a.php:3)',
      '/app/a.php',
    ],
    [
      'npx eslint .',
      "/app/src/a.ts\n  3:5  error  'x' is defined but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)",
      "'x' is defined but never used (no-unused-vars) (/app/src/a.ts:3:5)",
      '/app/src/a.ts',
    ],
    [
      'ruff check .',
      'src/a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.',
      'F401 [*] `os` imported but unused (src/a.py:1:8)',
      'src/a.py',
    ],
    [
      'mypy src',
      'src/a.py:3: error: Incompatible return value type  [return-value]\nFound 1 error in 1 file (checked 3 source files)',
      'Incompatible return value type [return-value] (src/a.py:3)',
      'src/a.py',
    ],
    [
      'npm run build',
      '✘ [ERROR] Could not resolve "./x"\n\n    src/a.ts:3:5:\n      3 │ import',
      'Could not resolve "./x" (src/a.ts:3:5)',
      'src/a.ts',
    ],
  ])('%s: %#', (command, output, error, file) => {
    const result = failed(command, output)
    expect(result.errors[0]).toBe(error)
    expect(error).toContain(file)
    expect(result.ok).toBe(false)
  })

  it.each([
    ['npm run biuld', 'npm error Missing script: "biuld"', 'Missing script: "biuld"', 1],
    ['npm i x', 'npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree', 'ERESOLVE', 1],
    [
      'pip install nope',
      'ERROR: No matching distribution found for nope',
      'No matching distribution found for nope',
      1,
    ],
    ['foo', '/bin/bash: line 1: foo: command not found', 'foo: command not found', 127],
    ['./x.sh', 'bash: ./x.sh: Permission denied', 'Permission denied', 126],
    ['node db.js', 'connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED 127.0.0.1:5432', 1],
    [
      'psql -c "select * from x"',
      'ERROR:  relation "x" does not exist\nLINE 1: select',
      'relation "x" does not exist',
      1,
    ],
    ['git push', ' ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs', '[rejected]', 1],
    [
      'git merge feat',
      'Auto-merging a.txt\nCONFLICT (content): Merge conflict in a.txt\nAutomatic merge failed',
      'merge conflict in a.txt',
      1,
    ],
    ['npm run build', '', 'killed, often out of memory (exit code 137)', 137],
    ['./a.out', '', 'segmentation fault (exit code 139)', 139],
    ['./tool', 'doing things\nquota for 注文 exceeded', 'quota for 注文 exceeded', 3],
    ['docker run x', 'docker: Error response from daemon: pull access denied for x.', 'pull access denied', 125],
  ])('%s: %#', (command, output, part, code) => {
    const result = failed(command, output, code)
    expect(result.exitCode).toBe(code)
    expect(result.errors.join('\n')).toContain(part)
  })

  it('a crash is found behind a pipe', () => {
    const output = 'Traceback (most recent call last):\n  File "/app/main.py", line 3, in <module>\nValueError: no'
    expect(ran('python main.py 2>&1 | head -50', output)).toMatchObject({
      ok: false,
      errors: ['ValueError: no (/app/main.py:3)'],
    })
  })

  it('an exit code that the command prints is read', () => {
    expect(ran('./check; echo "exit: $?"', 'hm\nexit: 2')).toMatchObject({ ok: false, exitCode: 2 })
  })

  it('stdout and stderr of older clients are read', () => {
    expect(ran('./check', 'a', { stderr: 'fatal: b', failed: true })).toMatchObject({
      ok: false,
      exitCode: null,
      errors: ['fatal: b'],
    })
  })
})
