/** Models that were fetched and lie in the data directory as `models/owner/name/…`. */
import { readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Precision, WEIGHTS } from './model-name.ts'

export interface LocalModel {
  /** As it is given to `models use`. */
  name: string
  bytes: number
}

/** One for each precision of each model whose files are all there. */
export function localModels(directory: string): LocalModel[] {
  return namesIn(directory).flatMap((first) => [
    ...modelsOf(directory, first),
    ...namesIn(join(directory, first)).flatMap((second) => modelsOf(directory, `${first}/${second}`)),
  ])
}

function modelsOf(directory: string, id: string): LocalModel[] {
  const folder = join(directory, ...id.split('/'))
  const config = sizeOf(join(folder, 'config.json'))
  const tokenizer = sizeOf(join(folder, 'tokenizer.json'))
  if (config === null || tokenizer === null) return []
  return PRECISIONS.flatMap((precision) => {
    const weights = sizeOf(join(folder, 'onnx', `model${WEIGHTS[precision]}.onnx`))
    return weights === null ? [] : [{ name: `${id}@${precision}`, bytes: config + tokenizer + weights }]
  })
}

const PRECISIONS: readonly Precision[] = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4']

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    // Not there, or no directory: no models in it.
    return []
  }
}

function sizeOf(file: string): number | null {
  try {
    return statSync(file).size
  } catch {
    // Not there, or below something that is no directory.
    return null
  }
}

/** The optional dependency that runs models. */
export function canRunModels(): boolean {
  try {
    createRequire(import.meta.url).resolve('@huggingface/transformers')
    return true
  } catch {
    return false
  }
}
