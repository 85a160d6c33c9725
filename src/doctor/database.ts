/** The database file: of a version that this program knows, and sound as far as was looked. */
import { statSync } from 'node:fs'
import { bytes, counted } from '../memory/counts.ts'
import { advice, type Examination, type Finding, faultsOr, ok, problem, quoted } from './check.ts'
import type { Facts } from './facts.ts'

export function database({ around: { paths, deep } }: Facts): Examination {
  const file = paths.database
  return {
    id: 'database',
    title: 'Database',
    look: async () => {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return [ok('none yet')]
      const [{ inspectFile }, { SCHEMA_VERSION }, { listBackups, listSetAside }] = await Promise.all([
        import('../store/sqlite/inspect.ts'),
        import('../store/sqlite/migrations/index.ts'),
        import('../store/sqlite/backup.ts'),
      ])
      const { version, damage, indexDamaged } = inspectFile(file, deep)
      const faults: Finding[] = []
      if (version > SCHEMA_VERSION) {
        faults.push(
          problem(
            `${file} was written by a newer claude-mem (schema ${version}; this one knows up to ${SCHEMA_VERSION})`,
            'npm install -g claude-mem@latest; the data is untouched',
          ),
        )
      }
      if (damage !== null) {
        faults.push(problem(`${file} is damaged: ${damage}`, 'claude-mem restart, which saves what can be read'))
      }
      if (indexDamaged) faults.push(advice('the index of words is damaged', 'claude-mem reindex'))
      const aside = listSetAside(file)
      const [first] = aside
      if (first !== undefined) {
        const size = bytes(aside.reduce((sum, { bytes: held }) => sum + held, 0))
        const text = `${counted(aside.length, 'damaged database')} (${size}) stayed behind when a good one was restored`
        faults.push(advice(text, `if you miss nothing, delete it: ${quoted(first.file)}`))
      }
      const old = version < SCHEMA_VERSION ? `, brought to ${SCHEMA_VERSION} at the next start` : ''
      const looked = deep ? 'checked, sound' : 'claude-mem doctor --deep checks all of it'
      const backups = counted(listBackups(paths.backups).length, 'backup')
      return faultsOr(faults, `schema ${version}${old}; ${backups}; ${looked}`)
    },
  }
}
