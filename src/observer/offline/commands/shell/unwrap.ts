/** Takes a command out of its wrappers: `sudo env A=1 npx jest` is `jest`. */
import type { Word } from './tokens.ts'

const KEYWORDS = new Set(['if', 'then', 'elif', 'else', 'while', 'until', 'do', '!', '{', 'time', 'exec', 'command'])
const NOT_COMMANDS = new Set(['for', 'case', 'function', 'select', 'done', 'fi', 'esac', '}', '[[', '[', '(('])
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/

/** Programs that run what follows, with those of their flags that take a value. */
const PREFIXES: Record<string, string[]> = {
  sudo: ['-u', '-g', '-h', '-p', '-C'],
  doas: ['-u'],
  env: ['-u', '-C'],
  time: ['-f', '-o'],
  nohup: [],
  nice: ['-n'],
  ionice: ['-c', '-n'],
  stdbuf: [],
  unbuffer: [],
  caffeinate: [],
  builtin: [],
  setsid: [],
  'cross-env': [],
  timeout: ['-k', '-s'],
  gtimeout: ['-k', '-s'],
  'xvfb-run': ['-s', '-n'],
  xargs: ['-n', '-I', '-P', '-L', '-d'],
  watch: ['-n'],
}

/** Two-word wrappers, and the flags of theirs that take a value. */
const RUNNERS: { words: string[]; valued: string[] }[] = [
  { words: ['npx'], valued: ['-p', '--package'] },
  { words: ['bunx'], valued: [] },
  { words: ['uvx'], valued: ['--from', '--with', '--python'] },
  { words: ['pipx', 'run'], valued: ['--spec'] },
  { words: ['npm', 'exec'], valued: ['-p', '--package', '-w', '--workspace'] },
  { words: ['npm', 'x'], valued: [] },
  { words: ['pnpm', 'exec'], valued: ['--filter', '-C'] },
  { words: ['pnpm', 'dlx'], valued: [] },
  { words: ['yarn', 'exec'], valued: [] },
  { words: ['yarn', 'dlx'], valued: ['-p'] },
  { words: ['bun', 'x'], valued: [] },
  { words: ['poetry', 'run'], valued: [] },
  {
    words: ['uv', 'run'],
    valued: ['--with', '--extra', '--group', '--python', '-p', '--package', '--directory', '--env-file'],
  },
  { words: ['pipenv', 'run'], valued: [] },
  { words: ['pdm', 'run'], valued: [] },
  { words: ['rye', 'run'], valued: [] },
  { words: ['hatch', 'run'], valued: [] },
  { words: ['conda', 'run'], valued: ['-n', '-p'] },
  { words: ['bundle', 'exec'], valued: [] },
  { words: ['mise', 'exec'], valued: [] },
  { words: ['dotenv'], valued: ['-e', '-f'] },
  { words: ['coverage', 'run'], valued: ['--source', '--omit'] },
  { words: ['c8'], valued: ['-r', '--reporter'] },
  { words: ['nyc'], valued: ['-r', '--reporter'] },
]

/** Programs inside a container: what follows the container's name is the command. */
const INSIDE = /^(?:docker|podman|docker-compose)$/

/** The words as one would type them: without keywords, environment, sudo and the like. */
export function stripPrefixes(words: Word[]): Word[] {
  let rest = words
  for (let round = 0; round < 20; round++) {
    const head = rest[0]
    if (head === undefined) return []
    const flags = PREFIXES[head.text]
    if (KEYWORDS.has(head.text) && flags === undefined) rest = rest.slice(1)
    else if (NOT_COMMANDS.has(head.text)) return []
    else if (ASSIGNMENT.test(head.raw)) rest = rest.slice(1)
    else if (flags !== undefined && rest.length > 1) rest = skipFlags(rest.slice(1), flags, /timeout$/.test(head.text))
    else return rest
  }
  return rest
}

/** The program itself: also without npx, `poetry run`, `python -m`, `docker exec`. */
export function stripRunners(words: Word[]): Word[] {
  let rest = words
  for (let round = 0; round < 8; round++) {
    const before = rest
    rest = stripOne(stripPrefixes(rest))
    if (rest === before || rest.length === 0) return rest
  }
  return rest
}

function stripOne(words: Word[]): Word[] {
  const texts = words.map((word) => word.text)
  for (const { words: head, valued } of RUNNERS) {
    if (!head.every((text, i) => texts[i] === text) || words.length === head.length) continue
    const rest = skipFlags(words.slice(head.length), valued, false)
    if (rest.length > 0) return head[0] === 'coverage' && rest[0]?.text.endsWith('.py') ? words : rest
  }
  const program = baseName(texts[0] ?? '')
  if (/^(?:python[\d.]*|py)$/.test(program)) {
    const module = texts.indexOf('-m')
    if (module > 0 && texts.slice(1, module).every((text) => text.startsWith('-'))) return skipTo(words, module + 1)
  }
  if (program === 'coverage' && texts[1] === '-m') return skipTo(words, 2)
  if (INSIDE.test(program)) return insideContainer(words)
  return words
}

function skipTo(words: Word[], index: number): Word[] {
  return words.length > index ? words.slice(index) : words
}

function insideContainer(words: Word[]): Word[] {
  const verb = words.findIndex((word, i) => i > 0 && (word.text === 'exec' || word.text === 'run'))
  const isCompose = words[1]?.text === 'compose' || words[0]?.text === 'docker-compose'
  if (verb === -1 || verb > (isCompose ? 6 : 1)) return words
  const valued = [
    '-u',
    '--user',
    '-e',
    '--env',
    '-w',
    '--workdir',
    '-v',
    '--volume',
    '-p',
    '--name',
    '--network',
    '--entrypoint',
  ]
  const named = skipFlags(words.slice(verb + 1), valued, false)
  return named.length > 1 ? named.slice(1) : words
}

function skipFlags(words: Word[], valued: string[], hasDuration: boolean): Word[] {
  let at = 0
  while (at < words.length) {
    const text = words[at]?.text ?? ''
    if (text === '--') {
      at++
      break
    }
    if (!text.startsWith('-') || text === '-') break
    at += valued.includes(text) ? 2 : 1
  }
  return words.slice(hasDuration ? at + 1 : at)
}

/** `bash -lc "npm test"`: the line inside, or null. */
export function innerLine(words: Word[]): string | null {
  if (!/^(?:ba|z|da|k|a)?sh$/.test(baseName(words[0]?.text ?? ''))) return null
  const flag = words.findIndex((word, i) => i > 0 && /^-[a-z]*c$/.test(word.text))
  return flag === -1 ? null : (words[flag + 1]?.text ?? null)
}

export function baseName(path: string): string {
  return path.replace(/\\/g, '/').split('/').at(-1) ?? path
}

const SPELLINGS: Record<string, string> = {
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
}

/** `/usr/bin/python3.11` is python, `./gradlew` gradle, `clang++-17` clang++. */
export function programName(word: string): string {
  const name = baseName(word).replace(/\.(?:exe|cmd|bat)$/i, '')
  const spelled = SPELLINGS[name]
  if (spelled !== undefined) return spelled
  if (/^python[\d.]*$/.test(name)) return 'python'
  if (/^pip[\d.]*$/.test(name)) return 'pip'
  return name.replace(/^((?:gcc|g\+\+|clang|clang\+\+|php|ruby|psql))-?\d[\d.]*$/, '$1')
}
