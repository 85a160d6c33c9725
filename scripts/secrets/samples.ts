/**
 * Building blocks of the secrets benchmark: a seeded source of secret-looking values, so that no key is in this
 * repository, and the surroundings in which coding agents meet secrets.
 */
import { Random } from '../lib/random.ts'

/** What a hook reports of one tool use, or a prompt. */
export type ReportedText =
  | { type: 'tool'; input: Record<string, unknown>; response: unknown }
  | { type: 'prompt'; text: string }

export interface SecretSample {
  kind: string
  reported: ReportedText
  /** None of them may be left. */
  secrets: string[]
}

/** A kind of secret: several samples of it. */
export type SecretKind = (values: SecretValues) => Omit<SecretSample, 'kind'>[]

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS = '0123456789'

export class SecretValues extends Random {
  from(characters: string, length: number): string {
    return Array.from({ length }, () => characters[this.between(0, characters.length - 1)]).join('')
  }

  alphanumeric = (length: number): string => `${this.from(LOWER + UPPER + DIGITS, length - 2)}${this.from(DIGITS, 1)}Q`
  urlSafe = (length: number): string =>
    `${this.from(`${LOWER + UPPER + DIGITS}_-`, length - 2)}${this.from(DIGITS, 1)}w`
  base64 = (length: number): string => `${this.from(`${LOWER + UPPER + DIGITS}+/`, length - 2)}${this.from(DIGITS, 1)}k`
  hex = (length: number): string => this.from('0123456789abcdef', length)
  digits = (length: number): string => `${this.between(1, 9)}${this.from(DIGITS, length - 1)}`
  upper = (length: number): string => this.from(UPPER + DIGITS, length)
  lower = (length: number): string => this.from(LOWER + DIGITS, length)
  uuid = (): string => [8, 4, 4, 4, 12].map((length) => this.hex(length)).join('-')

  /** As people choose them: a word with digits and signs. */
  password = (): string =>
    `${this.pick(['Winter', 'summer', 'Kestrel', 'qwerty', 'Tango', 'hunter', 'Blue', 'monkey'])}${this.pick(['', '_', '-', '!', '#'])}${this.digits(this.between(2, 4))}${this.pick(['', '!', '$x', '*', 'zz'])}`

  /** A password that is a plain word. */
  word = (): string =>
    this.pick(['swordfish', 'trustno', 'letmein', 'correcthorse', 'Butterfly', 'dragonfire', 'opensesame', 'Marmalade'])

  /** As password managers make them: with brackets and dots, and nothing that a shell or JSON has to quote. */
  signs = (length = 16): string => {
    const inner = [
      ...this.from(LOWER + UPPER + DIGITS, length - 6),
      ...this.from('()[]{}', 2),
      '.',
      ...this.from('!@%^*_+=', 1),
    ]
    return `${this.from(LOWER, 1)}${this.shuffled(inner).join('')}${this.from(UPPER, 1)}`
  }

  some<T>(items: readonly T[], count: number): T[] {
    return this.shuffled(items).slice(0, count)
  }
}

export const bash = (command: string, stdout = '', stderr = ''): ReportedText => ({
  type: 'tool',
  input: { command, description: 'Run a command' },
  response: { stdout, stderr, interrupted: false, isImage: false },
})

export const read = (path: string, content: string): ReportedText => ({
  type: 'tool',
  input: { file_path: path },
  response: {
    type: 'text',
    file: { filePath: path, content, numLines: content.split('\n').length, startLine: 1, totalLines: 40 },
  },
})

export const write = (path: string, content: string): ReportedText => ({
  type: 'tool',
  input: { file_path: path, content },
  response: { type: 'create', filePath: path, content, structuredPatch: [] },
})

export const edit = (path: string, before: string, after: string): ReportedText => ({
  type: 'tool',
  input: { file_path: path, old_string: before, new_string: after },
  response: {
    filePath: path,
    oldString: before,
    newString: after,
    structuredPatch: [
      {
        oldStart: 8,
        newStart: 8,
        lines: [...before.split('\n').map((line) => `-${line}`), ...after.split('\n').map((line) => `+${line}`)],
      },
    ],
  },
})

export const grep = (pattern: string, content: string): ReportedText => ({
  type: 'tool',
  input: { pattern, output_mode: 'content', path: '.' },
  response: { mode: 'content', numFiles: 1, filenames: [], content, numLines: content.split('\n').length },
})

export const mcp = (value: unknown): ReportedText => ({
  type: 'tool',
  input: { query: 'settings' },
  response: [{ type: 'text', text: JSON.stringify(value) }],
})

export const prompt = (text: string): ReportedText => ({ type: 'prompt', text })

/** Surroundings that do not name the value: only its format shows that it is a secret. */
const UNNAMED: readonly ((value: string, values: SecretValues) => ReportedText)[] = [
  (v) =>
    bash(
      'tail -n 3 logs/app.log',
      `2026-03-04T10:11:12Z INFO  http client ready\n2026-03-04T10:11:13Z DEBUG using ${v} for upstream\n`,
    ),
  (v) => bash(`curl -s https://api.example.com/v1/me -H "X-Upstream: ${v}" | jq .`, '{"id": 1}'),
  (v) =>
    read('/srv/app/config/default.json', `{\n  "upstream": { "value": "${v}", "retries": 3, "timeout": 3000 }\n}\n`),
  (v) =>
    bash(
      'python sync.py',
      '',
      `Traceback (most recent call last):\n  File "sync.py", line 14, in <module>\n    client.connect()\nValueError: 401 for '${v}'\n`,
    ),
  (v) => read('/srv/app/deploy.yaml', `env:\n  - name: UPSTREAM\n    value: ${v}\nreplicas: 2\n`),
  (v) => edit('src/client.ts', 'const client = new Client()', `const client = new Client("${v}")`),
  (v) => prompt(`use ${v} for now, I will rotate it later`),
  (v) => write('notes.md', `| stage | value | mode |\n|---|---|---|\n| prod | ${v} | rw |\n`),
  (v) => mcp({ items: [{ id: 7, text: `deployed with ${v}`, score: 0.5 }] }),
  (v) =>
    bash(
      'git grep -n upstream',
      `src/config.js:12:  upstream: '${v}',\nsrc/index.js:3:import config from './config.js'\n`,
    ),
  (v) => bash('docker inspect app', `[{"Config":{"Env":["PATH=/usr/bin","UPSTREAM=${v}"]}}]`),
  (v) => bash(`./connect.sh ${v} --region eu`, 'ok'),
  (v) =>
    bash(
      'git diff',
      `diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -1,3 +1,3 @@\n-client = Client("old")\n+client = Client("${v}")\n`,
    ),
  (v, values) => bash('cat export.csv', `id,name,value\n${values.digits(3)},upstream,${v}\n`),
]

/** A value whose format alone shows that it is a secret, in `count` different surroundings. */
export function unnamed(
  values: SecretValues,
  make: () => string,
  count = 4,
  secretPart: (value: string) => string = (value) => value,
): Omit<SecretSample, 'kind'>[] {
  return values.some(UNNAMED, count).map((place) => {
    const value = make()
    return { reported: place(value, values), secrets: [secretPart(value)] }
  })
}

/** One sample. */
export const sample = (reported: ReportedText, ...secrets: string[]): Omit<SecretSample, 'kind'> => ({
  reported,
  secrets,
})
