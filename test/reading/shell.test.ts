import { describe, expect, test } from 'vitest'
import { checkName, readCommandLine } from '../../src/reading/shell.ts'

const kindOf = (line: string) => readCommandLine(line).kind

describe('kind of a command', () => {
  test.each([
    'pytest -x tests/',
    'npx vitest run test/a.test.ts',
    'uv run pytest',
    'sudo env CI=1 npm test',
    'npm run lint:fix',
    'pnpm --filter web typecheck',
    'yarn build',
    'bun run check',
    'cargo clippy --all-targets',
    'go vet ./...',
    'make -j4 test',
    'just fmt',
    'python -m mypy src',
    'python3 tests/test_cart.py',
    './scripts/run-tests.sh',
    'docker compose exec web pytest',
    'time tsc --noEmit',
    './gradlew :app:test',
    'mvn -q verify',
    'dotnet build',
    'mix test',
    'node --test',
    'bash -lc "npm test"',
    'cd app && npm install && npm test',
    'timeout 60 ruff check .',
  ])('%s is a check', (line) => expect(kindOf(line)).toBe('check'))

  test.each([
    'npm install',
    'npm start',
    'cargo run',
    'node server.js',
    'curl -s localhost',
    'rm -r dist',
    'sed -i s/a/b/ x',
    'docker ps',
  ])('%s is a run', (line) => expect(kindOf(line)).toBe('run'))
  test.each([
    'ls -la',
    'cat a.txt | grep test',
    'sed -n 1,20p a.ts',
    'git diff',
    'git show HEAD',
    'rg "npm test"',
    'pytest --version',
    '',
  ])('%s only looks', (line) => expect(kindOf(line)).toBe('look'))
  test.each([
    'git status',
    'git push -u origin x',
    'git -C ../other log --oneline',
    'git diff --cached --stat',
    'git checkout -b x',
  ])('%s is about the state of git', (line) => expect(kindOf(line)).toBe('git'))
  test('git commit is a commit, and a line with a check is a check first', () => {
    expect(kindOf('git add -A && git commit -m "run npm test"')).toBe('commit')
    expect(kindOf('npm test && git commit -m x')).toBe('check')
    expect(kindOf('git commit --dry-run')).toBe('look')
  })
  test('words in quotes, comments and heredocs are no commands', () => {
    expect(kindOf('echo "npm test"')).toBe('look')
    expect(kindOf('ls # npm test')).toBe('look')
    expect(kindOf("cat > a.sh <<'EOF'\nnpm test\nEOF")).toBe('look')
  })
})

describe('exit code of a line', () => {
  test.each([
    'npm test | tail -5',
    'npm test || true',
    'npm test; ls',
    'npm test & ls',
    'npm test\nls',
    'npm test 2>&1 | tail; echo x',
  ])('%s hides it', (line) => expect(readCommandLine(line).hidesExit).toBe(true))
  test.each([
    'npm test',
    'cd a; npm test',
    'npm test && git push | tail',
    'npm test > log 2>&1',
    'set -euo pipefail; npm test | tail; ls',
  ])('%s does not', (line) => expect(readCommandLine(line).hidesExit).toBe(false))
})

describe('shown command', () => {
  const shown = (line: string) => readCommandLine(line, '/home/dev/shop').shown
  test('loses the way into the same tree, and keeps the way out of it', () => {
    expect(shown('cd /home/dev/shop/app && npm test')).toBe('npm test')
    expect(shown('cd .. && npm test')).toBe('npm test')
    expect(shown('cd "/home/dev/shop" && npm test')).toBe('npm test')
    expect(shown('cd /home/dev/other && git status')).toBe('cd /home/dev/other && git status')
    expect(shown('cd ../other && git status')).toBe('cd ../other && git status')
  })
  test('is one line of bounded length', () => {
    expect(shown(`npm test -- ${'a '.repeat(500)}`).length).toBeLessThanOrEqual(160)
    expect(shown('npm \\\n  test')).toBe('npm \\ test')
  })
})

test('a check has the same name whatever it selects', () => {
  const name = checkName('npx vitest run test/a.test.ts 2>&1 | tail -20')
  expect(name).toBe(checkName('cd app && npx vitest run'))
  expect(checkName('npm run lint')).not.toBe(checkName('npm run test'))
  expect(checkName('ls')).toBe('')
})
