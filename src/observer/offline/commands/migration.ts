/** Database migrations: which were applied, rolled back or written. */

import { unique } from '../text.ts'
import { allLines, lastLine, listed, type Output } from './output.ts'
import { type Reader, reading } from './reading.ts'

const APPLIED: RegExp[] = [
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
]
const REVERTED: RegExp[] = [
  /Running downgrade (\w+) ->/,
  /^\s+Unapplying ([\w.]+)\.\.\. ?OK/,
  /^=+ (\d\S* \w+|\d[\w-]+): reverted/,
  /^Rolling back migration (\S+)/,
  /^Rolled back:\s+(\S+)/,
  /^(\d+\/d \S+)/,
  /^Migration (\S+) has been\s+reverted/,
  /== Running \d+ (\S+?)\.change\/0 backward/,
  /^Rolling back: (\S+)/,
]
const WRITTEN: RegExp[] = [
  /^\s+(\S*migrations\/\S+\.py)$/,
  /Generating (\S+\.py)\s+\.\.\.\s+done/,
  /^Created Migration: (\S+)/,
  /^\s+create\s+(db\/migrate\/\S+)/,
  /Your SQL migration(?: file)? ➜ (\S+)/,
]
const NOTHING =
  /(?:No migrations to (?:apply|run)|No pending migrations|Already up to date|schema is up to date|Nothing to migrate|already in sync|no change$|No changes detected|no migrations to run)/i

export const readMigration: Reader = (_run, out) => {
  const applied = named(out, APPLIED)
  const reverted = named(out, REVERTED)
  const written = named(out, WRITTEN)
  const batch = lastLine(out, /^(Batch \d+ (?:run|rolled back): \d+ migrations?)/)
  const version = lastLine(out, /(?:migrated database to version:|current version:) (\S+)/)
  const facts = [
    ...applied.slice(0, 10).map((name) => `Applied migration ${name}`),
    ...reverted.slice(0, 10).map((name) => `Rolled back migration ${name}`),
    ...written.slice(0, 5).map((name) => `Wrote migration ${name}`),
    ...(batch ? [`Migrations: ${batch[1]}`] : []),
    ...(version ? [`Database is at version ${version[1]}`] : []),
  ]
  const parts = [
    said('applied', applied),
    said('rolled back', reverted),
    said('wrote', written),
    batch?.[1] ?? '',
  ].filter((part) => part !== '')
  if (parts.length > 0) return reading({ headline: parts.join('; '), facts })
  return lastLine(out, NOTHING)
    ? reading({ headline: 'no migration to apply' })
    : facts.length > 0
      ? reading({ headline: facts[0] ?? null, facts })
      : null
}

function named(out: Output, rules: RegExp[]): string[] {
  return unique(rules.flatMap((rule) => allLines(out, rule).map(([, name = '']) => name)))
}

function said(verb: string, names: string[]): string {
  return names.length === 0 ? '' : `${verb} ${listed(names, 3)}`
}
