/**
 * Performs Claude Code's tools for real in a temporary project and writes the transcript the client would have written.
 * A scenario plays the person and the model; files, patches, command output, exit codes and search results are real.
 */
import { FileTools } from './file-tools.ts'
import { type GrepOptions, globbed, grepped } from './search.ts'
import type { Fields, Json } from './transcript-writer.ts'

export interface BashOptions {
  description?: string
  timeoutMs?: number
  /** For programs that are not here: nothing is run, this was the output. */
  stdoutOverride?: string
  exitCode?: number
  background?: boolean
}

export interface Todo {
  content: string
  status: 'pending' | 'in_progress' | 'completed'
  activeForm?: string
}

export class Recorder extends FileTools {
  #todos: Todo[] = []

  /** The output, so that a scenario can go by it. */
  async bash(command: string, options: BashOptions = {}): Promise<string> {
    const { description, timeoutMs, stdoutOverride, exitCode, background } = options
    const input: Fields = {
      command,
      ...(description === undefined ? {} : { description }),
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
      ...(background === true ? { run_in_background: true } : {}),
    }
    const ran =
      stdoutOverride === undefined
        ? this.place.run(command, this.writer.now, this.merged, timeoutMs)
        : { stdout: stdoutOverride, stderr: '', code: exitCode ?? 0 }
    const output = [ran.stdout, ran.stderr].filter((text) => text !== '').join('\n')
    if (ran.code !== 0) {
      this.failed('Bash', input, `Exit code ${ran.code}${output === '' ? '' : `\n${output}`}`)
      return output
    }
    this.done('Bash', input, output, {
      stdout: ran.stdout,
      stderr: ran.stderr,
      interrupted: false,
      isImage: false,
      ...(this.merged ? { noOutputExpected: output === '' } : {}),
      ...(background === true ? { backgroundTaskId: this.writer.id('bash').slice(0, 12) } : {}),
    })
    return output
  }

  async grep(pattern: string, options: GrepOptions = {}): Promise<void> {
    const { path, ...rest } = options
    const start = path === undefined ? this.cwd : this.place.real(path)
    const input: Fields = { pattern, ...(path === undefined ? {} : { path: this.place.shown(path) }), ...rest }
    const found = grepped(this.cwd, start, pattern, options)
    const mode = options.output_mode ?? 'files_with_matches'
    if (mode === 'files_with_matches') {
      const filenames = found.map(({ file }) => file)
      const said =
        filenames.length === 0
          ? 'No files found'
          : `Found ${filenames.length} file${filenames.length === 1 ? '' : 's'}\n${filenames.join('\n')}`
      this.done('Grep', input, said, { mode, filenames, numFiles: filenames.length })
      return
    }
    const lines =
      mode === 'count'
        ? found.map(({ file, hits }) => `${file}:${hits}`)
        : found.flatMap(({ file, lines: own }) => own.map((line) => grepLine(file, line, options['-n'] !== false)))
    const content = lines.slice(0, options.head_limit ?? lines.length).join('\n')
    this.done('Grep', input, content === '' ? 'No matches found' : content, {
      mode,
      numFiles: mode === 'count' ? found.length : 0,
      filenames: [],
      content,
      ...(mode === 'count'
        ? { numMatches: found.reduce((sum, { hits }) => sum + hits, 0) }
        : { numLines: lines.length }),
    })
  }

  async glob(pattern: string, options: { path?: string } = {}): Promise<void> {
    const start = options.path === undefined ? this.cwd : this.place.real(options.path)
    const filenames = globbed(this.cwd, start, pattern).map((file) => this.place.shown(file))
    const input: Fields = { pattern, ...(options.path === undefined ? {} : { path: this.place.shown(options.path) }) }
    this.done('Glob', input, filenames.length === 0 ? 'No files found' : filenames.join('\n'), {
      filenames,
      durationMs: this.writer.random.between(3, 60),
      numFiles: filenames.length,
      truncated: false,
    })
  }

  todo(items: readonly Todo[]): void {
    const todos = items.map((item) => ({ ...item, activeForm: item.activeForm ?? item.content }))
    const said =
      'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.'
    this.done('TodoWrite', { todos: json(todos) }, said, { oldTodos: json(this.#todos), newTodos: json(todos) })
    this.#todos = todos
  }

  webFetch(url: string, prompt: string, result: string): void {
    const durationMs = this.writer.random.between(900, 6_000)
    this.done('WebFetch', { url, prompt }, result, {
      bytes: result.length * 9,
      code: 200,
      codeText: 'OK',
      result,
      durationMs,
      url,
    })
  }

  webSearch(query: string, results: readonly { title: string; url: string; snippet?: string }[]): void {
    const links = results.map(({ title, url }) => ({ title, url }))
    const said = results.map(({ title, snippet }) => `${title}: ${snippet ?? ''}`).join('\n')
    this.done(
      'WebSearch',
      { query },
      `Web search results for query: "${query}"\n\nLinks: ${JSON.stringify(links)}\n\n${said}`,
      {
        query,
        results: [{ tool_use_id: this.writer.id('srvtoolu'), content: links }, said],
        durationSeconds: this.writer.random.between(2, 9),
      },
    )
  }

  mcp(tool: string, input: Fields, resultText: string): void {
    const content = [{ type: 'text', text: resultText }]
    this.done(tool, input, content, content)
  }

  /** What the subagent says last is what `work` returns. */
  async agent(
    task: { description: string; prompt: string; type: string },
    work: (sub: Recorder) => Promise<string>,
  ): Promise<void> {
    const tool = this.merged ? 'Agent' : 'Task'
    const input = { description: task.description, prompt: task.prompt, subagent_type: task.type }
    const id = this.called(tool, input)
    const agent = { id: `a${this.writer.uuid().replaceAll('-', '').slice(0, 16)}`, type: task.type }
    const before = { at: this.writer.now, tools: this.toolUses }
    const last = await this.writer.sidechain(agent, async () => {
      this.writer.user(task.prompt)
      const answer = await work(this)
      this.writer.assistant({ type: 'text', text: answer }, 'end_turn')
      return answer
    })
    const content = [{ type: 'text', text: last }]
    this.writer.toolResult(
      id,
      content,
      {
        status: 'completed',
        prompt: task.prompt,
        agentId: agent.id,
        ...(this.merged ? { agentType: agent.type } : {}),
        content,
        totalDurationMs: this.writer.now - before.at,
        totalTokens: this.writer.random.between(9_000, 40_000),
        totalToolUseCount: this.toolUses - before.tools,
        usage: {
          input_tokens: 6,
          cache_creation_input_tokens: 900,
          cache_read_input_tokens: 14_000,
          output_tokens: 300,
        },
      },
      false,
    )
  }
}

function grepLine(file: string, line: { number: number; text: string; hit: boolean }, numbers: boolean): string {
  const sign = line.hit ? ':' : '-'
  return numbers ? `${file}${sign}${line.number}${sign}${line.text}` : `${file}${sign}${line.text}`
}

/** As the JSON it becomes. */
function json(todos: readonly Todo[]): Json {
  return todos.map((todo) => ({ ...todo }))
}
