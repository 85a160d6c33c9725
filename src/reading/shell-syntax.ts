/** Parses a shell line into simple commands, and takes a command out of its wrappers (`sudo env A=1 npx jest` is `jest`). */

/** A longer line is data, not a command. */
const MAX_LINE_CHARS = 20_000
/** Nested `$(cat <<EOF …)` that are inlined. */
const MAX_INLINED = 5

/** How a command is connected to the one before it; `then` is `;`, `&` or the end of a line. */
export type CommandJoiner = 'start' | 'and' | 'or' | 'then' | 'pipe'

export interface ShellWord {
  /** Without quotes. */
  text: string
  raw: string
}

export interface SimpleCommand {
  words: ShellWord[]
  joiner: CommandJoiner
  /** The text of the first heredoc. */
  body: string | null
  /** It ends in `&`. */
  isBackground: boolean
}

const emptyCommand = (joiner: CommandJoiner): SimpleCommand => ({ words: [], joiner, body: null, isBackground: false })

/** Reads quoting, redirections, heredocs and substitutions, and nothing else of the language. */
export function parseShellLine(source: string): SimpleCommand[] {
  return new Tokenizer(inlineHeredocs(source.slice(0, MAX_LINE_CHARS).replace(/\r\n/g, '\n'))).read()
}

/** Agents pass a commit message as `"$(cat <<'EOF' … EOF)"`: the text replaces the substitution. */
function inlineHeredocs(source: string): string {
  let text = source
  for (let round = 0; round < MAX_INLINED; round++) {
    const open = /\$\(\s*cat\s*<<-?\s*(['"]?)([A-Za-z_]\w{0,40})\1[^\n]{0,20}\n/.exec(text)
    if (!open) return text
    const rest = text.slice(open.index + open[0].length)
    const close = new RegExp(`^[\\t ]*${open[2]}[\\t ]*\\n?[\\t ]*\\)`, 'm').exec(rest)
    if (!close) return text
    const message = rest
      .slice(0, close.index)
      .trim()
      .replace(/["`$\\]/g, '\\$&')
    text = text.slice(0, open.index) + message + rest.slice(close.index + close[0].length)
  }
  return text
}

class Tokenizer {
  private at = 0
  private readonly commands: SimpleCommand[] = []
  private current = emptyCommand('start')
  private word: ShellWord | null = null
  private dropNext = false
  private readonly heredocs: { end: string; owner: SimpleCommand }[] = []

  constructor(private readonly source: string) {}

  read(): SimpleCommand[] {
    while (this.at < this.source.length) this.step()
    this.endCommand('then')
    return this.commands
  }

  private step(): void {
    const char = this.source[this.at] ?? ''
    const two = this.source.slice(this.at, this.at + 2)
    if (two === '\\\n') this.at += 2
    else if (char === '\\') this.take(this.source[this.at + 1] ?? '', 2)
    else if (char === "'") this.takeUntil("'")
    else if (char === '"') this.takeQuoted()
    else if (char === '`') this.takeUntil('`')
    else if (two === '$(' || two === '<(' || two === '>(') this.takeSubstitution()
    else if (char === '#' && this.word === null) this.skipComment()
    else if (char === '<' || char === '>' || two === '&>') this.redirect()
    else if (two === '&&') this.endCommand('and', 2)
    else if (two === '||') this.endCommand('or', 2)
    else if (two === '|&') this.endCommand('pipe', 2)
    else if (char === '|') this.endCommand('pipe', 1)
    else if (char === ';') this.endCommand('then', 1)
    else if (char === '&') this.endInBackground()
    else if (char === '\n') this.endLine()
    else if ((char === '(' && this.word === null) || char === ')') this.endGroup()
    else if (char === ' ' || char === '\t') this.endWord(1)
    else this.take(char, 1)
  }

  private take(text: string, width: number): void {
    const raw = this.source.slice(this.at, this.at + width)
    this.word = { text: (this.word?.text ?? '') + text, raw: (this.word?.raw ?? '') + raw }
    this.at += width
  }

  private takeUntil(quote: string): void {
    const close = this.source.indexOf(quote, this.at + 1)
    const end = close === -1 ? this.source.length : close
    this.take(this.source.slice(this.at + 1, end), end + 1 - this.at)
  }

  private takeQuoted(): void {
    let end = this.at + 1
    while (end < this.source.length && this.source[end] !== '"') end += this.source[end] === '\\' ? 2 : 1
    const text = this.source.slice(this.at + 1, end).replace(/\\(["\\$`])/g, '$1')
    this.take(text, end + 1 - this.at)
  }

  private takeSubstitution(): void {
    let depth = 0
    let end = this.at + 1
    for (; end < this.source.length; end++) {
      if (this.source[end] === '(') depth++
      else if (this.source[end] === ')' && --depth === 0) break
    }
    this.take(this.source.slice(this.at, end + 1), end + 1 - this.at)
  }

  private skipComment(): void {
    const end = this.source.indexOf('\n', this.at)
    this.at = end === -1 ? this.source.length : end
  }

  private redirect(): void {
    const here = /^<<-?\s*(?:'([^'\n]{1,60})'|"([^"\n]{1,60})"|\\?([A-Za-z_]\w{0,60}))/.exec(
      this.source.slice(this.at, this.at + 80),
    )
    if (here && this.source[this.at + 2] !== '<') {
      this.endWord(here[0].length)
      this.heredocs.push({ end: here[1] ?? here[2] ?? here[3] ?? '', owner: this.current })
      return
    }
    if (this.word && /^\d$/.test(this.word.raw)) this.word = null
    const operator = /^&?[<>]{1,3}[&|]?/.exec(this.source.slice(this.at, this.at + 5))
    this.endWord(operator?.[0].length ?? 1)
    this.dropNext = true
  }

  private endWord(width: number): void {
    this.at += width
    if (this.word === null) return
    if (!this.dropNext) this.current.words.push(this.word)
    this.dropNext = false
    this.word = null
  }

  private endCommand(next: CommandJoiner, width = 0): void {
    this.endWord(width)
    this.dropNext = false
    if (this.current.words.length > 0) {
      this.commands.push(this.current)
      this.current = emptyCommand(next)
    } else if (next === 'pipe') this.current.joiner = 'pipe'
    else if (this.current.joiner !== 'start' && next !== 'then') this.current.joiner = next
  }

  private endInBackground(): void {
    this.current.isBackground = true
    this.endCommand('then', 1)
  }

  /** The joiner of `(a; b) | tail` is the one after the bracket. */
  private endGroup(): void {
    if (this.source[this.at] === ')') this.endCommand('then', 1)
    else this.endWord(1)
  }

  /** The bodies of the heredocs of a line begin after it. */
  private endLine(): void {
    this.endCommand('then', 1)
    for (const { end, owner } of this.heredocs.splice(0)) {
      const lines: string[] = []
      while (this.at < this.source.length) {
        const newline = this.source.indexOf('\n', this.at)
        const stop = newline === -1 ? this.source.length : newline
        const line = this.source.slice(this.at, stop)
        this.at = stop + 1
        if (line.trim() === end) break
        lines.push(line)
      }
      owner.body ??= lines.join('\n')
    }
  }
}

/** Shell keywords before a command. */
const KEYWORDS = new Set(['if', 'then', 'elif', 'else', 'while', 'until', 'do', '!', '{', 'time', 'exec', 'command'])
const NOT_COMMANDS = new Set(['for', 'case', 'function', 'select', 'done', 'fi', 'esac', '}', '[[', '[', '(('])
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/

/** Programs that run the rest of the line, with those of their flags that take a value. */
const PREFIXES = new Map(
  Object.entries({
    sudo: '-u -g -h -p -C',
    doas: '-u',
    env: '-u -C',
    time: '-f -o',
    nohup: '',
    nice: '-n',
    ionice: '-c -n',
    stdbuf: '',
    unbuffer: '',
    caffeinate: '',
    builtin: '',
    setsid: '',
    'cross-env': '',
    timeout: '-k -s',
    gtimeout: '-k -s',
    'xvfb-run': '-s -n',
    xargs: '-n -I -P -L -d',
    watch: '-n',
  }),
)

/** Programs that run another one of the project, with those of their flags that take a value. */
const RUNNERS: [string, string?][] = [
  ['npx', '-p --package'],
  ['bunx'],
  ['uvx', '--from --with --python'],
  ['pipx run', '--spec'],
  ['npm exec', '-p --package -w --workspace'],
  ['npm x'],
  ['pnpm exec', '--filter -C'],
  ['pnpm dlx'],
  ['yarn exec'],
  ['yarn dlx', '-p'],
  ['bun x'],
  ['poetry run'],
  ['uv run', '--with --extra --group --python -p --package --directory --env-file'],
  ['pipenv run'],
  ['pdm run'],
  ['rye run'],
  ['hatch run'],
  ['conda run', '-n -p'],
  ['bundle exec'],
  ['mise exec'],
  ['dotenv', '-e -f'],
  ['coverage run', '--source --omit'],
  ['c8', '-r --reporter'],
  ['nyc', '-r --reporter'],
]

const CONTAINER_FLAGS = '-u --user -e --env -w --workdir -v --volume -p --name --network --entrypoint'

/** The words as one would type them: without keywords, environment, sudo and the like. */
export function stripCommandPrefixes(words: ShellWord[]): ShellWord[] {
  let rest = words
  for (let round = 0; round < 20; round++) {
    const [head, ...tail] = rest
    if (head === undefined) return []
    const flags = PREFIXES.get(head.text)
    if (KEYWORDS.has(head.text) && flags === undefined) rest = tail
    else if (NOT_COMMANDS.has(head.text)) return []
    else if (ASSIGNMENT.test(head.raw)) rest = tail
    else if (flags !== undefined && tail.length > 0) {
      rest = skipFlags(tail, flags)
      // `timeout 5 npm test`: the duration is not the command.
      if (head.text.endsWith('timeout')) rest = rest.slice(1)
    } else return rest
  }
  return rest
}

/** The program itself: also without npx, `poetry run`, `python -m`, `docker exec`. */
export function stripRunnerPrograms(words: ShellWord[]): ShellWord[] {
  let rest = words
  for (let round = 0; round < 8; round++) {
    const before = rest
    rest = stripOneRunner(stripCommandPrefixes(rest))
    if (rest === before || rest.length === 0) return rest
  }
  return rest
}

function stripOneRunner(words: ShellWord[]): ShellWord[] {
  const texts = words.map((word) => word.text)
  for (const [runner, flags = ''] of RUNNERS) {
    const head = runner.split(' ')
    if (!head.every((text, i) => texts[i] === text) || words.length === head.length) continue
    const rest = skipFlags(words.slice(head.length), flags)
    if (rest.length > 0) return runner === 'coverage run' && rest[0]?.text.endsWith('.py') ? words : rest
  }
  const program = lastPathPart(texts[0] ?? '')
  if (/^(?:python[\d.]*|py)$/.test(program)) {
    const module = texts.indexOf('-m')
    if (module > 0 && texts.slice(1, module).every((text) => text.startsWith('-'))) return skipTo(words, module + 1)
  }
  if (program === 'coverage' && texts[1] === '-m') return skipTo(words, 2)
  return /^(?:docker|podman|docker-compose)$/.test(program) ? insideContainer(words) : words
}

function skipTo(words: ShellWord[], index: number): ShellWord[] {
  return words.length > index ? words.slice(index) : words
}

/** `docker exec -it app npm test`: the command is what follows the container's name. */
function insideContainer(words: ShellWord[]): ShellWord[] {
  const verb = words.findIndex((word, i) => i > 0 && (word.text === 'exec' || word.text === 'run'))
  const isCompose = words[1]?.text === 'compose' || words[0]?.text === 'docker-compose'
  if (verb === -1 || verb > (isCompose ? 6 : 1)) return words
  const named = skipFlags(words.slice(verb + 1), CONTAINER_FLAGS)
  return named.length > 1 ? named.slice(1) : words
}

/** @param withValue the flags whose value is the next word, separated by blanks */
function skipFlags(words: ShellWord[], withValue: string): ShellWord[] {
  const valued = withValue.split(' ')
  let at = 0
  while (at < words.length) {
    const text = words[at]?.text ?? ''
    if (text === '--') return words.slice(at + 1)
    if (!text.startsWith('-') || text === '-') break
    at += valued.includes(text) ? 2 : 1
  }
  return words.slice(at)
}

/** `npm test` for `bash -lc "npm test"`. */
export function nestedShellLine(words: ShellWord[]): string | null {
  if (!/^(?:ba|z|da|k|a)?sh$/.test(lastPathPart(words[0]?.text ?? ''))) return null
  const flag = words.findIndex((word, i) => i > 0 && /^-[a-z]*c$/.test(word.text))
  return flag === -1 ? null : (words[flag + 1]?.text ?? null)
}

function lastPathPart(path: string): string {
  return path.replace(/\\/g, '/').split('/').at(-1) ?? path
}

const OTHER_NAMES = new Map(
  Object.entries({
    gradlew: 'gradle',
    mvnw: 'mvn',
    py: 'python',
    pip3: 'pip',
    nodejs: 'node',
    'docker-compose': 'docker',
    'py.test': 'pytest',
    'vitest.mjs': 'vitest',
    'jest.js': 'jest',
    'cargo-nextest': 'cargo',
    gmake: 'make',
    'go-task': 'task',
  }),
)

/** `/usr/bin/python3.11` is python, `./gradlew` gradle, `clang++-17` clang++. */
export function programName(word: string): string {
  const name = lastPathPart(word).replace(/\.(?:exe|cmd|bat)$/i, '')
  const known = OTHER_NAMES.get(name) ?? /^(python|pip)[\d.]*$/.exec(name)?.[1]
  return known ?? name.replace(/^((?:gcc|g\+\+|clang|clang\+\+|php|ruby|psql))-?\d[\d.]*$/, '$1')
}
