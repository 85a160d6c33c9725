/**
 * Reads a command line: its simple commands without their wrappers, what kind of work each does, and whether the exit code
 * of the line is that of its main command. Nothing here reads an output.
 */
import {
  type CommandJoiner,
  nestedShellLine,
  parseShellLine,
  programName,
  stripCommandPrefixes,
  stripRunnerPrograms,
} from './shell-syntax.ts'
import { isSameTree, singleLine, wordList } from './text.ts'

/**
 * `check`: tests, lints, type-checks or builds; `commit`: makes a commit; `git`: reports on or changes branch and working
 * tree; `look`: only shows something; `run`: everything else.
 */
export type ShellCommandKind = 'check' | 'commit' | 'git' | 'look' | 'run'

export interface ShellCommand {
  /** `pytest` for `sudo python3.11 -m pytest`. */
  program: string
  args: string[]
  kind: ShellCommandKind
  /** A pipe, a `;` or an `||` stands beside it: the exit code of the line says nothing about this command. */
  hidesExit: boolean
  /** The program that its output is piped to, with arguments; null where there is none. */
  pipedTo: string | null
  /** The text of its first heredoc. */
  body: string | null
  /** It only prepares the shell, or is no command: `cd`, an assignment, `for`. */
  prepares: boolean
}

export interface ShellLine {
  /** In order, but for a `cd` in the same tree at the beginning. */
  all: ShellCommand[]
  /** Those that do not only prepare the shell. */
  commands: ShellCommand[]
  /** Of the command that the line was for. */
  kind: ShellCommandKind
  /** As typed, on one line, without `cd` to a directory of the same tree. */
  shown: string
  /** Of the command that the line was for. */
  hidesExit: boolean
}

export const MAX_SHOWN_CHARS = 160
const MAX_COMMANDS = 40
/** Nesting of `sudo bash -c "sh -c '…'"` that is read. */
const MAX_DEPTH = 3

/** What a line was for: the first of these kinds that it has. */
const BY_WEIGHT: readonly ShellCommandKind[] = ['check', 'commit', 'git', 'run', 'look']

export function readCommandLine(line: string, cwd = ''): ShellLine {
  const stages = readStages(line, 0).slice(0, MAX_COMMANDS)
  const isInTree = cwd !== '' && withoutDirectory(line, cwd) !== line
  const all = withHiddenExits(stages).slice(isInTree ? 1 : 0)
  const commands = all.filter(({ prepares }) => !prepares)
  const kind = BY_WEIGHT.find((one) => commands.some((command) => command.kind === one)) ?? 'look'
  const main = commands.filter((command) => command.kind === kind)
  return {
    all,
    commands,
    kind,
    shown: singleLine(withoutDirectory(line, cwd).replace(LINE_AFTER_CD, '$1; '), MAX_SHOWN_CHARS),
    hidesExit: main.some(({ hidesExit }) => hidesExit),
  }
}

type Stage = ShellCommand & { joiner: CommandJoiner }

function readStages(line: string, depth: number): Stage[] {
  return parseShellLine(line).flatMap(({ words, joiner, body, isBackground }): Stage[] => {
    const hidesExit = isBackground || words[0]?.text === '!'
    const stage = { hidesExit, pipedTo: null, body, joiner }
    const [head, ...rest] = stripRunnerPrograms(stripCommandPrefixes(words))
    if (head === undefined) return [{ ...stage, program: words[0]?.text ?? '', args: [], kind: 'look', prepares: true }]
    const nested = depth < MAX_DEPTH ? nestedShellLine([head, ...rest]) : null
    const inner = nested === null ? [] : readStages(nested, depth + 1)
    if (inner.length > 0) return inner.map((stage, i) => (i === 0 ? { ...stage, joiner } : stage))
    const args = rest.map(({ text }) => text)
    const name = programName(head.text)
    if (name === 'git' && (head !== words[0] || head.text !== 'git' || depth > 0))
      return [
        {
          ...stage,
          program: OTHER_GIT,
          args,
          kind: gitKind(args) === 'commit' ? 'git' : gitKind(args),
          prepares: false,
        },
      ]
    return [{ ...stage, program: name, args, kind: commandKind(name, args), prepares: PREPARATIONS.has(name) }]
  })
}

/** `./git`, `npx git`, `GIT_DIR=… git`: another program of that name, or about another repository. */
export const OTHER_GIT = 'other-git'

/** `a && b | tail`: the code is that of `a` if it failed, else that of `tail`. */
function withHiddenExits(stages: readonly Stage[]): ShellCommand[] {
  const sets = stages.filter(({ program }) => program === 'set').flatMap(({ args }) => args)
  const hasPipefail = sets.includes('pipefail')
  const stopsAtFailure = sets.some((arg) => /^-[a-z]*e/.test(arg))
  let isHidden = false
  const found: ShellCommand[] = []
  for (let i = stages.length - 1; i >= 0; i--) {
    const { joiner, ...command } = stages[i] as Stage
    const next = stages[i + 1]
    const pipedTo = next?.joiner === 'pipe' ? [next.program, ...next.args].map(quotedArgument).join(' ') : null
    isHidden ||= next?.joiner === 'or' || (next?.joiner === 'then' && !stopsAtFailure)
    // Of `a || b` the second may not have run.
    const isBeside = joiner === 'or' || (pipedTo !== null && !hasPipefail)
    found.unshift({ ...command, hidesExit: command.hidesExit || isHidden || isBeside, pipedTo })
  }
  return found
}

/** As one would type it. */
export const quotedArgument = (arg: string): string =>
  /^[\w@%+=:,./~^-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", '')}'`

const LINE_AFTER_CD = /^(\s*cd\s+[^\s;&|]{1,400})\s*\n\s*/

/** `cd /somewhere && make` is about `make`, unless it leaves the tree: then it is about another project. */
function withoutDirectory(line: string, cwd: string): string {
  const match = /^\s*cd\s+(?:"([^"\n]{1,400})"|'([^'\n]{1,400})'|([^\s;&|]{1,400}))\s*(?:&&|;|\n)\s*(?=\S)/.exec(line)
  if (match === null) return line
  const directory = match[1] ?? match[2] ?? match[3] ?? ''
  const isKnown = !/^[~-]|\$/.test(directory)
  return cwd === '' || (isKnown && isSameTree(directory, cwd)) ? line.slice(match[0].length) : line
}

/** The command itself, wherever it was run. */
export function commandAlone(line: string): string {
  return withoutDirectory(line, '')
}

/**
 * The same for two runs of a check, whatever files they select and wherever their output goes: programs with their
 * subcommand or script. Empty: the line has no check.
 */
export function checkName(line: string): string {
  const checks = readCommandLine(line).commands.filter(({ kind }) => kind === 'check')
  return checks
    .map(({ program, args }) => [program, ...plainArguments(args).filter(isWord).slice(0, 2)].join(' '))
    .join(' && ')
}
const isWord = (arg: string): boolean => /^[a-z][\w:-]*$/i.test(arg)

const words = (text: string): ReadonlySet<string> => new Set(wordList(text))

/** They prepare the shell and print nothing of interest. */
const PREPARATIONS = words(
  'cd pushd popd set export unset source . sleep true false exit wait echo printf : local shopt',
)

/** They show what is there: files, processes, settings. */
const LOOKING =
  words(`ls cat head tail less more grep egrep fgrep rg ag find fd tree pwd which whereis type file stat du df
  wc sort uniq cut tr awk sed jq yq diff cmp env printenv date whoami id uname hostname ps lsof netstat ss history man test
  column nl xxd od strings tee basename dirname realpath readlink seq pgrep jobs comm paste bat`)

/**
 * Programs that check the work whatever their arguments are, and programs with the subcommands that do. `*`: a script or
 * target, recognised by its name.
 */
const CHECKS: Readonly<Record<string, ReadonlySet<string> | 'always' | 'script'>> = {
  ...always(`pytest unittest tox nox vitest jest mocha ava tap karma cypress playwright rspec minitest phpunit pest ctest bats
    ginkgo gotestsum tsc tsgo vue-tsc eslint biome oxlint prettier stylelint knip ruff black isort flake8 pylint mypy pyright
    basedpyright ty bandit golangci-lint staticcheck gofmt shellcheck hadolint yamllint markdownlint rubocop phpstan psalm
    phpcs swiftlint ktlint detekt clang-tidy clang-format webpack rollup esbuild tsup gcc g++ clang clang++ javac rustc cmake
    ninja bazel xcodebuild msbuild actionlint semgrep pre-commit lefthook`),
  ...scripts('npm pnpm yarn bun make just task turbo nx rake composer grunt gulp sbt lerna invoke mage'),
  cargo: words('test t nextest build b check c clippy fmt bench doc'),
  go: words('test build vet fmt'),
  deno: words('test lint check fmt bench'),
  dotnet: words('test build format'),
  swift: words('test build'),
  mix: words('test compile credo dialyzer format'),
  flutter: words('test analyze build'),
  dart: words('test analyze format'),
  gradle: words('test check build assemble lint'),
  mvn: words('test verify package compile install'),
  zig: words('build test'),
  vite: words('build'),
  next: words('build lint'),
  astro: words('build check'),
  ng: words('build test lint'),
  svelte: words('check'),
  terraform: words('validate plan'),
  rails: words('test'),
  artisan: words('test'),
  'manage.py': words('test check'),
  docker: words('build'),
  helm: words('lint'),
}

function always(list: string): Record<string, 'always'> {
  return Object.fromEntries(wordList(list).map((program) => [program, 'always']))
}
function scripts(list: string): Record<string, 'script'> {
  return Object.fromEntries(wordList(list).map((program) => [program, 'script']))
}

/** A part of the name of a script or target that checks: `test:unit`, `lint-fix`, `check_types`. */
const CHECK_PARTS =
  words(`t test tests spec e2e unit integration coverage lint check checks verify validate typecheck type types
  tsc build compile format fmt clippy vet ci`)

function isCheckName(name: string): boolean {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .some((part) => CHECK_PARTS.has(part))
}

/** They take a value, which is no subcommand. */
const VALUED_FLAGS = words(
  '-C -c -w -p -F -f --prefix --cwd --filter --workspace --git-dir --work-tree --package --dir',
)

function plainArguments(args: readonly string[]): string[] {
  return args.filter((arg, i) => !/^[-+]/.test(arg) && !VALUED_FLAGS.has(args[i - 1] ?? '') && !/^\w+=/.test(arg))
}

function commandKind(program: string, args: string[]): ShellCommandKind {
  if (program === 'git') return gitKind(args)
  if (args.length === 1 && /^(?:--?version|-[vV]|--?help|version|help)$/.test(args[0] ?? '')) return 'look'
  if (LOOKING.has(program))
    return program === 'sed' && args.some((arg) => /^-[a-z]*i|^--in-place/.test(arg)) ? 'run' : 'look'
  const rule = Object.hasOwn(CHECKS, program) ? CHECKS[program] : undefined
  if (rule === undefined) return isCheckScript(program, args) ? 'check' : 'run'
  if (rule === 'always') return 'check'
  const plain = plainArguments(args)
  if (rule !== 'script') return plain.slice(0, 2).some((arg) => rule.has(arg.split(':').at(-1) ?? '')) ? 'check' : 'run'
  const names = plain[0] === 'run' || plain[0] === 'run-script' ? plain.slice(1, 2) : plain
  return names.slice(0, 3).some(isCheckName) || (program === 'make' && plain.length === 0) ? 'check' : 'run'
}

/** `node --test`, `python tests/test_cart.py`, `./run-tests.sh`. */
function isCheckScript(program: string, args: readonly string[]): boolean {
  if (program === 'node' && args.some((arg) => arg.startsWith('--test'))) return true
  const isInterpreter = /^(?:node|tsx|ts-node|python|ruby|php|bash|sh|perl)$/.test(program)
  const script = isInterpreter ? (plainArguments(args)[0] ?? '') : program
  const name = script.slice(script.lastIndexOf('/') + 1)
  if (name === 'manage.py' || name === 'artisan') return plainArguments(args)[1] === 'test'
  return /\.(?:sh|bash|py|rb|[mc]?[jt]s|php|pl)$/.test(name) && isCheckName(name.replace(/\.\w+$/, ''))
}

/** What git says with these is about branch, commits and working tree. */
const STATE_VERBS =
  words(`status branch checkout switch push pull fetch merge rebase reset stash tag log reflog worktree
  cherry-pick revert restore rev-parse remote rm mv clean am bisect submodule`)
/** Of `git diff` and `git show`: names instead of content. */
const NAMES_ONLY = /^--(?:stat|shortstat|name-only|name-status|numstat|summary)\b/

/** The subcommand of git, without options before it. */
export function gitVerb(args: readonly string[]): string {
  return plainArguments(args)[0] ?? ''
}

function gitKind(args: readonly string[]): ShellCommandKind {
  const verb = gitVerb(args)
  if (verb === 'commit') return args.includes('--dry-run') ? 'look' : 'commit'
  if (verb === 'diff' || verb === 'show') return args.some((arg) => NAMES_ONLY.test(arg)) ? 'git' : 'look'
  if (verb === 'add' || verb === 'init' || verb === 'config' || verb === 'clone') return 'run'
  return STATE_VERBS.has(verb) ? 'git' : 'look'
}
