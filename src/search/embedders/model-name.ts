/** What people call a model: `owner/name` at the hub or a folder of theirs, with the precision of its weights behind an @. */
import { homedir } from 'node:os'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { MemError } from '../../errors.ts'

/** What stands behind `onnx/model` in the name of the file with the weights. */
export const WEIGHTS = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
} as const

export type Precision = keyof typeof WEIGHTS

export type ModelName =
  | { at: 'hub'; id: string; precision: Precision }
  | { at: 'folder'; folder: string; precision: Precision }

/** Every model has these weights. */
const DEFAULT_PRECISION: Precision = 'fp32'
/** As the hub names repositories. */
const HUB_ID = /^(?:[\w-][\w.-]*\/)?[\w-][\w.-]{0,95}$/
const LOOKS_LIKE_A_PATH = /^[.~]|^[/\\]|\\/

export function modelNamed(given: string): ModelName {
  const { name, precision } = split(given.trim())
  if (LOOKS_LIKE_A_PATH.test(name) || isAbsolute(name)) {
    const folder = /^~[/\\]/.test(name) ? join(homedir(), name.slice(2)) : resolve(name)
    return { at: 'folder', folder, precision }
  }
  if (HUB_ID.test(name) && !/\.\.|--|\.git$|\.$/.test(name)) return { at: 'hub', id: name, precision }
  throw new MemError(
    'bad_request',
    `"${given}" names no model: it is OWNER/NAME as at the hub or a folder, with @${Object.keys(WEIGHTS).join(', @')} behind it where the weights are not fp32.`,
  )
}

/** Only a known precision is one: folders may have an @ in their names. */
function split(given: string): { name: string; precision: Precision } {
  const at = given.lastIndexOf('@')
  const behind = given.slice(at + 1)
  if (at > 0 && isPrecision(behind)) return { name: given.slice(0, at), precision: behind }
  return { name: given, precision: DEFAULT_PRECISION }
}

export function isPrecision(word: string): word is Precision {
  return Object.hasOwn(WEIGHTS, word)
}

/** As it is given to `models pull`. */
export function givenName(model: ModelName): string {
  return `${model.at === 'hub' ? model.id : model.folder}@${model.precision}`
}

/** For people and for the name of an embedder: a folder by its last part. */
export function shortName(model: ModelName): string {
  return `${model.at === 'hub' ? model.id : basename(model.folder)}@${model.precision}`
}

export function folderOf(model: ModelName, cacheDir: string): string {
  return model.at === 'hub' ? join(cacheDir, ...model.id.split('/')) : model.folder
}

export function weightsFile({ precision }: ModelName): string {
  return join('onnx', `model${WEIGHTS[precision]}.onnx`)
}
