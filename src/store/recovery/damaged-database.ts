/**
 * The rows of a damaged database, by table. Where its trees of pages can be followed, they say which page belongs to which
 * table. A page that no tree leads to, because one above it is lost, belongs to the table with lost pages whose columns its
 * rows have. The columns themselves are those of the migrations, so the schema of the file is not needed.
 */
import { MIGRATIONS, migrate } from '../migrations/index.ts'
import { Database, type SqlValue } from '../sqlite/database.ts'
import { DatabasePages, type StoredRow } from './database-pages.ts'

export type SalvagedRow = Record<string, SqlValue>

/** Ids count up from 1: a higher one is damaged, and would leave none for new rows. */
export const HIGHEST_ID = 2 ** 31

interface Column {
  name: string
  type: string
  mayBeNull: boolean
  /** Rows that are older than the column do not have it. */
  mayBeMissing: boolean
  /** Stored as the key of the row. */
  isId: boolean
}

interface Table {
  columns: Column[]
  /** Pages with its rows. */
  leaves: number[]
  /** A page that should have its rows, or lead to them, cannot be read. */
  hasLost: boolean
}

interface SchemaRow {
  type: string
  name: string
  root: number
}

export class DamagedDatabase {
  readonly #pages: DatabasePages
  readonly #schema: SchemaRow[] = []
  readonly #tables: Map<string, Table>
  /** Pages of which the table is known. */
  readonly #assigned = new Set<number>()
  #lostOfSchema: ReadonlySet<number> = new Set()

  private constructor(pages: DatabasePages) {
    this.#pages = pages
    const isComplete = this.#readSchema()
    this.#tables = tablesOf(new Set(this.#schema.map(({ name }) => name)), isComplete)
    const isWhole = isComplete || this.#hasOtherPages()
    for (const [name, table] of this.#tables) {
      const root = this.#schema.find((row) => row.type === 'table' && row.name === name)?.root
      if (root !== undefined) this.#followTree(root, table)
      else table.hasLost = !isWhole
    }
    this.#assignOthers()
  }

  static open(file: string): DamagedDatabase {
    const pages = new DatabasePages(file)
    try {
      return new DamagedDatabase(pages)
    } catch (error) {
      pages.close()
      throw error
    }
  }

  close(): void {
    this.#pages.close()
  }

  /** Empty if its version did not have the table. */
  columns(table: string): string[] {
    return this.#tables.get(table)?.columns.map(({ name }) => name) ?? []
  }

  /** Returns whether nothing of the table was lost. */
  *rows(name: string, columns: readonly string[]): Generator<SalvagedRow, boolean> {
    const table = this.#tables.get(name)
    if (table === undefined) return true
    let complete = !table.hasLost
    for (const page of table.leaves) {
      const { rows, damaged } = this.#pages.rows(page)
      if (damaged > 0) complete = false
      for (const row of rows) {
        if (row.rowid > 0 && row.rowid <= HIGHEST_ID && fits(row, table.columns))
          yield named(row, table.columns, columns)
        else complete = false
      }
    }
    return complete
  }

  /** The sequence number of the newest change; 0 if it cannot be read. */
  seq(): number {
    const root = this.#schema.find(({ name }) => name === 'meta')?.root
    const row =
      root === undefined ? undefined : this.#pages.rows(root).rows.find(({ values: [name] }) => name === 'seq')
    const seq = row?.values[1]
    return typeof seq === 'number' && seq > 0 && seq <= HIGHEST_ID ? seq : 0
  }

  /** Its pages are searched for if the tree cannot be followed. Returns whether it could. */
  #readSchema(): boolean {
    const tree: Table = { columns: [], leaves: [], hasLost: false }
    this.#lostOfSchema = this.#followTree(1, tree)
    const searched = tree.hasLost ? this.#leaves() : tree.leaves
    for (const page of searched) {
      const { rows, damaged } = this.#pages.rows(page)
      const found = rows.flatMap(schemaRow)
      this.#schema.push(...found)
      if (found.length > 0) this.#assigned.add(page)
      if (found.length > 0 && damaged > 0) tree.hasLost = true
    }
    return !tree.hasLost
  }

  /** Nothing but pages of the schema is lost. */
  #hasOtherPages(): boolean {
    const all = Array.from({ length: this.#pages.count }, (_, n) => n + 1)
    const isReadable = (page: number) => this.#lostOfSchema.has(page) || this.#pages.typeOf(page) !== 'unreadable'
    return !this.#pages.isCutOff && all.every(isReadable)
  }

  /** Returns the pages that cannot be read. */
  #followTree(root: number, table: Table): Set<number> {
    const lost = new Set<number>()
    const next = [root]
    for (let page = next.pop(); page !== undefined; page = next.pop()) {
      const type = this.#pages.typeOf(page)
      if (this.#assigned.has(page) || (type !== 'interior' && type !== 'leaf')) {
        table.hasLost = true
        lost.add(page)
        continue
      }
      this.#assigned.add(page)
      if (type === 'leaf') table.leaves.push(page)
      else next.push(...this.#pages.children(page).reverse())
    }
    return lost
  }

  *#leaves(): Generator<number> {
    for (let page = 1; page <= this.#pages.count; page += 1) if (this.#pages.typeOf(page) === 'leaf') yield page
  }

  #assignOthers(): void {
    const candidates = [...this.#tables.values()]
      .filter((table) => table.hasLost || !this.#schema.some(({ name }) => this.#tables.get(name) === table))
      // Where no types are declared, as in the tables of a full-text index, every row fits.
      .sort((a, b) => untyped(a) - untyped(b))
    if (candidates.length === 0) return
    for (const page of this.#leaves()) {
      if (this.#assigned.has(page)) continue
      const { rows } = this.#pages.rows(page)
      const fitting = (table: Table) => rows.filter((row) => fits(row, table.columns)).length
      const best = candidates.reduce((a, b) => (fitting(b) > fitting(a) ? b : a))
      if (fitting(best) > 0) best.leaves.push(page)
    }
  }
}

function untyped({ columns }: Table): number {
  return columns.filter(({ type }) => type === '').length
}

const SCHEMA_TYPES: readonly SqlValue[] = ['table', 'index', 'trigger', 'view']

/** A row of another table has no type of the schema in its first column, which is the id. */
function schemaRow({ values: [type, name, _table, root, ...rest] }: StoredRow): SchemaRow[] {
  const isOne = SCHEMA_TYPES.includes(type ?? null) && rest.length === 1
  return isOne && typeof type === 'string' && typeof name === 'string' && typeof root === 'number'
    ? [{ type, name, root }]
    : []
}

/** The tables of the version whose schema has these names; of several, the newest. `areAll`: and no others. */
function tablesOf(names: ReadonlySet<string>, areAll: boolean): Map<string, Table> {
  versions ??= allVersions()
  const others = (version: Version) =>
    (areAll ? [...version.names].filter((name) => !names.has(name)).length : 0) +
    [...names].filter((name) => !version.names.has(name)).length
  const { tables } = versions.reduce((a, b) => (others(b) <= others(a) ? b : a))
  return new Map([...tables].map(([name, columns]) => [name, { columns, leaves: [], hasLost: false }]))
}

interface Version {
  /** Of everything in its schema. */
  names: ReadonlySet<string>
  tables: ReadonlyMap<string, Column[]>
}

let versions: Version[] | undefined

function allVersions(): Version[] {
  const db = new Database(':memory:')
  try {
    return MIGRATIONS.map((_, n) => {
      migrate(db, MIGRATIONS.slice(0, n + 1))
      // A table without row ids is stored as an index.
      const tables = db.ids<string>`SELECT s.name AS id FROM sqlite_schema s JOIN pragma_table_list(s.name) t
        WHERE s.type = 'table' AND s.rootpage > 0 AND t.wr = 0 ORDER BY s.rowid`
      const names = new Set(db.ids<string>`SELECT name AS id FROM sqlite_schema`)
      return { names, tables: new Map(tables.map((name) => [name, columnsOf(db, name)])) }
    })
  } finally {
    db.close()
  }
}

function columnsOf(db: Database, table: string): Column[] {
  if (table === 'sqlite_sequence') return [sequenceColumn('name', 'TEXT'), sequenceColumn('seq', 'INTEGER')]
  const columns = db.all<{ name: string; type: string; notnull: number; pk: number; dflt: string | null }>`
    SELECT name, type, "notnull", pk, dflt_value AS dflt FROM pragma_table_info(${table})`
  return columns.map(({ name, type, notnull, pk, dflt }) => ({
    name,
    type,
    mayBeNull: notnull === 0,
    mayBeMissing: notnull === 0 || dflt !== null,
    isId: pk > 0,
  }))
}

/** SQLite declares no types for it. */
function sequenceColumn(name: string, type: string): Column {
  return { name, type, mayBeNull: false, mayBeMissing: false, isId: false }
}

function fits({ values }: StoredRow, columns: readonly Column[]): boolean {
  return (
    values.length <= columns.length &&
    columns.every((column, n) => {
      const value = values[n]
      return value === undefined ? column.mayBeMissing : fitsColumn(value, column)
    })
  )
}

function fitsColumn(value: SqlValue, { type, mayBeNull, isId }: Column): boolean {
  if (isId) return value === null
  if (value === null) return mayBeNull
  switch (type) {
    case 'INTEGER':
      return typeof value === 'number' && Number.isInteger(value)
    case 'REAL':
      return typeof value === 'number'
    case 'TEXT':
      return typeof value === 'string'
    case 'BLOB':
      return typeof value === 'object'
    default:
      return true
  }
}

function named({ rowid, values }: StoredRow, columns: readonly Column[], wanted: readonly string[]): SalvagedRow {
  const row: SalvagedRow = {}
  columns.forEach(({ name, isId }, n) => {
    const value = isId ? rowid : values[n]
    if (value !== undefined && wanted.includes(name)) row[name] = value
  })
  return row
}
