/** The small parts: JSON as text, the command line, the client's version, the diff. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unifiedDiff } from '../../../src/setup/install/change.ts'
import { eventsToRegister } from '../../../src/setup/install/claude-code-events.ts'
import { findClaudeCode } from '../../../src/setup/install/clients/claude-code.ts'
import { clientHookCommand, hookCommand, isOurCommand } from '../../../src/setup/install/command-line.ts'
import { ENTRY_FORMATS } from '../../../src/setup/install/entries.ts'
import { parseNodes, removeChild, withoutComments } from '../../../src/setup/install/json-edit.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { InstallFixture } from './fixture.ts'
import { commentsOf } from './inputs.ts'

const COMMAND = '"/usr/bin/node" "/opt/claude-mem/dist/hook.cjs" --data-dir "/home/me/.claude-mem"'
const HOOK_EVENT_NAMES = eventsToRegister(true)
const isOurs = (command: unknown) => isOurCommand(command, [COMMAND])
const mergeHooks = (text: string, events: readonly string[]) =>
  ENTRY_FORMATS.hooks.merge(text, { events, command: COMMAND, server: null }, isOurs, 'settings.json')

describe('json as text', () => {
  const group = fc.record({ hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() })) })
  const settings = fc.record({
    hooks: fc.dictionary(fc.constantFrom('Stop', 'PostToolUse', 'Other'), fc.array(group, { minLength: 1 }), {
      minKeys: 1,
    }),
    more: fc.jsonValue(),
  })
  const layout = fc.constantFrom('', ' ', '  ', '    ', '\t')

  it('any settings: adding and removing our entries keeps every other byte', () => {
    fc.assert(
      fc.property(settings, layout, fc.constantFrom('\n', '\r\n'), (value, indent, eol) => {
        const text = JSON.stringify(value, null, indent).replaceAll('\n', eol)
        const merged = mergeHooks(text, HOOK_EVENT_NAMES)
        const parsed = JSON.parse(merged)
        expect(parsed.more).toEqual(JSON.parse(text).more)
        for (const event of HOOK_EVENT_NAMES) expect(parsed.hooks[event].at(-1).hooks[0].command).toBe(COMMAND)
        expect(mergeHooks(merged, HOOK_EVENT_NAMES)).toBe(merged)
        expect(ENTRY_FORMATS.hooks.remove(merged, isOurs, 'settings.json')).toBe(text)
      }),
      { numRuns: 50 },
    )
  })

  const comment = fc.constantFrom('', '', '', ' ', '/* , */', '/*"*/', '/*\n{\n*/', ' // ] "x\n', '//\r\n')
  const comments = fc.array(comment, { minLength: 40, maxLength: 40 })
  function withComments(plain: string, gaps: readonly string[]): string {
    let at = 0
    return plain.replace(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (token) => token + gaps[at++ % gaps.length])
  }

  it('any list with comments: one item is removed, and no comment', () => {
    const lists = fc.array(fc.constantFrom(1, 'a, // b', [2, 3], { c: '*/' }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(lists, layout, comments, fc.nat(), (list, indent, gaps, n) => {
        const text = withComments(JSON.stringify(list, null, indent), gaps)
        const node = parseNodes(text)
        if (node.kind !== 'array') throw new Error('no list')
        const index = n % list.length
        const removed = removeChild(text, node, index)
        expect(JSON.parse(withoutComments(removed))).toEqual(list.toSpliced(index, 1))
        const { start = 0, end = 0 } = node.items[index] ?? {}
        const outside = text.slice(0, start) + ' '.repeat(end - start) + text.slice(end)
        // White space behind the item may be behind a comment now.
        expect(commentsOf(removed).map((one) => one.trimEnd())).toEqual(commentsOf(outside))
      }),
      { numRuns: 500 },
    )
  })

  it('any comments between any two tokens: adding and removing our entries keeps every other byte', () => {
    fc.assert(
      fc.property(settings, layout, comments, fc.boolean(), (value, indent, gaps, isFirst) => {
        const { hooks, more } = value
        const plain = JSON.stringify(isFirst ? { hooks, more } : { more, hooks }, null, indent)
        const text = withComments(plain, gaps)
        const merged = mergeHooks(text, HOOK_EVENT_NAMES)
        const parsed = JSON.parse(withoutComments(merged))
        expect(parsed.more).toEqual(JSON.parse(plain).more)
        for (const event of HOOK_EVENT_NAMES) expect(parsed.hooks[event].at(-1).hooks[0].command).toBe(COMMAND)
        expect(mergeHooks(merged, HOOK_EVENT_NAMES)).toBe(merged)
        expect(ENTRY_FORMATS.hooks.remove(merged, isOurs, 'settings.json')).toBe(text)
      }),
      { numRuns: 50 },
    )
  })

  it('follows the layout of the file', () => {
    const merged = mergeHooks('{\r\n\t"a": 1\r\n}', ['Stop'])
    const wanted = { a: 1, hooks: { Stop: [{ hooks: [{ type: 'command', command: COMMAND, timeout: 10 }] }] } }
    expect(merged).toBe(JSON.stringify(wanted, null, '\t').replaceAll('\n', '\r\n'))
    const { a: _, ...hooks } = wanted
    expect(mergeHooks('{}', ['Stop'])).toBe(JSON.stringify(hooks, null, 2))
    expect(mergeHooks('{"a":1}', ['Stop'])).toBe(JSON.stringify(wanted))
  })
})

describe('the command line', () => {
  it.each([
    [
      '/usr/bin/node',
      '/opt/my tools/dist/hook.cjs',
      'linux',
      '"/usr/bin/node" "/opt/my tools/dist/hook.cjs" --data-dir "/data"',
    ],
    [
      '/a"b/node',
      '/a$HOME`x`\\n/hook.cjs',
      'linux',
      '"/a\\"b/node" "/a\\$HOME\\`x\\`\\\\n/hook.cjs" --data-dir "/data"',
    ],
    [
      'C:\\Program Files\\nodejs\\node.exe',
      'C:\\Users\\me\\claude-mem\\dist\\hook.cjs',
      'win32',
      '"C:/Program Files/nodejs/node.exe" "C:/Users/me/claude-mem/dist/hook.cjs" --data-dir "/data"',
    ],
  ] as const)('of %s and %s on %s', (node, hook, platform, command) => {
    expect(hookCommand({ node, hook, dataDir: '/data' }, platform)).toBe(command)
  })

  it('is refused for a path with a line break', () => {
    expect(() => hookCommand({ node: '/usr/bin/node', hook: '/a\nb/hook.cjs', dataDir: '/data' })).toThrow('line break')
  })

  it('of another client on Windows means the same to cmd and PowerShell', () => {
    const command = (hook: string, dataDir = 'C:\\data') =>
      clientHookCommand({ node: 'C:\\node\\node.exe', hook, dataDir }, 'cursor', 'win32')
    expect(command("C:\\Users\\Zoë & Co (x86)\\it's #1\\hook.cjs")).toBe(
      `node "C:/Users/Zoë & Co (x86)/it's #1/hook.cjs" --data-dir "C:/data" --client cursor`,
    )
    expect(command('\\\\nas\\tools\\hook.cjs')).toBe('node "//nas/tools/hook.cjs" --data-dir "C:/data" --client cursor')
    for (const name of ['100%', '$tools', 'a`b']) {
      expect(() => command(`C:\\${name}\\hook.cjs`)).toThrow('move the program elsewhere')
      expect(() => command('C:\\hook.cjs', `C:\\${name}`)).toThrow('move the program elsewhere')
    }
  })

  it.skipIf(process.platform === 'win32')('means the same file to a shell for any directory name', () => {
    const home = temporaryDirectory('quoting')
    try {
      const directory = join(home, `a b'c"d$HOME\`e\`\\f!&;(é`)
      mkdirSync(directory)
      const hook = join(directory, 'hook.cjs')
      writeFileSync(hook, 'process.stdout.write(__filename + process.argv[3])')
      const node = join(directory, 'node')
      symlinkSync(process.execPath, node)
      expect(
        execFileSync('/bin/sh', ['-c', hookCommand({ node, hook, dataDir: directory })], { encoding: 'utf8' }),
      ).toBe(hook + directory)
    } finally {
    }
  })

  it('is recognised at any path of the program', () => {
    const here = join(import.meta.dirname, '..', '..', '..', 'dist', 'hook.cjs')
    const commands: [unknown, boolean][] = [
      [
        hookCommand({
          node: '/old/bin/node',
          hook: '/usr/lib/node_modules/claude-mem/dist/hook.cjs',
          dataDir: '/data',
        }),
        true,
      ],
      [
        hookCommand({ node: 'C:\\node.exe', hook: 'C:\\x\\claude-mem-0.1\\dist\\hook.cjs', dataDir: '/data' }, 'win32'),
        true,
      ],
      [hookCommand({ node: '/usr/bin/node', hook: here, dataDir: '/data' }), true],
      [hookCommand({ node: '/usr/bin/node', hook: '/opt/other/dist/hook.cjs', dataDir: '/data' }), false],
      [hookCommand({ node: '/usr/bin/python3', hook: '/opt/claude-mem/dist/hook.cjs', dataDir: '/data' }), false],
      ['echo claude-mem', false],
      [7, false],
      [undefined, false],
    ]
    expect(commands.map(([command]) => [command, isOurCommand(command, [])])).toEqual(commands)
  })
})

describe.skipIf(process.platform === 'win32')('the client', () => {
  it('is looked for on the PATH, then where its installers put it', async () => {
    const place = new InstallFixture()
    try {
      const config = join(place.home, '.claude')
      const find = (PATH: string) => findClaudeCode({ PATH }, place.home, config)
      expect(await find('/nonexistent')).toBeNull()
      const local = place.client('1.0.128', join(config, 'local'))
      expect(await find('/nonexistent')).toEqual({ path: local, version: '1.0.128' })
      const onPath = place.client('2.1.197')
      expect(await find(`/nonexistent:${place.bin}`)).toEqual({ path: onPath, version: '2.1.197' })
      copyFileSync('/bin/false', onPath)
      expect(await find(place.bin)).toEqual({ path: local, version: '1.0.128' })
    } finally {
      place.dispose()
    }
  })
})

describe('the diff', () => {
  const lines = (text: string) => text.split(' ').join('\n')
  it.each([
    ['nothing', 'a\n', 'a\n', []],
    ['a new file', null, 'a\n', ['--- /dev/null', '+++ f', '@@ -0,0 +1,1 @@', '+a']],
    ['a removed one', 'a\n', null, ['--- f', '+++ /dev/null', '@@ -1,1 +0,0 @@', '-a']],
    [
      'two places',
      `${lines('1 2 3 4 5 6 7 8 9 10 11 12')}\n`,
      `${lines('1 x 3 4 5 6 7 8 9 10 11 12 13')}\n`,
      ['--- f', '+++ f', '@@ -1,5 +1,5 @@', ' 1', '-2', '+x', ' 3', ' 4', ' 5'].concat([
        '@@ -10,3 +10,4 @@',
        ' 10',
        ' 11',
        ' 12',
        '+13',
      ]),
    ],
    [
      'a last line without an end',
      'a',
      'a\n',
      ['--- f', '+++ f', '@@ -1,1 +1,1 @@', '-a\n\\ No newline at end of file', '+a'],
    ],
  ])('of %s', (_, before, after, wanted) => {
    expect(unifiedDiff(before, after, 'f')).toEqual(wanted)
  })
})
