/**
 * What is on a disk after the power was cut. Programs run under strace, which records how they change the files of one
 * directory; then the directory is rebuilt as it could be after a cut at any moment. Only what was synced is certain:
 * - the content of a file, as far as it was written before the last fsync of that file began;
 * - the entries of a directory (created, renamed, removed), as far as they were made before its own last fsync began.
 * Of the rest nothing survives, or some sectors of each file and the first entries of each directory, by chance.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { Random } from '../lib/random.ts'

const CALLS = [
  ...['open', 'openat', 'creat', 'write', 'pwrite64', 'ftruncate', 'fsync', 'fdatasync'],
  ...['rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'rmdir', 'mkdir', 'mkdirat'],
]
/** Would change files, too. No program uses them on these files today; a record with one of them is refused. */
const UNREAD_CALLS = [
  ...['writev', 'pwritev', 'pwritev2', 'truncate', 'fallocate', 'copy_file_range', 'sendfile', 'splice'],
  ...['link', 'linkat', 'symlink', 'symlinkat'],
]

/** More than the largest write of a recorded program, in bytes. */
const MAX_WRITE_BYTES = 4_000_000
/** What a disk writes as a whole, in bytes. */
const SECTOR_BYTES = 512
/** Mapped into memory, so its changes are not seen; SQLite makes it again. */
const IGNORED = /-shm$/

/** The command under which a program is recorded into the files `record*`. The program keeps its process id. */
export function recorder(record: string): [string, ...string[]] {
  const calls = [...CALLS, ...UNREAD_CALLS].join(',')
  const options = ['-ff', '-ttt', '-T', '-y', '-xx', '-s', String(MAX_WRITE_BYTES), '-e', 'signal=none', '-qqq']
  return ['strace', '-D', ...options, '--seccomp-bpf', '-e', `trace=${calls}`, '-o', record]
}

type FileChange = { at: number; offset: number; bytes: Buffer } | { at: number; length: number }
type EntryChange = { at: number; removed: string | null; added: [name: string, node: Node] | null }
type Node = DiskFile | DiskDirectory

/** Null: nothing that was not synced survives. */
type Chance = { random: Random; share: number } | null

class DiskFile {
  readonly #changes: FileChange[] = []
  length = 0
  syncedAt = Number.NEGATIVE_INFINITY

  write(at: number, offset: number, bytes: Buffer): void {
    this.#changes.push({ at, offset, bytes })
    this.length = Math.max(this.length, offset + bytes.length)
  }

  truncate(at: number, length: number): void {
    this.#changes.push({ at, length })
    this.length = length
  }

  contentAfter(chance: Chance): Buffer {
    const content = Buffer.alloc(Math.max(0, ...this.#changes.map(lengthAfter)))
    let length = 0
    for (const change of this.#changes) {
      const isSynced = change.at <= this.syncedAt
      if ('length' in change) {
        if (!isSynced && !survives(chance)) continue
        content.fill(0, change.length)
        length = change.length
        continue
      }
      for (const [from, to] of isSynced ? [wholeOf(change)] : sectorsOf(change)) {
        if (!isSynced && !survives(chance)) continue
        change.bytes.copy(content, from, from - change.offset, to - change.offset)
        length = Math.max(length, to)
      }
    }
    return content.subarray(0, length)
  }
}

class DiskDirectory {
  readonly #changes: EntryChange[] = []
  readonly entries = new Map<string, Node>()
  syncedAt = Number.NEGATIVE_INFINITY

  change(at: number, removed: string | null, added: EntryChange['added']): void {
    this.#changes.push({ at, removed, added })
    if (removed !== null) this.entries.delete(removed)
    if (added !== null) this.entries.set(...added)
  }

  /** A journal keeps the order of the entries of one directory. */
  entriesAfter(chance: Chance): Map<string, Node> {
    const entries = new Map<string, Node>()
    for (const { at, removed, added } of this.#changes) {
      if (at > this.syncedAt && !survives(chance)) break
      if (removed !== null) entries.delete(removed)
      if (added !== null) entries.set(...added)
    }
    return entries
  }

  writeTo(directory: string, chance: Chance): void {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const [name, node] of this.entriesAfter(chance)) {
      const path = join(directory, name)
      if (node instanceof DiskDirectory) node.writeTo(path, chance)
      else writeFileSync(path, node.contentAfter(chance), { mode: 0o600 })
    }
  }
}

function survives(chance: Chance): boolean {
  return chance?.random.chance(chance.share) ?? false
}

type Write = Extract<FileChange, { bytes: Buffer }>

const lengthAfter = (change: FileChange): number => ('length' in change ? change.length : wholeOf(change)[1])
const wholeOf = ({ offset, bytes }: Write): [from: number, to: number] => [offset, offset + bytes.length]

function* sectorsOf(change: Write): Generator<[from: number, to: number]> {
  const [offset, end] = wholeOf(change)
  for (let from = offset; from < end; ) {
    const to = Math.min(end, (Math.floor(from / SECTOR_BYTES) + 1) * SECTOR_BYTES)
    yield [from, to]
    from = to
  }
}

/** One call of a program. Times are of its begin and its end, in ms. */
interface Call {
  name: string
  args: string[]
  /** Of its descriptors, and of the paths it names, inside or outside of the directory. */
  descriptors: string[]
  paths: string[]
  /** What a write wrote. */
  bytes: Buffer
  /** Of the descriptor that a call opened. */
  opened: string | null
  began: number
  ended: number
}

export class RecordedDisk {
  readonly #root: string
  readonly #before: Snapshot
  readonly #calls: Call[]

  /** `before`: the directory as it was, durably, when the record began. */
  constructor(root: string, before: Snapshot, record: string) {
    this.#root = root
    this.#before = before
    this.#calls = filesOf(record)
      .flatMap((file) => readFileSync(file, 'latin1').split('\n').flatMap(readCall))
      .sort((a, b) => a.ended - b.ended)
  }

  get size(): number {
    return this.#calls.length
  }

  /** Writes the directory as it could be after a cut at a time. */
  cut(at: number, chance: Chance, target: string): void {
    const root = directoryOf(this.#before)
    for (const call of this.#calls) {
      if (call.ended > at) break
      this.#replay(root, call)
    }
    root.writeTo(target, chance)
  }

  #replay(root: DiskDirectory, call: Call): void {
    const { name, args, paths, ended } = call
    const path = call.descriptors[0] ?? null
    switch (name) {
      case 'open':
      case 'openat':
      case 'creat':
        this.#open(root, call)
        break
      case 'write':
      case 'pwrite64': {
        const file = this.#find(root, path)
        // Whole files and logs are written without an offset: from their end on.
        if (file instanceof DiskFile) file.write(ended, name === 'write' ? file.length : Number(args[3]), call.bytes)
        break
      }
      case 'ftruncate': {
        const file = this.#find(root, path)
        if (file instanceof DiskFile) file.truncate(ended, Number(args[1]))
        break
      }
      case 'fsync':
      case 'fdatasync': {
        const node = this.#find(root, path)
        if (node !== null) node.syncedAt = call.began
        break
      }
      case 'mkdir':
      case 'mkdirat':
        this.#link(root, ended, paths[0] ?? null, new DiskDirectory())
        break
      case 'unlink':
      case 'unlinkat':
      case 'rmdir':
        this.#unlink(root, ended, paths[0] ?? null)
        break
      case 'rename':
      case 'renameat':
      case 'renameat2':
        this.#rename(root, ended, paths)
        break
      default:
        if ([...call.descriptors, ...paths].some((one) => this.#isInside(one))) {
          throw new Error(`the record contains ${name}, which is not replayed: add it to ${basename(import.meta.url)}`)
        }
    }
  }

  #open(root: DiskDirectory, { name, args, opened, ended }: Call): void {
    const flags = name === 'creat' ? 'O_CREAT|O_TRUNC' : (args.find((arg) => arg.startsWith('O_')) ?? '')
    const file = this.#find(root, opened)
    if (file instanceof DiskFile && flags.includes('O_TRUNC') && file.length > 0) file.truncate(ended, 0)
    if (file === null && flags.includes('O_CREAT')) this.#link(root, ended, opened, new DiskFile())
  }

  #link(root: DiskDirectory, at: number, path: string | null, node: Node): void {
    const parent = this.#find(root, path === null ? null : dirname(path))
    if (path !== null && parent instanceof DiskDirectory) parent.change(at, null, [basename(path), node])
  }

  #unlink(root: DiskDirectory, at: number, path: string | null): void {
    const parent = this.#find(root, path === null ? null : dirname(path))
    if (path !== null && parent instanceof DiskDirectory) parent.change(at, basename(path), null)
  }

  #rename(root: DiskDirectory, at: number, [from, to]: string[]): void {
    const node = this.#find(root, from ?? null)
    if (from === undefined || to === undefined || node === null) return
    const [source, target] = [this.#find(root, dirname(from)), this.#find(root, dirname(to))]
    if (source === target && source instanceof DiskDirectory) {
      source.change(at, basename(from), [basename(to), node])
    } else {
      this.#unlink(root, at, from)
      this.#link(root, at, to, node)
    }
  }

  #isInside(path: string | null): boolean {
    return path !== null && (path === this.#root || path.startsWith(`${this.#root}/`)) && !IGNORED.test(path)
  }

  /** What a path names at the moment of the call; null if it is unknown, or outside. */
  #find(root: DiskDirectory, path: string | null): Node | null {
    if (path === null || !this.#isInside(path)) return null
    let node: Node = root
    for (const name of relative(this.#root, path).split('/')) {
      if (name === '') continue
      const next: Node | undefined = node instanceof DiskDirectory ? node.entries.get(name) : undefined
      if (next === undefined) return null
      node = next
    }
    return node
  }
}

/** Files and directories by name. */
export type Snapshot = Map<string, Snapshot | Buffer>

export function snapshotOf(directory: string): Snapshot {
  return new Map(
    readdirSync(directory).map((name): [string, Snapshot | Buffer] => {
      const path = join(directory, name)
      return [name, statSync(path).isDirectory() ? snapshotOf(path) : readFileSync(path)]
    }),
  )
}

/** All of it is durable. */
function directoryOf(snapshot: Snapshot): DiskDirectory {
  const directory = new DiskDirectory()
  for (const [name, content] of snapshot) {
    directory.change(0, null, [name, Buffer.isBuffer(content) ? fileOf(content) : directoryOf(content)])
  }
  directory.syncedAt = 0
  return directory
}

function fileOf(content: Buffer): DiskFile {
  const file = new DiskFile()
  file.write(0, 0, content)
  file.syncedAt = 0
  return file
}

/** strace writes a file for each thread. */
function filesOf(record: string): string[] {
  const directory = dirname(record)
  return readdirSync(directory)
    .filter((name) => name.startsWith(`${basename(record)}.`))
    .map((name) => join(directory, name))
}

const CALL = /^(\d+\.\d+) (\w+)\((.*)\) += (\d+)(?:<([^>]*)>)? <(\d+\.\d+)>$/

/** Empty for a call that failed or did not end. */
function readCall(line: string): Call[] {
  const [, time, name, text, result, opened, duration] = CALL.exec(line) ?? []
  if (time === undefined || name === undefined || text === undefined) return []
  if (text.includes('"...')) throw new Error(`a write of over ${MAX_WRITE_BYTES} bytes was not recorded as a whole`)
  const args = text.split(', ')
  const strings = args.filter((arg) => arg.startsWith('"')).map(bytesOf)
  const isWrite = name === 'write' || name === 'pwrite64'
  const began = Number(time) * 1000
  return [
    {
      name,
      args: isWrite ? args.with(1, '') : args,
      descriptors: args.flatMap((arg) => pathOf(/^\d+<([^>]*)>$/.exec(arg)?.[1])),
      paths: isWrite ? [] : strings.map(String),
      bytes: isWrite ? (strings[0] ?? Buffer.alloc(0)).subarray(0, Number(result)) : Buffer.alloc(0),
      opened: pathOf(opened)[0] ?? null,
      began,
      ended: began + Number(duration) * 1000,
    },
  ]
}

/** strace writes strings and paths as `\x2f\x74`. */
function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll(/"|\\x/g, ''), 'hex')
}

/** Empty for what is no file, or has been removed. */
function pathOf(text = ''): string[] {
  return /^(?:\\x[0-9a-f]{2})+$/.test(text) ? [bytesOf(text).toString()] : []
}
