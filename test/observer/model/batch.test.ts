import { describe, expect, test } from 'vitest'
import { formatDateTime } from '../../../src/domain/dates.ts'
import type { InboxEvent } from '../../../src/domain/event.ts'
import { bash, bashFails, edit, failed, grep, used, write } from '../events.ts'
import { ENDED, filler, only, render } from './batches.ts'

describe('batch.block', () => {
  test('has number, tool, directory below the project, and agent; the time stands above', () => {
    const first: InboxEvent = { ...bash('npm test', 'ok'), cwd: '/home/dev/shop/packages/api' }
    const second: InboxEvent = { ...bash('ls'), cwd: '/tmp', agent: { id: 'a1', type: 'Explore' } }
    const text = render([first, second])
    expect(text).toContain(`2 tool uses of ${formatDateTime(first.at)}:`)
    expect(text).toContain('<tool_use n="1" tool="Bash" dir="packages/api">')
    expect(text).toContain('<tool_use n="2" tool="Bash" dir="/tmp" agent="Explore">')
  })

  test("the project's own directory goes without saying", () => {
    expect(only(bash('ls'))).not.toContain('dir=')
    expect(only({ ...bash('ls'), cwd: 'C:\\dev\\shop\\src' }, { projectDir: 'C:\\dev\\shop\\' })).toContain('dir="src"')
  })

  test('what is left out is named by tool and target, each once; what is withheld by its tool alone', () => {
    const read = used('Read', { file_path: '/home/dev/shop/src/cart.ts' }, {})
    const secret = used('Read', { file_path: '/home/dev/shop/.env' }, {})
    const text = only(bash('make'), { folded: [read, bash('npm test'), read], withheld: [secret] })
    expect(text).toContain('3 more tool uses with nothing new: Read src/cart.ts (2); Bash npm test')
    expect(text).toContain('1 more tool use withheld, the user keeps them private: Read')
    expect(text).not.toContain('.env')
    expect(render([], { folded: [read] })).toBe('1 more tool use with nothing new: Read src/cart.ts')
    expect(render([])).toBe('')
  })

  test('the names of many left out tool uses are bounded', () => {
    const folded = Array.from({ length: 500 }, (_, i) => bash(`cat file-${i}.txt`))
    expect(only(bash('make'), { folded }).length).toBeLessThan(800)
  })
})

describe('batch.tools', () => {
  test('an edit shows its patch with the declaration around it, never the whole file', () => {
    const before = 'export function discount(cart) {\n  return cart.coupon.percent\n}\n// far away\n'
    const text = only(edit('src/cart.ts', before, '  return cart.coupon.percent', '  return cart.coupon?.percent ?? 0'))
    expect(text).toContain(
      'file: src/cart.ts\n@@ line 2 in export function discount(cart) {\n-  return cart.coupon.percent\n+  return cart.coupon?.percent ?? 0',
    )
    expect(text).not.toContain('far away')
  })

  test('an edit without a patch shows the lines before and after', () => {
    const input = {
      file_path: '/home/dev/shop/a.py',
      edits: [
        { old_string: 'a\nb\nc\nd\ne', new_string: 'a\nb\nX\nd\ne' },
        { old_string: 'red', new_string: 'blue', replace_all: true },
      ],
    }
    const text = only(used('MultiEdit', input, { filePath: '/home/dev/shop/a.py' }))
    expect(text).toContain(
      'replaced: everywhere\n@@ line 1\n-a\n-b\n-c\n-d\n-e\n+a\n+b\n+X\n+d\n+e\n@@ line 1\n-red\n+blue\n',
    )
  })

  test('a failed edit shows the attempt and the error', () => {
    const text = only(
      failed('Edit', { file_path: '/home/dev/shop/a.ts', old_string: 'x', new_string: 'y' }, 'String not found'),
    )
    expect(text).toContain('file: a.ts\n@@ line 1\n-x\n+y\n<outcome failed="yes">\nString not found\n</outcome>')
  })

  test('a new file shows its content once', () => {
    const text = only(write('src/tax.ts', 'export const VAT = 0.19\n'))
    expect(text).toContain('file: src/tax.ts\ncontent: export const VAT = 0.19\n<outcome>\nnew file\n')
    expect(text.match(/VAT = 0\.19/g)).toHaveLength(1)
  })

  test('an overwritten file shows what changed, with or without a patch', () => {
    const before = 'import a\nconst one = 1\nconst two = 2\nconst three = 3\n'
    const content = before.replace('two = 2', 'two = 22')
    const path = '/home/dev/shop/src/a.ts'
    const response = { type: 'update', filePath: path, originalFile: before, structuredPatch: [] as unknown[] }
    const change = ['-const two = 2', '+const two = 22']
    for (const patch of [[], [{ newStart: 3, lines: [' const one = 1', ...change] }]]) {
      const text = only(used('Write', { file_path: path, content }, { ...response, structuredPatch: patch }))
      expect(text).toContain(change.join('\n'))
      expect(text).toContain('overwritten, with this change')
      expect(text).not.toMatch(/content:|const three = 3\n.*const three/s)
    }
    const other = { ...response, originalFile: 'old words\n'.repeat(100) }
    const replaced = only(used('Write', { file_path: path, content }, other))
    expect(replaced).toContain('content:\nimport a\n')
    expect(replaced).not.toContain('old words')
    const unknown = only(used('Write', { file_path: path, content }, { type: 'update', filePath: path }))
    expect(unknown).toContain('content:\nimport a\n')
  })

  test("the client's note on the directory is not shown", () => {
    const note = 'Shell cwd was reset to /home/dev/shop'
    const response = { stdout: 'done', stderr: `${note}\n`, interrupted: false }
    expect(only(used('Bash', { command: 'cd api && make' }, response))).toContain('<outcome>\ndone\n</outcome>')
    expect(only(bash('cd api && make', `one\n${note}\ntwo`))).toContain('one\ntwo')
  })

  test('a read shows file, lines and a shortened content', () => {
    const content = filler(10_000)
    const text = only(
      used(
        'Read',
        { file_path: '/home/dev/shop/src/a.ts', offset: 100, limit: 50 },
        { type: 'text', file: { content } },
      ),
    )
    expect(text).toContain('file: src/a.ts\nlines: 100-149\n')
    expect(text.length).toBeLessThan(2_400)
    const picture = { type: 'image', file: { base64: 'iVBORw0KGgo'.repeat(500), type: 'image/png' } }
    expect(only(used('Read', { file_path: '/home/dev/shop/logo.png' }, picture))).toContain('<outcome>\n[image]\n')
  })

  test('a command shows its description and both outputs, or that there are none', () => {
    const text = only(
      used(
        'Bash',
        { command: 'npm run build', description: 'Build it' },
        { stdout: '\u001b[32mdone\u001b[0m\r\n10%\r50%\r100% built', stderr: 'warning: slow', interrupted: false },
      ),
    )
    expect(text).toContain(
      'command: npm run build\nwhy: Build it\n<outcome>\ndone\n100% built\nstderr: warning: slow\n',
    )
    expect(only(bash('true'))).toContain('<outcome>\n(no output)\n</outcome>')
  })

  test('a failed or interrupted command is marked', () => {
    expect(only(bashFails('npm test', 'boom', 3))).toContain('<outcome failed="yes">\nExit code 3\nboom\n')
    const stopped = used('Bash', { command: 'sleep 99' }, { stdout: '', stderr: '', interrupted: true })
    expect(only(stopped)).toContain('<outcome interrupted="yes">')
  })

  test('a search shows its pattern and its matches', () => {
    expect(only(grep('coupon', ['/home/dev/shop/src/cart.ts', 'b.ts']))).toContain(
      'pattern: coupon\n<outcome>\nsrc/cart.ts\nb.ts\n',
    )
    const lines = used(
      'Grep',
      { pattern: 'x', path: '/home/dev/shop', glob: '*.ts' },
      { mode: 'content', content: 'a.ts:1:x' },
    )
    expect(only(lines)).toContain('pattern: x\nin: .\nfiles: *.ts\n<outcome>\na.ts:1:x\n')
    expect(only(used('Glob', { pattern: '**/*.zig' }, { filenames: [], numFiles: 0 }))).toContain('(no match)')
  })

  test('a subagent task shows prompt and result, without counters', () => {
    const text = only(
      used(
        'Agent',
        { description: 'Find routes', prompt: 'Where are the routes?', subagent_type: 'Explore' },
        {
          status: 'completed',
          content: [{ type: 'text', text: 'In src/api/routes.ts' }],
          usage: { input_tokens: 100 },
          totalTokens: 120,
        },
      ),
    )
    expect(text).toContain('agent: Explore\ntask: Find routes\nprompt: Where are the routes?\n')
    expect(text).toContain('status: completed\nIn src/api/routes.ts\n')
    expect(text).not.toMatch(/tokens/i)
    expect(only(ENDED)).toMatch(/agent="Explore">\n<outcome>\nRoutes are in src\/api\/routes\.ts\n/)
  })

  test('a web page shows address, question and answer', () => {
    const text = only(
      used(
        'WebFetch',
        { url: 'https://x.test/a', prompt: 'Limits?' },
        { code: 404, codeText: 'Not Found', result: 'gone' },
      ),
    )
    expect(text).toContain('url: https://x.test/a\nasked: Limits?\n<outcome>\nstatus: 404 Not Found\ngone\n')
  })

  test('any other tool shows its fields, without empty ones and binary data', () => {
    const text = only(
      used('mcp__tickets__get', { id: 42, filter: null, tags: [], expand: { author: true, note: '' } }, [
        { type: 'text', text: 'Ticket 42: login fails' },
        { type: 'image', data: 'x1y2z3'.repeat(900), mimeType: 'image/png' },
      ]),
    )
    expect(text).toContain('id: 42\nexpand: {"author":true}\n<outcome>\nTicket 42: login fails\n[image]\n</outcome>')
    const blob = `start ${'aB3+/x9Q'.repeat(200)} end`
    expect(only(bash('cat blob', blob))).toContain('start [data, 1,600 characters] end')
  })

  test('plain text and unknown shapes are shown', () => {
    expect(only(used('Bash', 'npm test', '12 passed'))).toContain('npm test\n<outcome>\n12 passed\n')
    expect(only(used('Edit', { target: 'a.ts', diff: '+x' }, 'applied'))).toContain(
      'target: a.ts\ndiff: +x\n<outcome>\napplied',
    )
    expect(only(used('Read', { file_path: '/x/y.ts' }, null))).toMatch(/file: \/x\/y\.ts\n<\/tool_use>$/)
  })
})
