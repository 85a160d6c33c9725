import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { estimateTokens, OBSERVATION_TYPES } from '../../../src/domain/observation.ts'
import {
  builtInPromptFolder,
  fillPrompt,
  loadPrompts,
  PROMPT_NAMES,
  systemPrompt,
} from '../../../src/observer/model/prompts.ts'
import { temporaryDirectory } from '../../support/directories.ts'

const folder = builtInPromptFolder()
const ours = loadPrompts({ folder, override: null })
const CONCEPTS = ['how-it-works', 'why-it-exists', 'what-changed', 'problem-solution', 'gotcha', 'pattern', 'trade-off']

let own: string
beforeEach(() => {
  own = temporaryDirectory('prompts')
})
const put = (name: string, text: string | Buffer) => writeFileSync(join(own, name), text)
const load = () => loadPrompts({ folder, override: own })
const VERSION = '---\nversion: 1\n---\n'

describe('prompts.built-in', () => {
  test('every prompt loads, and the folder has no other files', () => {
    expect(ours.problems).toEqual([])
    expect(readdirSync(folder).sort()).toEqual(PROMPT_NAMES.map((name) => `${name}.md`).sort())
    expect(ours.prompts.version).toMatch(/^\d+$/)
    expect(ours.prompts.init.version).toMatch(/^init-\d+$/)
  })

  test('the system text names every tag, type and concept of an answer', () => {
    const text = systemPrompt(ours.prompts, { verbosity: 'normal', language: 'English' })
    for (const tag of [
      'observation',
      'type',
      'title',
      'subtitle',
      'narrative',
      'facts',
      'fact',
      'concepts',
      'concept',
      'files_read',
      'files_modified',
      'functions_changed',
      'summary',
      'request',
      'investigated',
      'learned',
      'completed',
      'next_steps',
      'files_edited',
      'notes',
    ]) {
      expect(text).toMatch(new RegExp(`<${tag}[ >]`))
      expect(text).toContain(`</${tag}>`)
    }
    for (const type of OBSERVATION_TYPES) expect(text).toContain(`\n- ${type}: `)
    for (const concept of CONCEPTS) expect(text).toMatch(new RegExp(`Concepts.*\\b${concept}\\b`))
    for (const tag of ['amends', 'resolved']) expect(text).toContain(`<${tag} `)
    for (const status of ['open', 'untested']) expect(text).toContain(`status="${status}"`)
    expect(text).toContain('<skip reason="')
    expect(ours.prompts.summary.text).toContain('<skip_summary reason="')
    expect(text).toContain('action="new|modified|deleted"')
  })

  test('the system text stays small, without placeholders', () => {
    for (const verbosity of ['minimal', 'normal', 'verbose']) {
      const text = systemPrompt(ours.prompts, { verbosity, language: 'English' })
      expect(text).not.toContain('{{')
      expect(estimateTokens(text)).toBeLessThan(2_400)
    }
  })

  test('verbosity changes the system text, and an unknown one is normal', () => {
    const at = (verbosity: string) => systemPrompt(ours.prompts, { verbosity, language: 'English' })
    expect(new Set([at('minimal'), at('normal'), at('verbose')]).size).toBe(3)
    expect(at('minimal')).toContain('When in doubt, skip')
    expect(at('verbose')).toContain('When in doubt, record')
    expect(at('loud')).toBe(at('normal'))
  })

  test('the language is named; the default is English', () => {
    const speak = (language: string) => systemPrompt(ours.prompts, { verbosity: 'normal', language })
    expect(speak('Deutsch')).toContain('in Deutsch.')
    expect(speak('  ')).toBe(speak('English'))
    expect(speak('x'.repeat(10_000)).length).toBeLessThan(speak('English').length + 100)
  })
})

describe('prompts.fill', () => {
  test('a value is neither expanded nor used as a replacement pattern', () => {
    const text = fillPrompt(ours.prompts.compaction, { opening: '{{digest}}', digest: "$& {{opening}} $' $1" })
    expect(text).toContain("\n$& {{opening}} $' $1\n")
    expect(text.startsWith('{{digest}}\n')).toBe(true)
  })

  test('an empty value removes its line and the gap after it', () => {
    expect(fillPrompt(ours.prompts.observation, { stored: '', request: '', batch: 'B' })).toMatch(/^B\n\n\S/)
    expect(fillPrompt(ours.prompts.observation, { stored: '', request: 'R', batch: 'B' })).toMatch(/^R\n\nB\n\n\S/)
  })
})

describe('prompts.user', () => {
  test('a file of the user replaces one prompt, and its content determines the version', () => {
    put('init.md', `\uFEFF---\r\nversion: 7\r\n---\r\nWatch. {{verbosity}} In {{language}}.\r\n`)
    const { prompts, problems } = load()
    expect(problems).toEqual([])
    expect(prompts.init.text).toBe('Watch. {{verbosity}} In {{language}}.')
    expect(prompts.init.version).toMatch(/^own:[\da-f]{8}$/)
    expect(prompts.summary).toEqual(ours.prompts.summary)
    expect(prompts.version).toMatch(new RegExp(`^${ours.prompts.version}\\+own:[\\da-f]{8}$`))
    const before = prompts.version
    expect(load().prompts.version).toBe(before)
    put('init.md', `${VERSION}Watch well. {{verbosity}} In {{language}}.`)
    expect(load().prompts.version).not.toBe(before)
  })

  test.each([
    ['a missing placeholder', 'init.md', `${VERSION}In {{language}}.`, '{{verbosity}} is missing'],
    [
      'an unknown placeholder',
      'summary.md',
      `${VERSION}{{request}} {{last_message}} {{mood}}`,
      '{{mood}} is not a placeholder',
    ],
    ['a placeholder with blanks in it', 'request.md', `${VERSION}{{ text }}`, '{{text}} is missing'],
    ['a placeholder where there are none', 'verbosity-normal.md', `${VERSION}{{x}}`, 'this prompt has none'],
    ['no front matter', 'request.md', 'Asked: {{text}}', 'it has no version'],
    ['no version', 'request.md', '---\nname: x\n---\nAsked: {{text}}', 'it has no version'],
    ['a version that is no number', 'request.md', '---\nversion: new\n---\nAsked: {{text}}', 'it has no version'],
    ['nothing', 'request.md', ' \n\t', 'it is empty'],
    ['nothing but front matter', 'request.md', VERSION, 'nothing follows'],
    ['too much', 'request.md', `${VERSION}{{text}}${'x'.repeat(70_000)}`, 'larger than 64 KB'],
    ['bytes that are no text', 'request.md', Buffer.from([0x2d, 0xff, 0xfe, 0x00]), 'not UTF-8'],
  ])('with %s ours is used, and the reason is reported', (_what, name, text, words) => {
    put(name, text)
    const { prompts, problems } = load()
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(join(own, name))
    expect(problems[0]).toContain(words)
    expect(problems[0]).toContain('Ours is used')
    expect(prompts).toEqual(ours.prompts)
  })

  test('a directory with the name of a prompt is reported, not read', () => {
    mkdirSync(join(own, 'init.md'))
    expect(load().problems).toEqual([expect.stringContaining('it is not a file')])
  })

  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('an unreadable file is reported', () => {
    put('init.md', `${VERSION}{{verbosity}} {{language}}`)
    chmodSync(join(own, 'init.md'), 0)
    expect(load().problems).toEqual([expect.stringContaining('it cannot be read')])
  })

  test('an unknown name is reported, a README is not', () => {
    put('observations.md', `${VERSION}{{batch}}`)
    put('README.md', 'mine')
    put('notes.txt', 'mine')
    expect(load().problems).toEqual([
      expect.stringMatching(/observations\.md: there is no prompt of this name.*observation\.md/),
    ])
  })

  test('a missing folder is reported, and ours are used', () => {
    const { prompts, problems } = loadPrompts({ folder, override: join(own, 'nowhere') })
    expect(problems).toEqual([expect.stringContaining('CLAUDE_MEM_PROMPT_DIR')])
    expect(prompts).toEqual(ours.prompts)
  })

  test('missing built-in files are an error: install again', () => {
    expect(() => loadPrompts({ folder: own, override: null })).toThrow(/Install claude-mem again/)
  })
})
