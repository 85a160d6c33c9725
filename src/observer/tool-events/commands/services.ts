/** Servers, HTTP requests, containers and database migrations. */
import { joinNames, unique } from '../text.ts'
import {
  allMatches,
  hasMatch,
  lastMatch,
  type OutputReader,
  outputReading,
  reportedError,
  type SentenceRule,
  sentencesFrom,
} from './output.ts'

const LISTENS = /listen|running (?:on|at)|ready|\blocal:|started|serving|available|server|bound to|accessible|➜/i
const LOCAL_URL =
  /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|\d+\.\d+\.\d+\.\d+|[\w.-]+\.local(?:host)?)(?::\d{2,5})?/i
const PORT = /(?:listening|started|running|ready|serving|server).{0,60}?\bport(?:\(s\))?:? ?(\d{2,5})/i
const ADDRESS =
  /(?:listening|running|serving|bound).{0,40}?(?:on|at|to) (?:http:\/\/)?((?:localhost|\d+\.\d+\.\d+\.\d+|\*|\[::\]|::)?:\d{2,5})\b/i
const PORT_IN_USE =
  /(?:address already in use|EADDRINUSE|port is already allocated|port \d+ is (?:already )?in use)[^\d]{0,40}?:?(\d{2,5})?\b/i

/** Where a server listens, or that its port is in use. */
export const readServer: OutputReader = (run, lines) => {
  const inUse = lines.find((line) => PORT_IN_USE.test(line))
  if (inUse !== undefined) {
    const port = /:(\d{2,5})\b/.exec(inUse)?.[1] ?? /\b(?:port )(\d{2,5})\b/i.exec(inUse)?.[1]
    const problem = port === undefined ? 'address already in use' : `port ${port} is already in use`
    return outputReading({
      headline: problem,
      failed: run.kind === 'server',
      errors: [reportedError(inUse)],
      facts: [`${problem.charAt(0).toUpperCase()}${problem.slice(1)} (${run.shown})`],
    })
  }
  const addresses = unique(listeningAddresses(lines)).slice(0, 3)
  if (addresses.length === 0) return null
  return outputReading({
    headline: `listens on ${addresses.join(', ')}`,
    facts: addresses.map((address) => `Server listens on ${address}`),
  })
}

function listeningAddresses(lines: string[]): string[] {
  return lines.flatMap((line) => {
    if (!LISTENS.test(line)) return []
    const url = LOCAL_URL.exec(line)?.[0]
    if (url !== undefined) return [url]
    const port = PORT.exec(line)?.[1]
    return port === undefined ? (ADDRESS.exec(line)?.[1] ?? []) : [`port ${port}`]
  })
}

/** The status that an HTTP client printed. */
export const readHttp: OutputReader = (run, lines) => {
  if (!/^(?:curl|http|https|xh|wget|curlie)$/.test(run.program)) return null
  const url = run.args
    .map((arg) => /^(?:https?:\/\/)?(?:[\w.-]+|\[::1\])(?::\d+)?(?:\/\S*)?$/.exec(arg)?.[0] ?? '')
    .find((arg) => /:\/\/|localhost|:\d+/.test(arg))
  // `curl -w '%{http_code}'` prints the bare number.
  const printsStatus = run.args.some((arg) => arg.includes('%{http_code}') || arg.includes('%{response_code}'))
  const match =
    lastMatch(lines, /(?:^|[<\s])HTTP\/[\d.]+ (\d{3})(?: ([A-Za-z][\w -]{0,40}))?/) ??
    lastMatch(lines, /awaiting response\.\.\. (\d{3}) (\w[\w ]*)/) ??
    (printsStatus ? lastMatch(lines, /(?:^|\D)([1-5]\d{2})\s*$/) : null)
  if (match === null || url === undefined) return null
  const status = `${match[1]}${match[2] ? ` ${match[2].trim()}` : ''}`
  // The query and the user may be secrets; host and path identify the endpoint.
  const endpoint = url.replace(/\?.*$/, '').replace(/\/\/[^@/]*@/, '//')
  return outputReading({
    headline: `HTTP ${status}`,
    facts: [`${requestMethod(run.args)} ${endpoint} answers ${status}`],
  })
}

function requestMethod(args: string[]): string {
  const flag = args.find((_, i) => /^(?:-X|--request)$/.test(args[i - 1] ?? ''))
  const word = args.find((arg) => /^(?:GET|POST|PUT|PATCH|DELETE|HEAD)$/.test(arg))
  return flag ?? word ?? (args.some((arg) => /^(?:-d|--data\S*|--json|-F)$/.test(arg)) ? 'POST' : 'GET')
}

const CONTAINER_FACTS: SentenceRule[] = [
  [/naming to (?:docker\.io\/(?:library\/)?)?([\w./-]+:[\w.-]+)/, 'Built image $1'],
  [/^Successfully tagged (\S+)/, 'Built image $1'],
  [
    /^\s*(?:[✔⠿] )?Container (\S+)\s+(Started|Healthy|Running|Stopped|Removed|Exited)/,
    ([, name, state]) => `Container ${name} is ${state?.toLowerCase()}`,
  ],
  [/^([\w.-]+): digest: (sha256:[0-9a-f]{12})/, 'Pushed image tag $1 ($2)'],
  [/^Status: Downloaded newer image for (\S+)/, 'Pulled image $1'],
  [/^((?:[\w.]+\/)[\w.-]+) (created|configured|deleted|scaled|restarted|patched)\b/, '$1 $2'],
  [/^(Apply complete! Resources: .+?)\.?$/, 'Terraform: $1'],
  [/^(Destroy complete! Resources: .+?)\.?$/, 'Terraform: $1'],
  [/^(Plan: \d+ to add.+?)\.?$/, 'Terraform: $1'],
  [/^No changes\. Your infrastructure matches/, 'Terraform: no changes'],
  [/^Release "(.+?)" has been (upgraded|installed|rolled back)/, 'Helm release $1 $2'],
]

/** Containers and infrastructure. */
export const readContainers: OutputReader = (run, lines) => {
  if (!/^(?:docker|podman|kubectl|helm|terraform|tofu)$/.test(run.program) || run.kind === 'look') return null
  const facts = unique(sentencesFrom(lines, CONTAINER_FACTS)).slice(0, 10)
  return facts.length === 0 ? null : outputReading({ headline: facts.slice(0, 3).join('; '), facts })
}

interface MigrationRules {
  done: string
  /** Facts about single migrations. */
  maxFacts: number
  /** Group 1 is the name of a migration. */
  rules: RegExp[]
}

const MIGRATIONS: MigrationRules[] = [
  {
    done: 'Applied',
    maxFacts: 10,
    rules: [
      /Running upgrade \S* ?-> (\w+(?:, .{1,120})?)/, // alembic
      /Applying migration [`'](.+?)[`']/, // prisma, entity framework
      /^\s+Applying ([\w.]+)\.\.\. ?(?:OK|FAKED)/, // django
      /Migrating schema .+ to version "(.+?)"/, // flyway
      /^=+ (\d\S* \w+|\d[\w-]+): migrated/, // rails, sequelize
      /^Running migration (\S+)/, // diesel
      /(?:^|\s)OK\s+(\d\S+\.(?:sql|go))/, // goose
      /^Applied (\d+\/migrate .+?) \(/, // sqlx
      /^\s*(\d{4}_\d\d_\d\d_\w+) \.{2,} .*DONE/, // laravel
      /^Migrated:\s+(\S+)/,
      /^(\d+\/u \S+)/, // golang-migrate
      /^Migration (\S+) has been\s+executed/, // typeorm
      /== Running \d+ (\S+?)\.change\/0 forward/, // ecto
      /^Applying: (\S+)/, // dbmate
      /^\s*[└├]─ (\d{14}_\w+)\/?$/, // prisma's list
    ],
  },
  {
    done: 'Rolled back',
    maxFacts: 10,
    rules: [
      /Running downgrade (\w+) ->/,
      /^\s+Unapplying ([\w.]+)\.\.\. ?OK/,
      /^=+ (\d\S* \w+|\d[\w-]+): reverted/,
      /^Rolling back migration (\S+)/,
      /^Rolled back:\s+(\S+)/,
      /^(\d+\/d \S+)/,
      /^Migration (\S+) has been\s+reverted/,
      /== Running \d+ (\S+?)\.change\/0 backward/,
      /^Rolling back: (\S+)/,
    ],
  },
  {
    done: 'Wrote',
    maxFacts: 5,
    rules: [
      /^\s+(\S*migrations\/\S+\.py)$/,
      /Generating (\S+\.py)\s+\.\.\.\s+done/,
      /^Created Migration: (\S+)/,
      /^\s+create\s+(db\/migrate\/\S+)/,
      /Your SQL migration(?: file)? ➜ (\S+)/,
    ],
  },
]
const NOTHING_TO_APPLY =
  /(?:No migrations to (?:apply|run)|No pending migrations|Already up to date|schema is up to date|Nothing to migrate|already in sync|no change$|No changes detected|no migrations to run)/i

/** Which migrations were applied, rolled back or written. */
export const readMigration: OutputReader = (_run, lines) => {
  const found = MIGRATIONS.map(({ rules, ...rest }) => ({
    ...rest,
    names: unique(rules.flatMap((rule) => allMatches(lines, rule).map(([, name = '']) => name))),
  }))
  const batch = lastMatch(lines, /^(Batch \d+ (?:run|rolled back): \d+ migrations?)/)?.[1]
  const version = lastMatch(lines, /(?:migrated database to version:|current version:) (\S+)/)?.[1]
  const facts = [
    ...found.flatMap(({ done, maxFacts, names }) =>
      names.slice(0, maxFacts).map((name) => `${done} migration ${name}`),
    ),
    ...(batch ? [`Migrations: ${batch}`] : []),
    ...(version ? [`Database is at version ${version}`] : []),
  ]
  const parts = [
    ...found.flatMap(({ done, names }) => (names.length > 0 ? [`${done.toLowerCase()} ${joinNames(names, 3)}`] : [])),
    ...(batch ? [batch] : []),
  ]
  if (parts.length > 0) return outputReading({ headline: parts.join('; '), facts })
  if (hasMatch(lines, NOTHING_TO_APPLY)) return outputReading({ headline: 'no migration to apply' })
  return facts.length > 0 ? outputReading({ headline: facts[0] ?? null, facts }) : null
}
