/** Our entries in a client's files: put there, and taken away as if they had never been there. */
import { applyAll, type Change, diffOf, type Ground, isChange, missingDirectories } from './change.ts'
import type { Adapter, Circumstances, ClientFile, Program, Where } from './clients/adapter.ts'
import { isOurCommand } from './command-line.ts'
import { FORMATS } from './formats.ts'
import type { IsOurs } from './hook-lists.ts'
import { digest, type InstallRecord, readCopy, readRecord, saveCopy } from './record.ts'
import { readSettingsFile, type SettingsFile, targetOf } from './settings-file.ts'

export interface ChangedFile {
  file: string
  /** What of ours it holds, for people. */
  what: string
  changed: boolean
  /** A copy of the file before the change; null when nothing was there to copy or nothing was written. */
  backup: string | null
  diff: string[]
}

export interface Installed {
  changed: boolean
  command: string
  events: readonly string[]
  /** What this client does not know. */
  leftOut: readonly string[]
  files: (ChangedFile & {
    /** Somebody else's entry stands where ours would: it was left alone. */
    taken: boolean
  })[]
  notes: string[]
}

export interface Uninstalled {
  changed: boolean
  files: (ChangedFile & { how: How })[]
}

/** `restored`: as it was, to the byte; `removed`: our entries were taken out of a file that has changed since. */
export type How = 'nothing' | 'restored' | 'removed' | 'file removed'

export function install(
  adapter: Adapter,
  where: Where,
  program: Program,
  circumstances: Omit<Circumstances, 'registered'>,
  ground: Ground,
): Installed {
  const registration = (registered: readonly string[]) =>
    adapter.registration(program, { ...circumstances, registered })
  const { commands } = registration([])
  const found = adapter.files(where).map((file) => look(adapter.name, file, commands, ground))
  const registered = found.flatMap(({ format, before, isOurs }) => FORMATS[format].ours(before.text, isOurs))
  const { merge, events, leftOut, command } = registration(registered)
  const changes = found.map((place): Change => {
    const text = merge(place.format, place.before.text, place.isOurs, place.before.file)
    return additionOf(place, text, { adapter, where, commands, ground })
  })
  const backups = applyAll(changes, ground)
  const files = changes.map((change, index) => ({
    ...outcome(change, found[index], backups[index]),
    taken: isTaken(change, found[index]),
  }))
  const notes = adapter.notes(where, changes.map(textAfter))
  return { changed: files.some(({ changed }) => changed), command, events, leftOut, files, notes }
}

export function uninstall(adapter: Adapter, where: Where, program: Program, ground: Ground): Uninstalled {
  const circumstances = { version: null, fileContext: false, registered: [] }
  const { commands } = adapter.registration(program, circumstances)
  return takeOut(
    adapter.files(where).map((file) => look(adapter.name, file, commands, ground)),
    ground,
  )
}

/** What records know of one client in one place, wherever that client keeps its files by now. */
export function uninstallRecorded(records: readonly InstallRecord[], ground: Ground): Uninstalled {
  return takeOut(
    records.map(({ client, path, file, format }) =>
      look(client, { path: targetOf(path) === file ? path : file, format }, [], ground),
    ),
    ground,
  )
}

/** One of a client's files as it is. */
interface Found extends ClientFile {
  client: string
  before: SettingsFile
  record: InstallRecord | null
  isOurs: IsOurs
}

function look(client: string, file: ClientFile, commands: readonly string[], { dataDir }: Ground): Found {
  const before = readSettingsFile(file.path)
  const record = readRecord(dataDir, client, before.target)
  const written = [...commands, ...(record?.commands ?? [])]
  return { ...file, client, before, record, isOurs: (command) => isOurCommand(command, written) }
}

/** A project's settings are for everybody who works on it; the user's may hold keys. */
const MODES = { user: 0o600, project: 0o644 } as const

interface Addition {
  adapter: Adapter
  where: Where
  commands: readonly string[]
  ground: Ground
}

function additionOf(place: Found, text: string, { adapter, where, commands, ground }: Addition): Change {
  const { before, record: old, format } = place
  const same = text === before.text
  const after = same ? before.bytes : Buffer.from(before.bom + text)
  const record = (backup: string | null): InstallRecord => ({
    v: 2,
    client: adapter.name,
    scope: where.scope,
    root: where.scope === 'project' ? where.root : null,
    path: before.file,
    file: before.target,
    format,
    ...undoOf(place, backup, ground),
    wrote: digest(after ?? Buffer.alloc(0)),
    commands: [...commands, ...(old?.commands ?? [])],
    at: ground.now.toISOString(),
  })
  const keep = old === null ? null : () => old
  const change = { client: adapter.name, before, after, mode: MODES[where.scope], keepsCopy: !same, old }
  return { ...change, record: same ? keep : record }
}

/** What uninstall will bring back. Our own earlier writing is not what its owner had. */
function undoOf(
  { before, record, isOurs, format }: Found,
  backup: string | null,
  { dataDir, now }: Ground,
): Pick<InstallRecord, 'original' | 'madeDirectories'> {
  if (before.bytes === null) return { original: null, madeDirectories: missingDirectories(before.target) }
  if (record !== null && record.wrote === digest(before.bytes)) {
    return { original: record.original, madeDirectories: record.madeDirectories }
  }
  const without = FORMATS[format].remove(before.text, isOurs, before.file)
  if (without === before.text) return { original: backup, madeDirectories: [] }
  const bytes = Buffer.from(before.bom + without)
  return { original: saveCopy(dataDir, before.file, bytes, now), madeDirectories: [] }
}

function takeOut(found: readonly Found[], ground: Ground): Uninstalled {
  const plans = found.map((place) => ({ place, ...planRemoval(place) }))
  const changes = plans.map(
    ({ place, how, after }): Change => ({
      client: place.client,
      before: place.before,
      after,
      mode: MODES.user,
      keepsCopy: how === 'removed',
      old: place.record,
      record: null,
    }),
  )
  const backups = applyAll(changes, ground)
  const files = changes.map((change, index) => ({
    ...outcome(change, found[index], backups[index]),
    how: plans[index]?.how ?? 'nothing',
  }))
  return { changed: files.some(({ changed }) => changed), files }
}

function planRemoval({ before, record, isOurs, format }: Found): { how: How; after: Buffer | null } {
  if (before.bytes === null) return { how: 'nothing', after: null }
  if (record !== null && record.wrote === digest(before.bytes)) {
    if (record.original === null) return { how: 'file removed', after: null }
    const original = readCopy(record.original)
    if (original !== null) return { how: 'restored', after: original }
  }
  const { remove, isBare } = FORMATS[format]
  const text = remove(before.text, isOurs, before.file)
  if (text === before.text) return { how: 'nothing', after: before.bytes }
  if (record !== null && record.original === null && isBare(text)) return { how: 'file removed', after: null }
  return { how: 'removed', after: Buffer.from(before.bom + text) }
}

function outcome(change: Change, place: Found | undefined, backup: string | null | undefined): ChangedFile {
  return {
    file: change.before.file,
    what: place === undefined ? '' : FORMATS[place.format].what,
    changed: isChange(change),
    backup: backup ?? null,
    diff: diffOf(change),
  }
}

function isTaken(change: Change, place: Found | undefined): boolean {
  return place !== undefined && FORMATS[place.format].ours(textAfter(change), place.isOurs).length === 0
}

function textAfter({ before, after }: Change): string {
  return isChange({ before, after }) ? (after?.toString('utf8').slice(before.bom.length) ?? '{}') : before.text
}
