/** Installs: which packages at which version, and how many in all. */

import { unique } from '../../text.ts'
import { allLines, lastLine, listed, type Output } from '../output.ts'
import { type Reader, type Run, reading } from '../reading.ts'
import { type Change, RULES } from './rules.ts'

interface Package {
  change: Change
  name: string
  text: string
  dev: boolean
}

const MAX_NAMED = 8 // a lock file's worth of names is no knowledge

export const readInstall: Reader = (run, out) => {
  const asked = askedFor(run)
  const printed = [...pip(out), ...ruled(out)]
  const wanted = printed.filter((one) => asked.length === 0 || asked.some((ask) => sameName(nameOf(ask), one.name)))
  const named = wanted.length > 0 ? wanted : printed
  const silent = printed.length === 0 ? fromCommand(run, asked, out) : []
  const facts = sentences([...named, ...silent], run)
  const extra = named.length < printed.length ? printed.length - named.length : 0
  const total = totals(out)
  const risky = lastLine(out, /^(\d+ (?:\w+ severity )?vulnerabilit(?:y|ies)(?: \(.+\))?)/)
  if (risky) facts.push(`Audit found ${risky[1]} (${run.shown})`)
  const headline = total ?? (facts[0] ? `${facts[0]}${extra > 0 ? ` and ${extra} dependencies` : ''}` : null)
  return headline === null && facts.length === 0 ? null : reading({ headline, facts })
}

function ruled(out: Output): Package[] {
  const found: Package[] = []
  let section = ''
  for (const line of out.lines) {
    if (/^(?:dev|optional|peer)?[dD]ependencies:?$/.test(line)) section = line
    if (/in group '?(?:dev|test)|group dev/i.test(line)) section = 'dev'
    for (const rule of RULES) {
      const [, name, one, two] = rule.line.exec(line) ?? []
      if (name === undefined) continue
      const [from, to] = rule.oldFirst ? [one, two] : [two, one]
      const text = `${name}${to ? `@${to}` : ''}${from ? ` (was ${from})` : ''}`
      found.push({ change: rule.change, name, text, dev: rule.dev === true || /^dev/.test(section) })
      break
    }
  }
  return mergeReplaced(found)
}

/** uv and pnpm print an update as one that goes and one that comes. */
function mergeReplaced(found: Package[]): Package[] {
  return found.flatMap((one) => {
    const twin = found.find((other) => other !== one && other.name === one.name && other.change !== one.change)
    if (twin === undefined) return [one]
    if (one.change !== 'added') return one.change === 'removed' && twin.change === 'added' ? [] : [one]
    return twin.change === 'removed'
      ? [{ ...one, change: 'updated' as const, text: `${one.text} (was ${twin.text.split('@').at(-1)})` }]
      : [one]
  })
}

function pip(out: Output): Package[] {
  return allLines(out, /^(?:\S+: )?Successfully (installed|uninstalled) (\S+-\d.*)$/)
    .flatMap(([, verb, names = '']) =>
      names.split(' ').flatMap((word): Package[] => {
        const [, name, version] = /^(\S+?)-(\d\S*)$/.exec(word) ?? []
        if (name === undefined) return []
        return [{ change: verb === 'installed' ? 'added' : 'removed', name, text: `${name}@${version}`, dev: false }]
      }),
    )
    .filter(
      (one, _i, all) =>
        one.change === 'added' || !all.some((other) => other.change === 'added' && other.name === one.name),
    )
}

const VERBS =
  /^(?:i|install|ci|add|remove|rm|uninstall|un|update|upgrade|up|get|require|req|package|pip|tool|mod|tidy|sync|download|global|-y)$/
const VALUED =
  /^(?:-r|--requirement|-c|--constraint|--index-url|-i|--extra-index-url|-w|--workspace|--prefix|-C|--filter|--features|-F|--group|-G|--registry|-t|--target|-e|--editable|--version|-v)$/

function askedFor(run: Run): string[] {
  return run.args.filter(
    (arg, i) =>
      !arg.startsWith('-') &&
      !VERBS.test(arg) &&
      !VALUED.test(run.args[i - 1] ?? '') &&
      /^@?[\w]/.test(arg) &&
      !/\.(?:txt|toml|csproj|sln|whl|tgz)$/.test(arg),
  )
}

function nameOf(ask: string): string {
  return ask.replace(/(?<=.)(?:@|[=<>~!^]=?|\[).*$/, '')
}

function sameName(one: string, other: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/[_.]/g, '-')
  return plain(one) === plain(other)
}

/** npm does not print what it installed: the command said it. */
function fromCommand(run: Run, asked: string[], out: Output): Package[] {
  const verb = run.args.find((arg) => !arg.startsWith('-')) ?? ''
  if (!/^(?:npm|yarn|pnpm|bun|pip|uv|poetry|gem|composer|brew|apt|apt-get|cargo)$/.test(run.program)) return []
  if (lastLine(out, /^(?:npm (?:ERR!|error)|ERROR: |error: |E: )/)) return []
  const change: Change | null = /^(?:i|install|add|require|req)$/.test(verb)
    ? 'added'
    : /^(?:remove|rm|uninstall|un)$/.test(verb)
      ? 'removed'
      : /^(?:update|upgrade|up)$/.test(verb)
        ? 'updated'
        : null
  if (change === null) return []
  const satisfied = new Map(
    allLines(out, /^Requirement already satisfied: ([\w.-]+)\S* in .+ \(([^)]+)\)$/).map(
      ([, name = '', version = '']) => [name, version],
    ),
  )
  return asked.map((ask) => {
    const name = nameOf(ask)
    const version = satisfied.get(name)
    const text = version === undefined ? ask.replace(/==/, '@') : `${name}@${version}`
    return { change, name, text, dev: isDev(run) }
  })
}

function isDev(run: Run): boolean {
  return (
    run.args.some((arg) => /^(?:-D|--save-dev|--dev|-d|--group=dev)$/.test(arg)) ||
    / (?:--group|-G) (?:dev|test)\b/.test(run.shown)
  )
}

function sentences(packages: Package[], run: Run): string[] {
  const dev = isDev(run)
  const verb: Record<Change, string> = { added: 'Installed', updated: 'Updated', removed: 'Removed' }
  const lines = unique(
    packages.map(
      (one) => `${verb[one.change]} ${one.text}${one.change !== 'removed' && (one.dev || dev) ? ' (dev)' : ''}`,
    ),
  )
  if (lines.length <= MAX_NAMED) return lines
  return (['added', 'updated', 'removed'] as const).flatMap((change) => {
    const some = unique(packages.filter((one) => one.change === change).map((one) => one.text))
    return some.length === 0 ? [] : [`${verb[change]} ${listed(some, MAX_NAMED)}`]
  })
}

function totals(out: Output): string | null {
  const npm = lastLine(
    out,
    /^((?:added|removed|changed) \d+ packages?(?:, (?:and )?(?:added|removed|changed) \d+ packages?)*)/,
  )
  if (npm) return npm[1] ?? null
  const bundle = lastLine(out, /^Bundle (?:complete|updated)! (.+?)\.?$/)
  if (bundle) return bundle[1] ?? null
  const composer = lastLine(out, /^Package operations: (.+)$/)
  if (composer) return composer[1] ?? null
  const none = lastLine(
    out,
    /^(up to date|Already up to date|No dependencies to install or update|Nothing to install, update or remove|Audited \d+ packages)/i,
  )
  return none ? 'up to date' : null
}
