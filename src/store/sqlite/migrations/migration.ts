export interface Migration {
  /** What `PRAGMA user_version` is after it. */
  version: number
  name: string
  sql: string
}
