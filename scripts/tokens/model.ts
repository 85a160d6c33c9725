/**
 * The model of the token bench: it reads the prompt it gets, as a model does, and writes one observation for each file that
 * was changed in it, one for each command that failed, and a summary when it is asked for one. Its answers are as long as a
 * model's: what it says becomes part of the conversation.
 */
import type { Call } from '../../test/observer/servers/fault.ts'

interface ToolUse {
  n: string
  tool: string
  /** What stands in its block. */
  text: string
}

const BLOCK = /<tool_use n="(\d+)" tool="([^"]+)"[^>]*>\n([\s\S]*?)<\/tool_use>/g
const CHANGING = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit'])
const NARRATIVE_CHARS = 500
const FACT_CHARS = 140
const FACTS = 4

export function answerOf({ messages }: Pick<Call, 'messages'>): string {
  const last = messages.at(-1)?.content ?? ''
  if (last.includes('exactly one <summary>')) return summaryOf(last)
  const uses = [...last.matchAll(BLOCK)].map(([, n, tool, text]) => ({
    n: n ?? '',
    tool: tool ?? '',
    text: text ?? '',
  }))
  const observations = [...changes(uses), ...failures(uses)]
  return observations.length > 0 ? observations.join('\n') : '<skip reason="nothing was changed, nothing failed"/>'
}

function changes(uses: readonly ToolUse[]): string[] {
  const files = new Map<string, ToolUse[]>()
  for (const use of uses) {
    if (!CHANGING.has(use.tool)) continue
    const file = /[^\s"'<>]+\.\w+/.exec(use.text)?.[0] ?? use.tool
    files.set(file, [...(files.get(file) ?? []), use])
  }
  return [...files].map(([file, of]) => observation('change', `Change ${file}`, of, file))
}

function failures(uses: readonly ToolUse[]): string[] {
  const commands = new Map<string, ToolUse[]>()
  for (const use of uses) {
    if (!use.text.includes('<outcome failed="yes">')) continue
    const [command = use.tool] = use.text.split('\n', 1)
    commands.set(command, [...(commands.get(command) ?? []), use])
  }
  return [...commands].map(([command, of]) => observation('discovery', `Failing: ${command.slice(0, 60)}`, of, null))
}

function observation(type: string, title: string, of: readonly ToolUse[], file: string | null): string {
  const text = of.map((use) => use.text).join('\n')
  const lines = text.split('\n').filter((line) => line.trim().length > 20)
  const facts = lines.slice(-FACTS).map((line) => `<fact>${plain(line, FACT_CHARS)}</fact>`)
  return [
    `<observation from="${of.map((use) => use.n).join(' ')}">`,
    `<type>${type}</type>`,
    `<title>${plain(title, 80)}</title>`,
    `<subtitle>${plain(lines[0] ?? title, FACT_CHARS)}</subtitle>`,
    `<narrative>${plain(text, NARRATIVE_CHARS)}</narrative>`,
    `<facts>${facts.join('')}</facts>`,
    '<concepts><concept>what-changed</concept></concepts>',
    file === null ? '' : `<files_modified><file>${plain(file, 200)}</file></files_modified>`,
    '</observation>',
  ].join('\n')
}

function summaryOf(asked: string): string {
  const words = /<last_message>([\s\S]*?)<\/last_message>/.exec(asked)?.[1] ?? ''
  const request = /<user_request>([\s\S]*?)<\/user_request>/.exec(asked)?.[1] ?? ''
  return `<summary><request>${plain(request, 200)}</request><completed>${plain(words, 600)}</completed></summary>`
}

function plain(text: string, most: number): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, most).replace(/[<>&]/g, ' ')
}
