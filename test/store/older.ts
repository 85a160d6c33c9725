/** A database as an older version would have left it. */
import { MIGRATIONS, migrate } from '../../src/store/migrations/index.ts'
import { Database } from '../../src/store/sqlite/database.ts'

type Kind = 'trigger' | 'index' | 'table'

/** Undoes what later versions added; what is derived comes back with them. */
export function backTo(version: number, db: Database): void {
  const old = new Database(':memory:')
  migrate(
    old,
    MIGRATIONS.filter((migration) => migration.version <= version),
  )
  for (const kind of ['trigger', 'index', 'table'] as const) {
    const kept = made(old, kind)
    // A virtual table takes its own tables with it.
    const others = [...made(db, kind).keys()].filter((name) => !kept.has(name) && !/_fts_[a-z]+$/.test(name))
    for (const name of others) db.exec(`DROP ${kind} ${name}`)
  }
  for (const [name, sql] of made(old, 'index')) db.exec(`DROP INDEX IF EXISTS ${name}; ${sql}`)
  for (const table of made(old, 'table').keys()) {
    const kept = new Set(columnsOf(old, table))
    const added = columnsOf(db, table).filter((column) => !kept.has(column))
    for (const column of added) db.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`)
  }
  db.exec(`DELETE FROM meta WHERE name <> 'seq'; PRAGMA user_version = ${version}`)
  old.close()
}

export function columnsOf(db: Database, table: string): string[] {
  return db.all<{ name: string }>`SELECT name FROM pragma_table_info(${table})`.map(({ name }) => name)
}

function made(db: Database, kind: Kind): Map<string, string> {
  const rows = db.all<{ name: string; sql: string }>`
    SELECT name, sql FROM sqlite_schema WHERE type = ${kind} AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`
  return new Map(rows.map(({ name, sql }) => [name, sql]))
}
