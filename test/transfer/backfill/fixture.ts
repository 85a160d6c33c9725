/** Transcripts of past sessions, in a configuration directory of their own. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryDirectory } from '../../support/directories.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export interface PastTurn {
  prompt: string
  tools: number
  /** How much each tool says, in characters. */
  output?: number
  /** The agent says nothing at the end. */
  interrupted?: boolean
}

export class TranscriptFixture {
  readonly root = temporaryDirectory('past')
  readonly configDir = join(this.root, 'claude')

  work(project: string): string {
    const directory = join(this.root, 'work', project)
    mkdirSync(directory, { recursive: true })
    return directory
  }

  file(session: string, project = 'shop'): string {
    return join(this.configDir, 'projects', `-work-${project}`, `${session}.jsonl`)
  }

  write(session: string, text: string, project = 'shop'): string {
    const file = this.file(session, project)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  session(session: string, at: number, turns: readonly PastTurn[], project = 'shop'): string {
    return this.write(session, this.lines(session, at, turns, { project }), project)
  }

  goesOn(session: string, at: number, turns: readonly PastTurn[], project = 'shop'): void {
    appendFileSync(this.file(session, project), this.lines(session, at, turns, { project, from: 'later-' }))
  }

  /** `from` tells the ids of lines that are written later from those before. */
  lines(
    session: string,
    at: number,
    turns: readonly PastTurn[],
    { project = 'shop', from = '', ids = session }: { project?: string; from?: string; ids?: string } = {},
  ): string {
    const cwd = this.work(project)
    let n = 0
    const line = (type: string, content: unknown, fields: object = {}) => {
      const uuid = `${from}${ids}-${++n}`
      const timestamp = new Date(at + n * 1_000).toISOString()
      const message = type === 'user' ? { role: 'user', content } : { id: `m-${uuid}`, role: 'assistant', content }
      return JSON.stringify({ type, sessionId: session, cwd, version: '2.1.197', uuid, timestamp, message, ...fields })
    }
    const written = turns.flatMap(({ prompt, tools, output = 40, interrupted = false }, turn) => [
      line('user', prompt),
      ...Array.from({ length: tools }, (_, tool) => {
        const id = `toolu_${from}${ids}_${turn}_${tool}`
        const stdout = `${tool} ${'word '.repeat(output / 5)}`
        const input = { command: `echo ${tool} > notes-${turn}.txt` }
        return [
          line('assistant', [{ type: 'tool_use', id, name: 'Bash', input }]),
          line('user', [{ type: 'tool_result', tool_use_id: id, content: stdout }], { toolUseResult: { stdout } }),
        ]
      }).flat(),
      ...(interrupted ? [] : [line('assistant', [{ type: 'text', text: `Done with: ${prompt}` }])]),
    ])
    return `${written.join('\n')}\n`
  }

  remove(): void {}
}
