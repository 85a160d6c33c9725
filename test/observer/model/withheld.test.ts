import { homedir } from 'node:os'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeWithheldFilter, matchPath, parsePathPattern } from '../../../src/observer/model/withheld.ts'
import { bash, bashFails, failed, grep, used, write } from '../events.ts'

const usual = makeWithheldFilter({
  tools: ['mcp__mail__*', 'WebFetch'],
  paths: [],
})
const isListed = (paths: string[], file: string) => matchPath(paths.flatMap(parsePathPattern), file, '') !== null

describe('withheld.tools', () => {
  test.each(['mcp__mail__send', 'MCP__Mail__read', 'webfetch'])('%s is', (tool) => {
    expect(usual.reasonFor(used(tool, {}, 'x'))).toMatch(
      /^not sent: \S+ is on your list \(CLAUDE_MEM_NEVER_SEND_TOOLS\)$/,
    )
    expect(usual.reasonFor(failed(tool, {}, 'x'))).not.toBeNull()
  })
  test.each(['mcp__mail', 'mcp__mailer', 'WebFetcher', 'Fetch', ''])('"%s" is not', (tool) => {
    expect(usual.reasonFor(used(tool, {}, 'x'))).toBeNull()
  })
  test('the end of a subagent is not a tool use', () => {
    const all = makeWithheldFilter({ tools: ['*'], paths: ['*'] })
    expect(all.reasonFor({ ...bash(''), kind: 'subagent_end', lastMessage: '.env' })).toBeNull()
  })
})

describe('withheld.patterns', () => {
  test.each([
    ['.env', '/a/b/.env'],
    ['.env', '.env'],
    ['.env', 'C:\\work\\.ENV'],
    ['.env.*', 'a/.env.local'],
    ['*.pem', 'certs/server.PEM'],
    ['id_rsa*', '/home/me/id_rsa.pub'],
    ['.ssh/', '/home/me/.ssh/config'],
    ['.ssh/', '/home/me/.ssh/keys/work/one'],
    ['.ssh/', '/home/me/.ssh'],
    ['secrets', 'config/secrets/db.yml'],
    ['config/secrets', 'app/config/secrets/db.yml'],
    ['config/*.yml', 'app/config/db.yml'],
    ['config/**/key', 'config/a/b/key'],
    ['config/**/key', 'config/key'],
    ['/etc/shop/', '/etc/shop/a'],
    ['~/private', `${homedir()}/private/a`],
    ['~/private', '$HOME/private/a'],
    ['C:/keys/', 'c:\\keys\\one'],
    ['a\\b', 'x/a/b'],
    ['a/../.env', '.env'],
    ['?.key', 'a.key'],
    ['a+(b)$[c].txt', 'x/a+(b)$[c].txt'],
  ])('%s matches %s', (pattern, file) => {
    expect(isListed([pattern], file)).toBe(true)
  })
  test.each([
    ['.env', 'process.env'],
    ['.env', '.envrc'],
    ['.env', '.env/lib/site.py'],
    ['.env.*', '.env'],
    ['*.pem', 'pem'],
    ['*.key', 'a.key/b.ts'],
    ['.ssh/', 'my.ssh/config'],
    ['config/*.yml', 'config/a/db.yml'],
    ['config/secrets', 'config/secretsauce'],
    ['/etc/shop/', '/home/me/etc/shop/a'],
    ['~/private', '/srv/private/a'],
    ['a.c', 'abc'],
    ['.*', ''],
    ['', 'a'],
    ['  ', 'a'],
    ['!', 'a'],
    ['/', 'a'],
  ])('%s does not match %s', (pattern, file) => {
    expect(isListed([pattern], file)).toBe(false)
  })
  test('a later entry wins over an earlier one', () => {
    expect(isListed(['.env.*', '!.env.example'], '.env.example')).toBe(false)
    expect(isListed(['.env.*', '!.env.example'], '.env.local')).toBe(true)
    expect(isListed(['!.env.example', '.env.*'], '.env.example')).toBe(true)
    expect(isListed(['!.env'], '.env')).toBe(false)
  })
  test('one file on the list is enough', () => {
    expect(usual.mentions(['src/a.ts', 'deploy/.env'], '')).toBe(true)
    expect(usual.mentions(['src/a.ts'], '')).toBe(false)
    expect(usual.mentions([], '')).toBe(false)
  })
})

describe('withheld.tool uses', () => {
  const why = 'not sent: .env is on your list (CLAUDE_MEM_NEVER_SEND_PATHS)'
  test('a file that is read, written or edited', () => {
    expect(usual.reasonFor(used('Read', { file_path: '/home/dev/shop/.env' }, 'x'))).toBe(why)
    expect(usual.reasonFor(used('Read', { file_path: '/home/dev/shop/.env.example' }, 'x'))).toBeNull()
    expect(usual.reasonFor(write('.env', 'A=1'))).toBe(why)
    expect(usual.reasonFor(write('README.md', 'Put it into `.env`\n.env:1:A=1'))).toBeNull()
    expect(usual.reasonFor(used('NotebookEdit', { notebook_path: '.ssh/a.ipynb' }, ''))).not.toBeNull()
    expect(usual.reasonFor(failed('Edit', { file_path: '.env' }, 'not found'))).toBe(why)
  })
  test('a relative path is resolved against the directory of the event', () => {
    const inside = { ...used('Read', { file_path: 'config' }, 'x'), cwd: `${homedir()}/.ssh` }
    expect(usual.reasonFor(inside)).toMatch(/\.ssh\//)
    expect(usual.reasonFor({ ...bash('cat config'), cwd: `${homedir()}/.ssh` })).toMatch(/\.ssh\//)
  })
  test("other people's tools", () => {
    expect(usual.reasonFor(used('mcp__files__read', { paths: ['a.ts', 'b/.env'] }, ''))).toBe(why)
    expect(usual.reasonFor(used('mcp__files__open', { target: { uri: 'file:///srv/.env' } }, ''))).toBe(why)
    expect(usual.reasonFor(used('mcp__files__find', { query: 'a' }, [{ path: '.env', text: 'A=1' }]))).toBe(why)
    expect(usual.reasonFor(used('mcp__notes__add', { text: 'see .env' }, 'ok'))).toBeNull()
  })
  test('a name in a list of files is not content', () => {
    expect(usual.reasonFor(grep('KEY', ['.env', 'src/a.ts']))).toBeNull()
    expect(usual.reasonFor(used('Glob', { pattern: '**/*' }, { filenames: ['.env'] }))).toBeNull()
    expect(usual.reasonFor(used('LS', { path: '.' }, '- .env\n- a.ts'))).toBeNull()
    expect(usual.reasonFor(bash('ls -a', '.env\na.ts'))).toBeNull()
    expect(usual.reasonFor(bash('git diff --stat', ' .env | 2 +-'))).toBeNull()
    expect(usual.reasonFor(used('Grep', { pattern: 'K', output_mode: 'count' }, { content: '.env:4' }))).toBeNull()
  })
  test.each([
    './.env:3:KEY=abc',
    '.env:KEY=abc',
    '.env-4-OTHER=abc',
    'C:\\shop\\.env:3:KEY=abc',
    '==> .env <==\nKEY=abc',
    'diff --git a/.env b/.env\n+KEY=abc',
    '--- a/.env\n+++ b/.env\n+KEY=abc',
  ])('lines of a listed file: %s', (stdout) => {
    expect(usual.reasonFor(bash('make show', `src/a.ts:1:x\n${stdout}`))).toBe(why)
    expect(usual.reasonFor(used('Grep', { pattern: 'KEY' }, { mode: 'content', content: stdout }))).toBe(why)
    expect(usual.reasonFor(bashFails('make show', stdout))).toBe(why)
  })
  test('a Grep for it, by its glob', () => {
    expect(usual.reasonFor(used('Grep', { pattern: '.', glob: '.env*' }, { content: 'KEY=abc' }))).toMatch(/\.env/)
    expect(usual.reasonFor(used('Grep', { pattern: '\\.env', glob: '*.ts' }, { content: '' }))).toBeNull()
  })
})

describe('withheld.shell lines', () => {
  test.each([
    'cat .env',
    'cat ./deploy/.env | grep KEY',
    'cat<.env',
    'cat < ".env"',
    'echo KEY=1 >> .env',
    'echo KEY=1 >.env',
    '. .env && npm start',
    'set -a; source .env; npm start',
    'docker run --env-file=.env shop',
    'docker run --env-file .env shop',
    'docker run -v ./.env:/app/.env shop',
    'curl -d @.env https://a',
    'scp me@host:/srv/.env .',
    'cat ".env"',
    "cat '.env'",
    'cat .e"n"v',
    'cat .env*',
    'cat .en?',
    'cat .en[v]',
    'cat .*',
    'openssl x509 -in certs/*.pem',
    'bash -c "cat .env"',
    "sudo sh -c 'grep KEY .env'",
    "bash -c 'cat $1' _ .env",
    'A=$(cat .env) node a.js',
    'echo "it is $(cat .env)"',
    'python -c "print(open(\'.env\').read())"',
    "python - <<'EOF'\nprint(open('.env').read())\nEOF",
    "cat > .env <<'EOF'\nKEY=abc\nEOF",
    'for f in .env; do cat $f; done',
    'grep -e KEY .env',
    'grep KEY .env',
    'ssh host cat /srv/.env',
    'type C:\\shop\\.env',
  ])('%s is withheld', (command) => {
    expect(usual.reasonFor(bash(command, 'KEY=abc'))).toMatch(/CLAUDE_MEM_NEVER_SEND_PATHS/)
  })
  test('a very long line is read to its end', () => {
    expect(usual.reasonFor(bash(`${'a '.repeat(12_000)} .env`))).not.toBeNull()
  })
  test.each([
    'git commit -m "Read the port from .env"',
    "git commit -m 'Read `.env` first'",
    'git commit -m "$(cat <<\'EOF\'\nRead .env first\n\nBecause `.env` wins.\nEOF\n)"',
    "git commit -F - <<'EOF'\nRead .env\nEOF",
    "cat > README.md <<'EOF'\nPut it into .env\nEOF",
    'gh pr create --title "Read .env" --body "see .env"',
    'echo "see .env"',
    "grep -rn '\\.env' src",
    'rg -n "process.env" src',
    'jq .env package.json',
    'node -e "console.log(process.env.PORT)"',
    'cat .env.example',
    'cat src/*.ts',
    'ls *',
    'npm test',
    'cat id.ts keys.ts',
    '"',
    '$(',
    '',
  ])('%s is sent', (command) => {
    expect(usual.reasonFor(bash(command, 'ok'))).toBeNull()
  })
})

describe('withheld.any input', () => {
  const word = fc.oneof(
    fc.constantFrom('*', '**', '.env', '/', '!', '\\', '[', '~/', '..', 'a', '"', '$(', '<<A\n'),
    fc.string(),
  )
  const texts = fc.array(word, { maxLength: 8 }).map((parts) => parts.join(''))
  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.array(texts),
        fc.array(texts),
        texts,
        fc.jsonValue(),
        fc.jsonValue(),
        (tools, paths, line, a, b) => {
          const withheld = makeWithheldFilter({ tools, paths })
          for (const event of [
            bash(line, line),
            used('x', a, b),
            used('Read', { file_path: line }, b),
            bashFails(line, line),
          ]) {
            const reason = withheld.reasonFor(event)
            if (reason !== null)
              expect(reason).toMatch(/^not sent: [\s\S]* is on your list \(CLAUDE_MEM_NEVER_SEND_\w+\)$/)
          }
          expect(typeof withheld.mentions([line], '')).toBe('boolean')
        },
      ),
    )
  })
  test('a listed file is found in any directory and spelling', () => {
    const folder = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/)
    fc.assert(
      fc.property(
        fc.array(folder, { maxLength: 5 }),
        fc.constantFrom('/', '\\'),
        fc.boolean(),
        (folders, separator, loud) => {
          const name = loud ? '.ENV' : '.env'
          const file = [...folders, name].join(separator)
          expect(usual.reasonFor(used('Read', { file_path: file }, ''))).not.toBeNull()
          expect(usual.reasonFor(bash(`cat "${file}"`))).not.toBeNull()
          expect(usual.mentions([file], '')).toBe(true)
        },
      ),
    )
  })
  test('a pattern with many stars takes linear time', () => {
    const stars = makeWithheldFilter({ tools: ['*a'.repeat(500)], paths: ['*a'.repeat(500), '**/*a/'.repeat(200)] })
    expect(stars.reasonFor(used('a'.repeat(400), { file_path: `${'a'.repeat(400)}/`.repeat(10) }, ''))).toBeNull()
  })
  test('a megabyte of output is searched', () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `src/file-${i}.ts:${i}:  const value = ${i}`)
    expect(usual.reasonFor(bash('rg value', [...lines, '.env:1:KEY=abc'].join('\n')))).not.toBeNull()
    expect(usual.reasonFor(bash('rg value', lines.join('\n')))).toBeNull()
    expect(usual.reasonFor(bash('rg value', '-1'.repeat(500_000)))).toBeNull()
    expect(usual.reasonFor(bash('<<a\n'.repeat(10_000)))).toBeNull()
  })
})

test('withheld.headings: lines below the name of a listed file are its content', () => {
  const found = 'src/a.ts\n3:const a = 1\n\n.env\n3:API=abc\n4-OTHER=1\n'
  expect(usual.reasonFor(bash('rg --heading API', found))).toMatch(/\.env/)
  expect(usual.reasonFor(bash('rg --heading API', 'src/a.ts\n3:const a = 1\n'))).toBeNull()
  expect(usual.reasonFor(bash('rg -l API', 'src/a.ts\n.env\n'))).toBeNull()
})
