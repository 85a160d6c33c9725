import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  boundValue,
  CUT_MARGIN,
  cutText,
  DEFAULT_BOUNDS,
  sanitizeText,
  sanitizeToolFields,
  toWellFormed,
} from '../../src/domain/sanitize.ts'
import { expectLinearTime } from '../support/linear-time.ts'

describe('cutText', () => {
  it('leaves what fits', () => expect(cutText('abc', 3)).toBe('abc'))

  it('keeps head and tail and the number of omitted characters', () => {
    const text = `${'h'.repeat(50_000)}${'t'.repeat(50_000)}`
    const cut = cutText(text, 1_000)
    expect(cut).toMatch(/^h+\[… 99,0\d\d characters left out …\]t+$/)
    expect(cut.length).toBeLessThanOrEqual(1_000)
    const said = Number(/… ([\d,]+) characters/.exec(cut)?.[1]?.replace(/,/g, ''))
    expect(said).toBe(100_000 - cut.replace(/\[.*\]/, '').length)
  })

  it('never splits a surrogate pair and is never too long', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 40_000 }),
        fc.integer({ min: 0, max: 3 }),
        fc.integer({ min: 1, max: 500 }),
        (n, shift, max) => {
          const cut = cutText('x'.repeat(shift) + '😀'.repeat(n), max)
          expect(cut.length).toBeLessThanOrEqual(max)
          expect(toWellFormed(cut)).toBe(cut)
          expect(cut).not.toContain('\ufffd')
        },
      ),
    )
  })

  it('replaces half characters', () => expect(cutText('a\ud800b\udc00', 10)).toBe('a\ufffdb\ufffd'))
})

describe('boundValue', () => {
  const limited = { ...DEFAULT_BOUNDS, text: 100, members: 3, depth: 3 }

  it('marks what it leaves out', () => {
    expect(boundValue([1, 2, 3, 4, 5], limited)).toEqual([1, 2, 3, '[… 2 items left out …]'])
    expect(boundValue({ a: 1, b: 2, c: 3, d: 4 }, limited)).toEqual({
      a: 1,
      b: 2,
      c: 3,
      '…': '[… 1 keys left out …]',
    })
    expect(boundValue([[[[1]]]], limited)).toEqual([[['[… nested too deep …]']]])
  })

  it('gives a value within its bounds for any input', () => {
    const value = fc.jsonValue({ maxDepth: 6 })
    fc.assert(
      fc.property(value, fc.integer({ min: 4, max: 3_000 }), fc.integer({ min: 1, max: 300 }), (json, total, text) => {
        const bounded = boundValue(json, { ...DEFAULT_BOUNDS, total, text })
        expect(Buffer.byteLength(JSON.stringify(bounded))).toBeLessThanOrEqual(total)
      }),
    )
  })

  it('shares a budget among many long texts', () => {
    const texts = Array.from({ length: 40 }, (_, i) => `${i}:${'x'.repeat(60_000)}`)
    const bounded = boundValue(texts)
    expect(JSON.stringify(bounded).length).toBeLessThanOrEqual(DEFAULT_BOUNDS.total)
    expect(bounded).toHaveLength(40)
  })
})

describe('sanitizing', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`

  it('masks a secret wherever a cut may fall', () => {
    const max = 4_096
    const length = 100_000
    for (let at = 0; at < length - token.length; at += at % 20_000 < 3_000 ? 7 : 501) {
      const text = `${' '.repeat(at)}${token}`.padEnd(length)
      const cleaned = sanitizeText(text, max)
      expect(cleaned).not.toMatch(/a1B2/)
      expect(cleaned.length).toBeLessThanOrEqual(max)
    }
  })

  it('masks where masking itself shortens the text', () => {
    const text = `${`${token}\n`.repeat(200)}${'A_TOKEN='}${'k1'.repeat(CUT_MARGIN)}\n${`${token}\n`.repeat(4_000)}`
    expect(sanitizeText(text, 2_000)).not.toMatch(/a1B2|k1k1/)
  })

  it('handles 50 MB', () => {
    const huge = 'a line of output, again and again\n'.repeat(1_500_000)
    const { response } = sanitizeToolFields({
      input: { command: 'x' },
      response: { stdout: `${huge}<private>s</private>` },
    })
    expect(JSON.stringify(response).length).toBeLessThan(70_000)
    expect(JSON.stringify(response)).toContain('characters left out')
    expect(JSON.stringify(response)).toContain('[private]')
  })

  describe('an output that is too long', () => {
    const filler = (lines: number) => 'compiled a module without a remark\n'.repeat(lines)
    const output = (before: number, line: string, after: number) => `${filler(before)}${line}\n${filler(after)}`

    it.each([1_000, 2_900, 4_000])('keeps an error in its middle, after %i lines', (before) => {
      const text = output(before, 'src/cart.ts(12,3): error TS2322: the total is wrong', 6_000 - before)
      expect(text.length).toBeGreaterThan(200_000)
      const { response } = sanitizeToolFields({ input: { command: 'npm run build' }, response: { stdout: text } })
      const stdout = String(Reflect.get(Object(response), 'stdout'))
      expect(stdout).toContain('\nsrc/cart.ts(12,3): error TS2322: the total is wrong\n')
      expect(stdout.length).toBeLessThanOrEqual(DEFAULT_BOUNDS.text)
      const said = Number(/… ([\d,]+) characters left out/.exec(stdout)?.[1]?.replace(/,/g, ''))
      expect(Math.abs(text.length - stdout.length - said)).toBeLessThan(200)
      expect(sanitizeText(stdout)).toBe(stdout)
    })

    it('keeps failures, exit codes and results of tests, in their order and once', () => {
      const lines = [
        'FAIL test/cart.test.ts > totals',
        'AssertionError: expected 4 to be 5',
        'Tests: 1 failed, 80 passed',
        'exited with code 2',
      ]
      const text = `${filler(2_000)}${lines.map((line) => `${line}\n${line}\n${filler(300)}`).join('')}${filler(2_000)}`
      const cut = sanitizeText(text, 8_000)
      expect(cut.split('\n').filter((line) => lines.includes(line))).toEqual(lines)
      expect(cut.length).toBeLessThanOrEqual(8_000)
    })

    it('masks secrets in the lines it keeps', () => {
      const cut = sanitizeText(output(3_000, `Error: 401 for token ${token} ${'x'.repeat(500)}`, 3_000), 4_000)
      expect(cut).toContain('Error: 401 for token [secret:github-token] xxx')
      expect(cut).not.toMatch(/a1B2/)
    })

    it('finds lines in an output of 50 MB, and in one line of that size, in linear time', () => {
      const huge = output(700_000, 'panic: index out of range', 700_000)
      expect(sanitizeText(`${filler(50_000)}panic: index out of range\n${filler(1_300_000)}`)).toContain(
        '\npanic: index',
      )
      expect(sanitizeText(huge)).toContain('characters left out')
      expectLinearTime((size) => sanitizeText('an error, '.repeat(size / 10)), 1_000_000, 'one line')
      expectLinearTime((size) => sanitizeText('an error\n'.repeat(size / 10)), 1_000_000, 'many lines')
    })
  })

  it('masks no more than can be kept of a payload with many long texts', () => {
    const texts = (count: number) =>
      Array.from({ length: count }, () => ({ output: 'password: hunter2 and more\n'.repeat(2_000) }))
    let masked = 0
    boundValue(texts(300), DEFAULT_BOUNDS, (text) => {
      masked += text.length
      return text
    })
    expect(masked).toBeLessThan(20 * DEFAULT_BOUNDS.total)
    const { response } = sanitizeToolFields({ input: {}, response: texts(300) })
    expect(JSON.stringify(response)).not.toContain('hunter2')
    expect(Buffer.byteLength(JSON.stringify(response))).toBeLessThanOrEqual(DEFAULT_BOUNDS.total)
  })

  it('changes nothing that it has cut already', () => {
    const value = {
      list: Array.from({ length: 700 }, (_, i) => `item ${i}`),
      object: Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`key ${i}`, i])),
      text: `${'line\n'.repeat(30_000)}an error\n${'line\n'.repeat(30_000)}`,
      texts: Array.from({ length: 60 }, () => 'y'.repeat(60_000)),
    }
    const once = sanitizeToolFields({ input: value, response: value.texts })
    expect(sanitizeToolFields(once)).toEqual(once)
    expect(JSON.stringify(once)).toContain('200 items left out')
  })

  it('masks values by their key', () => {
    const { input } = sanitizeToolFields({
      input: { api_key: 'abc', auth: [{ password: ['hunter'] }], max_tokens: 5, key: 'a.b' },
    })
    expect(input).toEqual({
      api_key: '[secret:key]',
      auth: [{ password: ['[secret:password]'] }],
      max_tokens: 5,
      key: 'a.b',
    })
  })

  it('keeps only the names of an .env file', () => {
    const { input, response } = sanitizeToolFields({
      input: { file_path: '/srv/app/.env' },
      response: {
        type: 'text',
        file: { filePath: '/srv/app/.env', content: 'HOST=example.org\n# note\nexport X="a\nb"\nY=\n' },
      },
    })
    expect(input).toEqual({ file_path: '/srv/app/.env' })
    expect(response).toEqual({
      type: 'text',
      file: {
        filePath: '/srv/app/.env',
        content: 'HOST=[secret:env]\n# note\nexport X=[secret:env]\n[secret:env]\nY=\n',
      },
    })
  })

  it('keeps no line of a diff of an .env file', () => {
    const lines = [' HOST=example.org', '-PORT=1', '+PORT=2', ' # note']
    const { response } = sanitizeToolFields({
      input: { file_path: '.env.local', old_string: 'example' },
      response: { structuredPatch: [{ lines }] },
    })
    expect(response).toEqual({
      structuredPatch: [{ lines: [' HOST=[secret:env]', '-PORT=[secret:env]', '+PORT=[secret:env]', ' # note'] }],
    })
  })

  it('masks what a command prints of an .env file', () => {
    const { response } = sanitizeToolFields({
      input: { command: 'cat ./.env | head' },
      response: { stdout: 'HOST=example.org\nok' },
    })
    expect(response).toEqual({ stdout: 'HOST=[secret:env]\nok' })
  })

  const FILE = '[secret:credentials-file]'

  it.each([
    ['/home/me/.netrc', 'machine x\n  login me\n  password hunter\n', FILE],
    ['/home/me/.pgpass', 'db:5432:app:me:hunter', FILE],
    ['/home/me/.docker/config.json', '{"auths":{"x":{"auth":"aHVudGVy"}}}', FILE],
    ['C:\\Users\\me\\.kube\\config', 'users: []', FILE],
    ['/home/me/.ssh/id_ed25519', 'aHVudGVy', FILE],
    ['infra/terraform.tfstate', '{"result": "hunter"}', FILE],
    ['/home/me/.config/gcloud/application_default_credentials.json', '{}', FILE],
    ['infra/prod.tfvars', 'region = "eu"\n# note', 'region =[secret:env]\n# note'],
    ['/home/me/.npmrc', '//npm.x.org/:_auth=hunter', '//npm.x.org/:_auth=[secret:env]'],
    ['/home/me/.aws/credentials', '[default]\nregion = eu', '[secret:env]\nregion =[secret:env]'],
  ])('keeps nothing of what is in %s', (path, content, kept) => {
    const fields = { input: { file_path: path }, response: { type: 'text', file: { filePath: path, content } } }
    const once = sanitizeToolFields(fields)
    expect(once.response).toEqual({ type: 'text', file: { filePath: path, content: kept } })
    expect(sanitizeToolFields(once)).toEqual(once)
    const written = sanitizeToolFields({ input: { file_path: path, content }, response: null })
    expect(written.input).toEqual({ file_path: path, content: kept })
  })

  it.each([
    ['cat ~/.netrc', 'machine x login me', FILE],
    ['grep -n me ~/.pgpass', '1:db:5432:app:me:hunter', FILE],
    ['cat ~/.kube/config | head -3', 'users: []', FILE],
    ['cd /srv && cat certs/tls.key', 'aHVudGVy', FILE],
    ['grep A .env', 'A=hunter', 'A=[secret:env]'],
    [
      'git show',
      'diff --git a/x/.netrc b/x/.netrc\n+++ b/x/.netrc\n@@ -1 +1 @@\n+machine x',
      `diff --git a/x/.netrc b/x/.netrc\n+++ b/x/.netrc\n@@ -1 +1 @@\n+${FILE}`,
    ],
    ['rg machine -n', '.netrc:1:machine x\nREADME.md:4:machine', `.netrc:1:${FILE}\nREADME.md:4:machine`],
    ['ls -la ~/.ssh/id_rsa', '-rw------- 1 me me 2602 id_rsa', '-rw------- 1 me me 2602 id_rsa'],
    ['ssh -i ~/.ssh/id_rsa host uptime', 'up 3 days', 'up 3 days'],
  ])('keeps nothing of a credentials file that a shell prints: %s', (command, stdout, kept) => {
    const once = sanitizeToolFields({ input: { command }, response: { stdout } })
    expect(once).toEqual({ input: { command }, response: { stdout: kept } })
    expect(sanitizeToolFields(once)).toEqual(once)
  })

  it('keeps nothing of a credentials file that a shell writes', () => {
    const echo = sanitizeToolFields({ input: { command: 'echo "db:5432:app:me:hunter" >> ~/.pgpass' } })
    expect(echo.input).toEqual({ command: `echo ${FILE} >> ~/.pgpass` })
    const heredoc = sanitizeToolFields({ input: { command: 'cat > ~/.netrc <<EOF\nmachine x\nlogin y\nEOF\nls' } })
    expect(heredoc.input).toEqual({ command: `cat > ~/.netrc <<EOF\n${FILE}\nEOF\nls` })
    expect(sanitizeToolFields(heredoc)).toEqual(heredoc)
  })

  it('masks numbers and values beside their name', () => {
    const { input } = sanitizeToolFields({
      input: {
        password: 12345678,
        tokens: 1532,
        max_tokens: 12345678,
        env: [{ name: 'DB_PASSWORD', value: 'hunter' }],
      },
    })
    expect(input).toEqual({
      password: '[secret:password]',
      tokens: 1532,
      max_tokens: 12345678,
      env: [{ name: 'DB_PASSWORD', value: '[secret:password]' }],
    })
  })

  it('masks headers by their name', () => {
    const { response } = sanitizeToolFields({
      response: { headers: { cookie: 'sid=abc123def; a=b', 'set-cookie': ['sid=abc123def; Path=/'], server: 'x' } },
    })
    expect(response).toEqual({
      headers: { cookie: '[secret:cookie]', 'set-cookie': ['sid=[secret:cookie]; Path=/'], server: 'x' },
    })
  })

  it('leaves an example file alone', () => {
    const { response } = sanitizeToolFields({
      input: { file_path: '.env.example' },
      response: { content: 'HOST=example.org' },
    })
    expect(response).toEqual({ content: 'HOST=example.org' })
  })

  it('masks a value whose name is on another line of a diff', () => {
    const secret = 'hunter2swordfish'
    const manifest = ['apiVersion: v1', 'kind: Secret', 'stringData:', `  license: ${secret}`]
    const list = ['env:', '  - name: DB_PASSWORD', `    value: ${secret}`]
    for (const lines of [manifest, list]) {
      const added = lines.map((line) => `+${line}`)
      const patch = { structuredPatch: [{ oldStart: 1, lines: [' # note', ...added] }] }
      const hunk = `--- a/x\n+++ b/x\n@@ -1 +1,4 @@\n # note\n${added.join('\n')}\n`
      const inJson = JSON.stringify({ out: lines.join('\n') })
      const sent = { input: { file_path: 'x.yaml' }, response: { patch, hunk, inJson, lines } }
      const kept = JSON.stringify(sanitizeToolFields(sent))
      expect(kept).not.toContain(secret)
      expect(kept.match(/\[secret:/g)).toHaveLength(4)
      expect(JSON.parse(kept).response.patch.structuredPatch[0].lines).toHaveLength(1 + lines.length)
    }
  })

  it('hides a private key that is split over lines of a diff', () => {
    const lines = ['+-----BEGIN RSA PRIVATE KEY-----', '+MIIEow', '+abcd', '+-----END RSA PRIVATE KEY-----', '+x']
    const { response } = sanitizeToolFields({ input: {}, response: { lines } })
    const marker = '[secret:private-key]'
    expect(response).toEqual({ lines: [`+${marker}`, marker, marker, marker, '+x'] })
  })
})

describe('telling lines of a cut text', () => {
  const filler = (count: number) => 'a plain line of the log with nothing in it to see\n'.repeat(count)
  const cut = (lines: string, key = 'stdout') => {
    const response = { [key]: `${filler(1_500)}${lines}\n${filler(1_500)}` }
    return JSON.stringify(sanitizeToolFields({ input: { command: 'npm run deploy' }, response }))
  }

  it.each([
    { what: 'code', lines: `    throw new Error('boom');\n${filler(3)}error: login failed with password: hunter22x` },
    { what: 'a continued command', lines: `error: docker run failed \\\n${filler(3)}mysql -phunter22x app failed` },
    { what: 'a first line', lines: 'error first\nerror=hunter22x99; failed=1', key: 'cookie' },
  ])('a secret is masked beside $what', ({ lines, key }) => {
    const cleaned = cut(lines, key)
    expect(cleaned.includes('but for these lines')).toBe(true)
    expect(cleaned.includes('hunter22x')).toBe(false)
  })
})
