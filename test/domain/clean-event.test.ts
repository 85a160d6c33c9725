import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CleaningRules, cleanEvent, cleanTime, NO_EXCLUSIONS } from '../../src/domain/clean-event.ts'
import type { MemoryEvent } from '../../src/domain/event.ts'

const NOW = Date.UTC(2026, 10, 30, 12)
const RULES: CleaningRules = {
  ...NO_EXCLUSIONS,
  CLAUDE_MEM_SKIP_TOOLS: ['TodoWrite'],
  CLAUDE_MEM_EXCLUDED_PROJECTS: ['/w/secret'],
}

const base = {
  id: 'e',
  session: 's',
  at: NOW,
  client: 'rest',
  project: { key: 'dir:/w/shop', name: 'shop' },
  cwd: '/w/shop',
  transcriptPath: null,
  promptId: null,
  agent: null,
}
const prompt = (text: string): MemoryEvent => ({ ...base, kind: 'prompt', text, private: false })
const toolUse = (tool: string, input: unknown, response: unknown = null): MemoryEvent => ({
  ...base,
  kind: 'tool_use',
  tool,
  input,
  response,
  durationMs: null,
})
const clean = (event: MemoryEvent, rules = RULES) => cleanEvent(event, rules, NOW)

/** Pieces that rules look for, so that random events contain them whole, cut and side by side. */
const PIECES = [
  '<private>',
  '</private>',
  '<claude-mem-context>',
  '</claude-mem-context>',
  '<!-- claude-mem:begin -->',
  '<!-- claude-mem:end -->',
  'AKIAIOSFODNN7EXAMPLE',
  'ghp_0123456789abcdefghijABCDEFGHIJ012345',
  'password=hunter2-hunter2',
  'API_KEY: "',
  'Authorization: Bearer abcdefghijklmnop',
  'postgres://me:pw@host/db',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----',
  '[private]',
  '[secret:token]',
  '\ud800',
  '\0',
  '😀',
  '\n',
  ' ',
  '"',
  'x'.repeat(900),
  'token',
  '=',
]
const text = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 20 })), { maxLength: 12 })
  .map((all) => all.join(''))
const key = fc.oneof(text, fc.constantFrom('password', 'api_key', 'file_path', 'command', 'content', 'a'.repeat(300)))
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('.env', '/w/shop/.env', 'cat .env'),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(key, tie('value'), { maxKeys: 6 }),
    fc.constant(Array.from({ length: 700 }, (_, i) => i)),
  ),
}))
const identity = fc.record({
  id: fc.oneof(fc.constant('e'), text),
  at: fc.oneof(fc.constant(NOW), fc.double(), fc.constantFrom(9e15, -1, Number.POSITIVE_INFINITY)),
  cwd: fc.constantFrom('/w/shop', '/w/\0shop', '/w/\udc00'),
  agent: fc.constantFrom(null, { id: 'a\0', type: 'b' }),
})
const anyEvent: fc.Arbitrary<MemoryEvent> = fc
  .tuple(
    identity,
    fc.oneof(
      text.map((given) => ({ kind: 'prompt' as const, text: given, private: false })),
      fc.record({ input: value, response: value }).map((fields) => ({
        kind: 'tool_use' as const,
        tool: 'Bash',
        durationMs: 1,
        ...fields,
      })),
      fc.record({ input: value, error: text }).map((fields) => ({
        kind: 'tool_failure' as const,
        tool: 'Bash',
        durationMs: null,
        interrupted: false,
        ...fields,
      })),
      text.map((lastMessage) => ({ kind: 'subagent_end' as const, lastMessage })),
      text.map((lastMessage) => ({
        kind: 'turn_end' as const,
        lastMessage,
        error: lastMessage,
        words: [lastMessage, lastMessage],
      })),
      text.map((source) => ({ kind: 'session_start' as const, source })),
      text.map((reason) => ({ kind: 'session_end' as const, reason })),
      text.map((trigger) => ({ kind: 'pre_compact' as const, trigger })),
    ),
  )
  .map(([given, fields]) => ({ ...base, ...given, ...fields }))

describe('cleanEvent', () => {
  test.each([1, 4, 64])('cleaning a cleaned event changes nothing, with fields of %i KB', (kilobytes) => {
    const rules = { ...RULES, CLAUDE_MEM_MAX_FIELD_KB: kilobytes }
    fc.assert(
      fc.property(anyEvent, (event) => {
        const once = cleanEvent(event, rules, NOW)
        if (once.type === 'skipped') return
        expect(cleanEvent(once.event, rules, NOW)).toEqual(once)
      }),
      { numRuns: 1_500 },
    )
  })

  test.each<[string, MemoryEvent]>([
    ['an excluded project', { ...prompt('x'), cwd: '/w/secret/deep' }],
    ['an excluded project, known by its key', { ...prompt('x'), project: { key: 'git:/w/secret/.git', name: 'x' } }],
    ['a skipped tool', toolUse('TodoWrite', {})],
    ['an own tool', toolUse('mcp__claude-mem__search_memory', {})],
    ['an own tool of the plugin', toolUse('mcp__plugin_mem_claude-mem__remember', {})],
  ])('skips %s', (_name, event) => {
    expect(clean(event)).toMatchObject({ type: 'skipped' })
  })

  test('of a wholly private prompt only the fact is kept', () => {
    expect(clean(prompt('<private>buy marzipan</private>'))).toMatchObject({ event: { text: '', private: true } })
    expect(clean({ ...prompt('marzipan'), private: true } as MemoryEvent)).toMatchObject({ event: { text: '' } })
  })

  test('every text of every kind loses its private parts and secrets', () => {
    const given = 'a <private>marzipan</private> ghp_0123456789abcdefghijABCDEFGHIJ012345'
    const events: MemoryEvent[] = [
      { ...base, kind: 'session_start', source: given },
      prompt(given),
      toolUse('Bash', { command: given, [given]: [given] }, given),
      { ...base, kind: 'tool_failure', tool: 'Bash', input: given, error: given, interrupted: false, durationMs: null },
      { ...base, kind: 'subagent_end', lastMessage: given },
      { ...base, kind: 'pre_compact', trigger: given },
      { ...base, kind: 'turn_end', lastMessage: given, error: given, words: [given] },
      { ...base, kind: 'session_end', reason: given },
    ]
    for (const event of events) expect(JSON.stringify(clean(event))).not.toMatch(/marzipan|ghp_/)
  })

  test('what no row could hold becomes something that can', () => {
    let deep: unknown = 'deep'
    for (let i = 0; i < 20_000; i++) deep = [deep]
    const event = { ...toolUse('Ba\0sh', deep, { n: 1e308, t: 'a\ud800b' }), at: 9e15, id: 'e\udc00', cwd: '/w/\0' }
    const cleaned = clean(event)
    expect(cleaned).toMatchObject({ event: { at: NOW, id: 'e\ufffd', cwd: '/w/\ufffd', tool: 'Ba\ufffdsh' } })
    expect(JSON.stringify(cleaned).length).toBeLessThan(2_000)
  })

  test.each([
    [NOW - 1, NOW - 1],
    [0, 0],
    [NOW + 3_600_000, NOW + 3_600_000],
    [NOW + 0.75, NOW],
    [-1, NOW],
    [NOW + 2 * 86_400_000, NOW],
    [9e15, NOW],
    [Number.NaN, NOW],
    [Number.POSITIVE_INFINITY, NOW],
  ])('a time of %d becomes %d', (at, kept) => expect(cleanTime(at, NOW)).toBe(kept))
})
