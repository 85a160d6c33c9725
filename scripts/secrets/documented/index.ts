/**
 * The second corpus: formats from their vendors' documentation, in two halves by a hash of vendor and format. Rules are
 * written against the development half; of the other one only the totals are looked at.
 */
import type { CorpusHalf } from '../corpus.ts'
import { bash, mcp, prompt, type ReportedText, read, type SecretSample, SecretValues } from '../samples.ts'
import { CLOUD_FORMATS } from './cloud.ts'
import { DATA_FORMATS } from './data.ts'
import type { DocumentedFormat, DocumentedText } from './format.ts'
import { TOOL_FORMATS } from './tools.ts'
import { WEB_FORMATS } from './web.ts'
import { WORD_FORMATS } from './words.ts'

export const DOCUMENTED_FORMATS: readonly DocumentedFormat[] = [
  ...WEB_FORMATS,
  ...CLOUD_FORMATS,
  ...DATA_FORMATS,
  ...TOOL_FORMATS,
  ...WORD_FORMATS,
]

/** FNV-1a: the half of a format stays the same whatever rows are added. */
export function documentedHalf({ vendor, format }: DocumentedFormat): CorpusHalf {
  let hash = 0x811c9dc5
  for (const char of `${vendor} ${format}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return ((hash >>> 16) ^ hash) & 1 ? 'checking' : 'development'
}

const COMMAND = '$ '
/** Where a text that is no command is met. */
const TEXT_DOORS: readonly ((text: string) => ReportedText)[] = [
  (text) => bash('./show.sh', text),
  (text) => read('/srv/app/notes.txt', text),
  (text) => prompt(text),
  (text) => mcp({ text }),
]
const COMMAND_DOORS: readonly ((command: string) => ReportedText)[] = [
  (command) => bash(command),
  (command) => bash(`cd /srv/app && ${command}`),
  (command) => read('/srv/app/deploy.sh', `#!/bin/sh\nset -e\n${command}\n`),
  (command) => prompt(`run this: ${command}`),
]

function doorsOf(text: string): readonly ((text: string) => ReportedText)[] {
  if (!text.startsWith(COMMAND)) return TEXT_DOORS
  if (!text.includes('\n')) return COMMAND_DOORS.map((door) => (line) => door(line.slice(COMMAND.length)))
  // Only here the command says what its output is.
  return [
    (lines) => {
      const [command = '', ...output] = lines.slice(COMMAND.length).split('\n')
      return bash(command, output.join('\n'))
    },
  ]
}

/** The texts of a half in every place where they may be met, each time with new values. */
export function documentedSamples(half: CorpusHalf, seed: number): Record<'secret' | 'harmless', SecretSample[]> {
  const values = new SecretValues(seed)
  const formats = DOCUMENTED_FORMATS.filter((format) => documentedHalf(format) === half)
  const samples = (make: DocumentedText, kind: string): SecretSample[] => {
    const write = (): { text: string; secrets: string[] } => {
      const secrets: string[] = []
      const text = make(values, (secret) => {
        secrets.push(secret)
        return secret
      })
      return { text, secrets }
    }
    return doorsOf(write().text).map((door) => {
      const { text, secrets } = write()
      return { kind, reported: door(text), secrets }
    })
  }
  const all = (of: 'secret' | 'harmless'): SecretSample[] =>
    formats.flatMap((format) => format[of].flatMap((make) => samples(make, `${format.vendor}: ${format.format}`)))
  return { secret: all('secret'), harmless: all('harmless') }
}
