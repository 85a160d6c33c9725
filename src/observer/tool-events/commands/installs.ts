/** Package managers: which packages were installed, updated or removed. Also `node --version` and the like. */
import { joinNames, unique } from '../text.ts'
import {
  allMatches,
  firstRuleMatch,
  hasMatch,
  lastMatch,
  type OutputReader,
  type OutputReading,
  outputReading,
  type ShellRun,
} from './output.ts'

type PackageChange = 'added' | 'updated' | 'removed'

interface ChangedPackage {
  change: PackageChange
  name: string
  /** `left-pad@1.3.0 (was 1.2.0)`. */
  text: string
  dev: boolean
}

/** The names of a whole lock file are not worth remembering. */
const MAX_NAMED_PACKAGES = 8
const NAME = '(?<name>@?[\\w.-]+(?:\\/[\\w.-]+)*)'
const VERSION = '(?<version>\\d[\\w.+-]*)'
const rule = (source: string) => new RegExp(source.replace('NAME', NAME).replace('VERSION', VERSION))

/** Groups: `name`, `version`, `old` (the version before), `dev`. */
const PACKAGE_LINES: [PackageChange, RegExp][] = [
  // bun, old npm, yarn
  ['added', rule('^(?:\\+|installed|├─|└─) NAME@(?:npm:)?VERSION')],
  ['added', rule('YN0085: │ \\+ NAME@npm:VERSION')],
  ['removed', rule('YN0085: │ - NAME@npm:VERSION')],
  // pnpm
  ['added', rule('^\\+ NAME VERSION')],
  ['removed', rule('^- NAME VERSION')],
  // uv
  ['added', rule('^ \\+ NAME==(?<version>\\S+)')],
  ['removed', rule('^ - NAME==(?<version>\\S+)')],
  // poetry, composer
  ['added', rule('^\\s+[-•] Installing NAME \\((?<version>v?\\d[^\\s)]*)')],
  [
    'updated',
    rule('^\\s+[-•] (?:Updating|Upgrading|Downgrading) NAME \\((?<old>v?\\d\\S*) [-=]> (?<version>v?\\d[^\\s)]*)'),
  ],
  ['removed', rule('^\\s+[-•] Removing NAME \\((?<version>v?\\d[^\\s)]*)')],
  // cargo
  ['added', /^\s+Adding (?<name>\S+) v(?<version>\S+) to (?:(?<dev>dev|build)-)?dependencies/],
  ['updated', /^\s+(?:Updating|Downgrading) (?<name>\S+) v(?<old>\S+) -> v(?<version>\S+)/],
  ['removed', /^\s+Removing (?<name>\S+) (?:v(?<version>\S+)|from (?:dev-|build-)?dependencies)/],
  ['added', /^\s+Installed package `(?<name>\S+) v(?<version>[^\s`]+)/],
  // go
  ['added', /^go: added (?<name>\S+) (?<version>v\S+)/],
  ['updated', /^go: (?:upgraded|downgraded) (?<name>\S+) (?<old>v\S+) => (?<version>v\S+)/],
  ['removed', /^go: removed (?<name>\S+) (?<version>v\S+)/],
  // gem, bundle
  ['updated', /^Installing (?<name>[\w-]+) (?<version>\d\S*) \(was (?<old>\d[^\s)]*)\)/],
  ['added', /^Installing (?<name>[\w-]+) (?<version>\d\S*)(?: with native extensions)?$/],
  ['added', /^Successfully installed (?<name>[a-z][\w-]*?)-(?<version>\d[\w.]*)$/],
  // apt, brew, dotnet
  ['added', /^Setting up (?<name>[\w.+-]+)(?::\w+)? \((?<version>[^\s)]+)\)/],
  ['removed', /^Removing (?<name>[\w.+-]+)(?::\w+)? \((?<version>[^\s)]+)\)/],
  ['added', /^🍺\s+\S+\/Cellar\/(?<name>[^\s/]+)\/(?<version>[^\s:/]+):/u],
  ['added', /PackageReference for package '(?<name>[^']+)' version '(?<version>[^']+)' added/],
]

export const readInstall: OutputReader = (run, lines) => {
  const requested = requestedPackages(run)
  const printed = [...pipPackages(lines), ...printedPackages(lines)]
  const matching = printed.filter(
    ({ name }) => requested.length === 0 || requested.some((request) => sameName(packageName(request), name)),
  )
  const named = matching.length > 0 ? matching : printed
  const unprinted = printed.length === 0 ? packagesOfCommand(run, requested, lines) : []
  const facts = packageSentences([...named, ...unprinted], run)
  const dependencies = printed.length - named.length
  const audit = lastMatch(lines, /^(\d+ (?:\w+ severity )?vulnerabilit(?:y|ies)(?: \(.+\))?)/)?.[1]
  if (audit) facts.push(`Audit found ${audit} (${run.shown})`)
  const first = facts[0] ? `${facts[0]}${dependencies > 0 ? ` and ${dependencies} dependencies` : ''}` : null
  const headline = installTotal(lines) ?? first
  return headline === null && facts.length === 0 ? null : outputReading({ headline, facts })
}

function printedPackages(lines: string[]): ChangedPackage[] {
  const packages: ChangedPackage[] = []
  let section = ''
  for (const line of lines) {
    if (/^(?:dev|optional|peer)?[dD]ependencies:?$/.test(line)) section = line
    if (/in group '?(?:dev|test)|group dev/i.test(line)) section = 'dev'
    for (const [change, pattern] of PACKAGE_LINES) {
      const { name, version, old, dev } = pattern.exec(line)?.groups ?? {}
      if (name === undefined) continue
      const text = `${name}${version ? `@${version}` : ''}${old ? ` (was ${old})` : ''}`
      packages.push({ change, name, text, dev: dev !== undefined || section.startsWith('dev') })
      break
    }
  }
  return mergeReplaced(packages)
}

/** uv and pnpm print an update as one package that is removed and one that is added. */
function mergeReplaced(packages: ChangedPackage[]): ChangedPackage[] {
  return packages.flatMap((one) => {
    const twin = packages.find((other) => other !== one && other.name === one.name && other.change !== one.change)
    if (one.change === 'removed' && twin?.change === 'added') return []
    if (one.change !== 'added' || twin?.change !== 'removed') return [one]
    return [{ ...one, change: 'updated', text: `${one.text} (was ${twin.text.split('@').at(-1)})` }]
  })
}

/** pip prints all packages on one line, as `name-version`. */
function pipPackages(lines: string[]): ChangedPackage[] {
  const packages = allMatches(lines, /^(?:\S+: )?Successfully (installed|uninstalled) (\S+-\d.*)$/).flatMap(
    ([, verb, names = '']) =>
      names.split(' ').flatMap((word): ChangedPackage[] => {
        const [, name, version] = /^(\S+?)-(\d\S*)$/.exec(word) ?? []
        if (name === undefined) return []
        return [{ change: verb === 'installed' ? 'added' : 'removed', name, text: `${name}@${version}`, dev: false }]
      }),
  )
  const added = new Set(packages.flatMap(({ change, name }) => (change === 'added' ? [name] : [])))
  return packages.filter(({ change, name }) => change === 'added' || !added.has(name))
}

const VERBS =
  /^(?:i|install|ci|add|remove|rm|uninstall|un|update|upgrade|up|get|require|req|package|pip|tool|mod|tidy|sync|download|global|-y)$/
const FLAGS_WITH_VALUE =
  /^(?:-r|--requirement|-c|--constraint|--index-url|-i|--extra-index-url|-w|--workspace|--prefix|-C|--filter|--features|-F|--group|-G|--registry|-t|--target|-e|--editable|--version|-v)$/

function requestedPackages(run: ShellRun): string[] {
  return run.args.filter(
    (arg, i) =>
      !arg.startsWith('-') &&
      !VERBS.test(arg) &&
      !FLAGS_WITH_VALUE.test(run.args[i - 1] ?? '') &&
      /^@?[\w]/.test(arg) &&
      !/\.(?:txt|toml|csproj|sln|whl|tgz)$/.test(arg),
  )
}

/** Without version and extras: `uvicorn[standard]>=0.2` is uvicorn. */
function packageName(request: string): string {
  return request.replace(/(?<=.)(?:@|[=<>~!^]=?|\[).*$/, '')
}

function sameName(one: string, other: string): boolean {
  const normalized = (name: string) => name.toLowerCase().replace(/[_.]/g, '-')
  return normalized(one) === normalized(other)
}

const CHANGE_BY_VERB: [RegExp, PackageChange][] = [
  [/^(?:i|install|add|require|req)$/, 'added'],
  [/^(?:remove|rm|uninstall|un)$/, 'removed'],
  [/^(?:update|upgrade|up)$/, 'updated'],
]

/** npm does not print what it installed, so the packages are those of the command line. */
function packagesOfCommand(run: ShellRun, requested: string[], lines: string[]): ChangedPackage[] {
  const verb = run.args.find((arg) => !arg.startsWith('-')) ?? ''
  const change = CHANGE_BY_VERB.find(([pattern]) => pattern.test(verb))?.[1]
  const isKnown = /^(?:npm|yarn|pnpm|bun|pip|uv|poetry|gem|composer|brew|apt|apt-get|cargo)$/.test(run.program)
  if (!isKnown || change === undefined || hasMatch(lines, /^(?:npm (?:ERR!|error)|ERROR: |error: |E: )/)) return []
  const satisfied = new Map(
    allMatches(lines, /^Requirement already satisfied: ([\w.-]+)\S* in .+ \(([^)]+)\)$/).map(
      ([, name = '', version = '']) => [name, version],
    ),
  )
  return requested.map((request) => {
    const name = packageName(request)
    const version = satisfied.get(name)
    const text = version === undefined ? request.replace(/==/, '@') : `${name}@${version}`
    return { change, name, text, dev: isDevInstall(run) }
  })
}

function isDevInstall(run: ShellRun): boolean {
  return (
    run.args.some((arg) => /^(?:-D|--save-dev|--dev|-d|--group=dev)$/.test(arg)) ||
    / (?:--group|-G) (?:dev|test)\b/.test(run.shown)
  )
}

const PAST_TENSE: Record<PackageChange, string> = { added: 'Installed', updated: 'Updated', removed: 'Removed' }

function packageSentences(packages: ChangedPackage[], run: ShellRun): string[] {
  const allDev = isDevInstall(run)
  const sentences = unique(
    packages.map(
      ({ change, text, dev }) =>
        `${PAST_TENSE[change]} ${text}${change !== 'removed' && (dev || allDev) ? ' (dev)' : ''}`,
    ),
  )
  if (sentences.length <= MAX_NAMED_PACKAGES) return sentences
  return (['added', 'updated', 'removed'] as const).flatMap((change) => {
    const texts = unique(packages.filter((one) => one.change === change).map(({ text }) => text))
    return texts.length === 0 ? [] : [`${PAST_TENSE[change]} ${joinNames(texts, MAX_NAMED_PACKAGES)}`]
  })
}

/** npm, bundler, composer. */
const TOTALS: RegExp[] = [
  /^((?:added|removed|changed) \d+ packages?(?:, (?:and )?(?:added|removed|changed) \d+ packages?)*)/,
  /^Bundle (?:complete|updated)! (.+?)\.?$/,
  /^Package operations: (.+)$/,
]
const UP_TO_DATE =
  /^(up to date|Already up to date|No dependencies to install or update|Nothing to install, update or remove|Audited \d+ packages)/i

function installTotal(lines: string[]): string | null {
  return firstRuleMatch(lines, TOTALS)?.[1] ?? (hasMatch(lines, UP_TO_DATE) ? 'up to date' : null)
}

const VERSION_FLAG = /^(?:--version|-version|-V|-v|version)$/
const VERSION_NUMBER = /\bv?(\d+\.\d+(?:\.\d+)?(?:[-+.][\w.]+)?)\b/

/** `node --version`. Several programs in one line are distinguished by their names or by the order of the output. */
export function readVersions(runs: ShellRun[], lines: string[]): OutputReading | null {
  const queries = runs.filter((run) => run.args.length === 1 && VERSION_FLAG.test(run.args[0] ?? ''))
  if (queries.length === 0) return null
  const versions = lines.filter((line) => VERSION_NUMBER.test(line))
  const facts = queries.flatMap(({ program }, i) => {
    const named = versions.find((line) => line.toLowerCase().includes(program.toLowerCase()))
    const byOrder = versions.length === queries.length || queries.length === 1 ? versions[i] : undefined
    const line = named ?? byOrder
    const version = line === undefined ? undefined : VERSION_NUMBER.exec(line)?.[0]
    return version === undefined ? [] : [`${program} is version ${version}`]
  })
  return facts.length === 0 ? null : outputReading({ headline: facts.join(', '), facts })
}
