/** Embedders and their models: the interface, names of models, recommended models, and models on this machine. */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { MemError, systemCode } from '../../lib/errors.ts'
import { resolvePackage } from '../../lib/packages.ts'

/** Turns texts into vectors. Vectors of different embedders are never compared. */
export interface Embedder {
  /** Identifies everything that changes its vectors: `static-1`, `Xenova/all-MiniLM-L6-v2@fp32`. */
  readonly name: string
  readonly dimensions: number
  /** Unit vectors in the order of the texts; null for a text without any known word. */
  embed(texts: readonly string[]): Promise<(Float32Array | null)[]>
  /** Only of embedders with a thread. */
  close?(): Promise<void>
}

/** The suffix of `onnx/model` in the name of the file with the weights, by precision. */
const WEIGHTS_SUFFIX = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
} as const

type Precision = keyof typeof WEIGHTS_SUFFIX

/**
 * `owner/name` at the hub or a folder, with the precision of the weights after an @. At the hub also the revision after a #,
 * as a commit: a branch or a tag could be moved to other files.
 */
export type ModelName =
  | { at: 'hub'; id: string; precision: Precision; revision: string | null }
  | { at: 'folder'; folder: string; precision: Precision }

/** Weights that every model has. */
const DEFAULT_PRECISION: Precision = 'fp32'
/** The hub's rule for names of repositories. */
const HUB_ID = /^(?:[\w-][\w.-]*\/)?[\w-][\w.-]{0,95}$/
const LOOKS_LIKE_A_PATH = /^[.~]|^[/\\]|\\/

/** A commit at the hub. */
const REVISION = /^[0-9a-f]{40}$/

export function parseModelName(given: string): ModelName {
  const trimmed = given.trim()
  if (LOOKS_LIKE_A_PATH.test(trimmed) || isAbsolute(trimmed)) {
    const { name, precision } = splitPrecision(trimmed)
    const folder = /^~[/\\]/.test(name) ? join(homedir(), name.slice(2)) : resolve(name)
    return { at: 'folder', folder, precision }
  }
  const [nameAndPrecision = '', revision = null, ...rest] = trimmed.split('#')
  const { name, precision } = splitPrecision(nameAndPrecision)
  if (rest.length > 0 || (revision !== null && !REVISION.test(revision))) {
    throw new MemError('bad_request', `"${given}": a revision after # is a commit of the hub, 40 hexadecimal digits`)
  }
  if (HUB_ID.test(name) && !/\.\.|--|\.git$|\.$/.test(name)) return { at: 'hub', id: name, precision, revision }
  throw new MemError(
    'bad_request',
    `"${given}" names no model: give OWNER/NAME as at the hub, or a folder; for other weights than fp32 add @${Object.keys(WEIGHTS_SUFFIX).join(', @')}.`,
  )
}

/** Folders may have an @ in their names, so only a known precision is split off. */
function splitPrecision(given: string): { name: string; precision: Precision } {
  const at = given.lastIndexOf('@')
  const suffix = given.slice(at + 1)
  if (at > 0 && isPrecision(suffix)) return { name: given.slice(0, at), precision: suffix }
  return { name: given, precision: DEFAULT_PRECISION }
}

function isPrecision(word: string): word is Precision {
  return Object.hasOwn(WEIGHTS_SUFFIX, word)
}

/** As in `models pull`. */
export function fullModelName(model: ModelName): string {
  return `${model.at === 'hub' ? model.id : model.folder}@${model.precision}${revisionSuffix(model)}`
}

/** For people and for the name of an embedder: a folder is named by the last part of its path. */
export function shortModelName(model: ModelName): string {
  return `${model.at === 'hub' ? model.id : basename(model.folder)}@${model.precision}${revisionSuffix(model)}`
}

function revisionSuffix(model: ModelName): string {
  return model.at === 'hub' && model.revision !== null ? `#${model.revision}` : ''
}

/** Where models of a revision are stored: each has a folder of its own, so that no file of another one is used. */
export function revisionFolder(cacheDir: string, { revision }: { revision: string | null }): string {
  return revision === null ? cacheDir : join(cacheDir, revision)
}

export function modelFolder(model: ModelName, cacheDir: string): string {
  return model.at === 'hub' ? join(revisionFolder(cacheDir, model), ...model.id.split('/')) : model.folder
}

export function weightsFile({ precision }: Pick<ModelName, 'precision'>): string {
  return join('onnx', `model${WEIGHTS_SUFFIX[precision]}.onnx`)
}

/**
 * These models need no prefix before a text and were trained for mean pooling, as `transformers-worker.ts` uses it.
 * `megabytes`: size of the weights, as the hub lists it.
 */
export const RECOMMENDED_MODELS = [
  {
    name: 'Xenova/all-MiniLM-L6-v2@q8',
    dimensions: 384,
    megabytes: 23,
    languages: 'English',
    about: 'small and fast; a good first choice',
  },
  {
    name: 'Xenova/paraphrase-multilingual-MiniLM-L12-v2@q8',
    dimensions: 384,
    megabytes: 118,
    languages: 'about 50',
    about: 'for memories in other languages, including Chinese and Japanese',
  },
  {
    name: 'jinaai/jina-embeddings-v2-base-code@q8',
    dimensions: 768,
    megabytes: 162,
    languages: 'English and code',
    about: 'trained on code and questions about code; the slowest of these',
  },
]

export interface LocalModel {
  /** As in `models use`. */
  name: string
  bytes: number
}

/** Downloaded models (`models/owner/name/…`, `models/REVISION/owner/name/…`), one entry per precision whose files are complete. */
export function localModels(directory: string): LocalModel[] {
  const revisions = directoryNames(directory).filter((name) => REVISION.test(name))
  return [null, ...revisions].flatMap((revision) => {
    const folder = revisionFolder(directory, { revision })
    return directoryNames(folder).flatMap((first) => [
      ...modelsOf(folder, first, revision),
      ...directoryNames(join(folder, first)).flatMap((second) => modelsOf(folder, `${first}/${second}`, revision)),
    ])
  })
}

function modelsOf(directory: string, id: string, revision: string | null): LocalModel[] {
  const folder = join(directory, ...id.split('/'))
  const config = fileSize(join(folder, 'config.json'))
  const tokenizer = fileSize(join(folder, 'tokenizer.json'))
  if (config === null || tokenizer === null) return []
  return Object.keys(WEIGHTS_SUFFIX)
    .filter(isPrecision)
    .flatMap((precision) => {
      const weights = fileSize(join(folder, weightsFile({ precision })))
      const name = fullModelName({ at: 'hub', id, precision, revision })
      return weights === null ? [] : [{ name, bytes: config + tokenizer + weights }]
    })
}

function directoryNames(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    // It does not exist or is not a directory.
    return []
  }
}

function fileSize(file: string): number | null {
  try {
    return statSync(file).size
  } catch {
    // It does not exist.
    return null
  }
}

/** Whether the package that runs models is installed. */
export function canRunModels(): boolean {
  return resolvePackage('@huggingface/transformers') !== null
}

/** The library downloads to `NAME.tmp.PID.RANDOM` and renames the file when it is complete. */
const PARTIAL_DOWNLOAD = /\.tmp\.(\d+)\.-?\w+$/

/** Removes partial downloads of this process and of ended ones. Another process may be downloading the same model. */
export function removePartialDownloads(folder: string): void {
  for (const file of filesIn(folder)) {
    const pid = PARTIAL_DOWNLOAD.exec(file)?.[1]
    if (pid !== undefined && !isOtherRunningProcess(Number(pid))) rmSync(join(folder, file), { force: true })
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

function isOtherRunningProcess(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}
