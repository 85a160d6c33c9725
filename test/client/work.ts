/** A session that does a bit of everything, and what hooks have to report of it. */
import { join } from 'node:path'
import { can } from './abilities.ts'
import type { ClientPlace, StoredEvent } from './client-place.ts'
import type { IssuedTool, ToolCall, Turn } from './messages-api.ts'

export const bash = (command: string): ToolCall => ({ name: 'Bash', input: { command, description: 'a step' } })

const SUBAGENT = {
  description: 'look',
  prompt: '[[script:sub]] look around',
  subagent_type: 'general-purpose',
  // From 2.1.3xx on a subagent runs in the background unless told otherwise, and its end is a turn of its own.
  run_in_background: false,
}
export const SUB: Turn[] = [{ tools: [bash('echo from the subagent')] }, { text: 'Looked around.' }]
const FAILS = 'echo oops >&2; exit 3'

/** Write, Read, Edit, five Bash (one fails, two at once, one last), the subagent and its own Bash. */
export const WORK_TOOLS = 10

/** `word` stands nowhere but in what this session did. The client writes over no file that it has not read. */
export function work({ project }: ClientPlace, word: string): Turn[] {
  const file = join(project, `${word}.ts`)
  return [
    { tools: [{ name: 'Write', input: { file_path: file, content: `export const ${word} = 1\n` } }] },
    { tools: [{ name: 'Read', input: { file_path: file } }] },
    { tools: [{ name: 'Edit', input: { file_path: file, old_string: '= 1', new_string: '= 2' } }] },
    { tools: [bash('echo fine')] },
    { tools: [bash(FAILS)] },
    { tools: [bash('echo one'), bash('echo two')] },
    { tools: [{ name: 'Agent', input: SUBAGENT }] },
    { tools: [bash('echo last')] },
    { text: `Set ${word} to 2 because the old limit was too low.` },
  ]
}

/** As far as this client can tell them apart: kind, tool and id of each that it ran. */
export function expectedTools(issued: readonly IssuedTool[]): string[] {
  const kindOf = ({ input }: IssuedTool) => (input.command === FAILS ? 'tool_failure' : 'tool_use')
  const reported = issued.filter((tool) => can('toolFailures') || kindOf(tool) === 'tool_use')
  return reported.map((tool) => described(kindOf(tool), tool.name, tool.id)).sort()
}

export function storedTools(stored: readonly StoredEvent[]): string[] {
  const tools = stored.filter(({ kind }) => kind === 'tool_use' || kind === 'tool_failure')
  return tools.map(({ kind, tool, eventId }) => described(kind, tool ?? '', eventId)).sort()
}

function described(kind: string, tool: string, id: string): string {
  return can('toolIds') ? `${kind} ${tool} ${id}` : `${kind} ${tool}`
}

export function countsOf(stored: readonly StoredEvent[]) {
  const count = (wanted: string) => stored.filter(({ kind }) => kind === wanted).length
  return {
    starts: count('session_start'),
    prompts: count('prompt'),
    turnEnds: count('turn_end'),
    sessionEnds: count('session_end'),
  }
}
