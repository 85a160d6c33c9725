/** Adds our entries to a client's files, and removes them again so that the files are as before. */
import {
  applyChanges,
  type ChangeOptions,
  type ClientFileState,
  changesBytes,
  digest,
  type FileChange,
  type InstallRecord,
  maskedDiff,
  missingDirectories,
  readCopy,
  readRecord,
  saveCopy,
} from './change.ts'
import type {
  ClientFile,
  InstallAdapter,
  InstallTarget,
  ProgramPaths,
  Registration,
  RegistrationOptions,
} from './clients/adapter.ts'
import { fastHookCommand, isFastHookCommand, isOurCommand } from './command-line.ts'
import { ENTRY_FORMATS } from './entries.ts'
import { readSettingsFile, resolveLinkTarget } from './settings-file.ts'

export interface ChangedFile {
  file: string
  /** Which entries of ours it contains, for messages. */
  what: string
  changed: boolean
  /** Copy of the file before the change; null if there was no file or nothing was written. */
  backup: string | null
  diff: string[]
}

export interface InstallResult extends Pick<Registration, 'command' | 'events' | 'leftOut'> {
  changed: boolean
  files: (ChangedFile & {
    /** Another program has an entry under our name; it was left alone. */
    taken: boolean
  })[]
  notes: string[]
}

export interface UninstallResult {
  changed: boolean
  files: (ChangedFile & { how: RemovalKind })[]
}

/** `restored`: byte for byte as before; `removed`: only our entries were removed, the file has changed since. */
type RemovalKind = 'nothing' | 'restored' | 'removed' | 'file removed'

export function installClient(
  adapter: InstallAdapter,
  target: InstallTarget,
  program: ProgramPaths,
  registrationOptions: Omit<RegistrationOptions, 'registered'>,
  options: ChangeOptions,
): InstallResult {
  const registration = (registered: readonly string[]) =>
    withHookKind(adapter.registration(program, { ...registrationOptions, registered }), program)
  const { commands } = registration([])
  const found = adapter.files(target).map((file) => readClientFile(adapter.name, file, commands, options))
  const registered = found.flatMap(({ format, before, isOurs }) => ENTRY_FORMATS[format].ours(before.text, isOurs))
  const wanted = registration(registered)
  const changes = found.map((state): FileChange => {
    const { format, before, isOurs } = state
    const text = ENTRY_FORMATS[format].merge(before.text, wanted, isOurs, before.file)
    return installChange(state, text, target, commands, options)
  })
  const files = applyChanges(changes, options).map((change) => ({
    ...changedFile(change),
    taken: ENTRY_FORMATS[change.format].ours(textAfter(change), change.isOurs).length === 0,
  }))
  const { command, events, leftOut } = wanted
  const texts = changes.map((change) => ({ text: textAfter(change), changed: changesBytes(change) }))
  const notes = adapter.notes(target, texts, (line) => line === command)
  return { changed: files.some(({ changed }) => changed), command, events, leftOut, files, notes }
}

/** The command of the fast hook comes first: the other one is still recognised as ours. */
function withHookKind(registration: Registration, program: ProgramPaths): Registration {
  const { curl } = program
  if (curl === undefined) return registration
  const command = fastHookCommand(registration.command, program, curl)
  return { ...registration, command, commands: [command, ...registration.commands] }
}

/** `node`: the hook's own process. */
export type HookKind = 'fast' | 'node'

/** The hook that is registered now; null: none. */
export function registeredHookKind(
  adapter: InstallAdapter,
  target: InstallTarget,
  program: ProgramPaths,
  options: ChangeOptions,
): HookKind | null {
  const { commands } = adapter.registration(program, { version: null, fileContext: false, registered: [] })
  const found: string[] = []
  for (const file of adapter.files(target)) {
    const { format, before, isOurs } = readClientFile(adapter.name, file, commands, options)
    if (format === 'mcp-servers') continue
    ENTRY_FORMATS[format].ours(before.text, (command) => {
      if (!isOurs(command)) return false
      found.push(String(command))
      return true
    })
  }
  if (found.length === 0) return null
  return found.some(isFastHookCommand) ? 'fast' : 'node'
}

export function uninstallClient(
  adapter: InstallAdapter,
  target: InstallTarget,
  program: ProgramPaths,
  options: ChangeOptions,
): UninstallResult {
  const registrationOptions = { version: null, fileContext: false, registered: [] }
  const { commands } = adapter.registration(program, registrationOptions)
  return removeEntries(
    adapter.files(target).map((file) => readClientFile(adapter.name, file, commands, options)),
    options,
  )
}

/** Uninstalls by the records alone: the client may keep its files elsewhere by now. */
export function uninstallRecorded(records: readonly InstallRecord[], options: ChangeOptions): UninstallResult {
  return removeEntries(
    records.map(({ client, path, file, format }) =>
      readClientFile(client, { path: resolveLinkTarget(path) === file ? path : file, format }, [], options),
    ),
    options,
  )
}

function readClientFile(
  client: string,
  file: ClientFile,
  commands: readonly string[],
  { dataDir }: ChangeOptions,
): ClientFileState {
  const before = readSettingsFile(file.path, ENTRY_FORMATS[file.format].syntax)
  const record = readRecord(dataDir, client, before.target)
  const written = [...commands, ...(record?.commands ?? [])]
  return { ...file, client, before, record, isOurs: (command) => isOurCommand(command, written) }
}

/** A project's settings are shared with everyone who works on it; the user's settings may contain keys. */
const MODES = { user: 0o600, project: 0o644 } as const

function installChange(
  state: ClientFileState,
  text: string,
  { scope, root }: InstallTarget,
  commands: readonly string[],
  options: ChangeOptions,
): FileChange {
  const { before, record: old, format, client } = state
  const mode = MODES[scope]
  if (text === before.text) {
    return { ...state, after: before.bytes, mode, keepsCopy: false, newRecord: old === null ? null : () => old }
  }
  const after = Buffer.from(before.bom + text)
  const newRecord = (backup: string | null): InstallRecord => ({
    v: 2,
    client,
    scope,
    root: scope === 'project' ? root : null,
    path: before.file,
    file: before.target,
    format,
    ...undoFields(state, backup, options),
    wrote: digest(after),
    commands: [...commands, ...(old?.commands ?? [])],
    at: options.now.toISOString(),
  })
  return { ...state, after, mode, keepsCopy: true, newRecord }
}

/** What uninstall will restore. A file that we wrote ourselves keeps the original of its first installation. */
function undoFields(
  { before, record, isOurs, format }: ClientFileState,
  backup: string | null,
  { dataDir, now }: ChangeOptions,
): Pick<InstallRecord, 'original' | 'madeDirectories'> {
  if (before.bytes === null) return { original: null, madeDirectories: missingDirectories(before.target) }
  if (record !== null && record.wrote === digest(before.bytes)) {
    return { original: record.original, madeDirectories: record.madeDirectories }
  }
  const withoutOurs = ENTRY_FORMATS[format].remove(before.text, isOurs, before.file)
  if (withoutOurs === before.text) return { original: backup, madeDirectories: [] }
  const bytes = Buffer.from(before.bom + withoutOurs)
  return { original: saveCopy(dataDir, before.file, bytes, now), madeDirectories: [] }
}

function removeEntries(found: readonly ClientFileState[], options: ChangeOptions): UninstallResult {
  const changes = found.map((state) => {
    const { how, after } = planRemoval(state)
    return { ...state, how, after, mode: MODES.user, keepsCopy: how === 'removed', newRecord: null }
  })
  const files = applyChanges(changes, options).map((change) => ({ ...changedFile(change), how: change.how }))
  return { changed: files.some(({ changed }) => changed), files }
}

function planRemoval({ before, record, isOurs, format }: ClientFileState): { how: RemovalKind; after: Buffer | null } {
  if (before.bytes === null) return { how: 'nothing', after: null }
  if (record !== null && record.wrote === digest(before.bytes)) {
    if (record.original === null) return { how: 'file removed', after: null }
    const original = readCopy(record.original)
    if (original !== null) return { how: 'restored', after: original }
  }
  const text = ENTRY_FORMATS[format].remove(before.text, isOurs, before.file)
  if (text === before.text) return { how: 'nothing', after: before.bytes }
  const isBare = ENTRY_FORMATS[format].isBare(text)
  // A file of ours alone is removed even where its record is lost.
  if (isBare && (format === 'own-file' || record?.original === null)) return { how: 'file removed', after: null }
  return { how: 'removed', after: Buffer.from(before.bom + text) }
}

function changedFile(change: FileChange & { backup: string | null }): ChangedFile {
  return {
    file: change.before.file,
    what: ENTRY_FORMATS[change.format].what,
    changed: changesBytes(change),
    backup: change.backup,
    diff: maskedDiff(change),
  }
}

function textAfter(change: FileChange): string {
  const { before, after } = change
  const removed = ENTRY_FORMATS[change.format].syntax.startsWith('json') ? '{}' : ''
  return changesBytes(change) ? (after?.toString('utf8').slice(before.bom.length) ?? removed) : before.text
}
