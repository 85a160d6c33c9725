import { existsSync } from 'node:fs'
import { messageOf } from '../../errors.ts'
import type { LocalModel } from '../../search/embedders/local-models.ts'
import type { TransformersEmbedder } from '../../search/embedders/transformers.ts'
import { loadSettings } from '../../settings.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { oneOf, UsageError } from '../failure.ts'
import { interruptible } from '../interruptible.ts'
import type { ModelsView } from '../render/models.ts'
import { clean } from '../text.ts'

const ACTIONS = ['list', 'pull', 'use'] as const
const SETTING = 'CLAUDE_MEM_EMBEDDER'
const STATIC = 'static'

export const models = command({
  usage: 'models [action] [name]',
  group: 'Keep it in shape',
  summary: 'What finds memories by meaning: list, pull and use models',
  about:
    'Memories are found by words and by meaning. For the meaning, word vectors come with the program (static): they need ' +
    'nothing and are always there. A model knows more, and other languages than English. pull fetches one into the data ' +
    'directory; nothing is ever fetched unasked. use tries it and makes it the one; all memories are embedded again in the ' +
    'background, and search goes on meanwhile. A name is OWNER/NAME as at huggingface.co, or a folder with an ONNX model; ' +
    '@q8 behind it takes the weights of that precision. HF_ENDPOINT names a mirror, HF_TOKEN opens what is not public.',
  examples: [
    ['claude-mem models', 'the one in use, what is there, what is worth a try'],
    ['claude-mem models pull Xenova/all-MiniLM-L6-v2@q8', 'fetch it (23 MB)'],
    ['claude-mem models use Xenova/all-MiniLM-L6-v2@q8', 'then use it'],
    ['claude-mem models use ./my-model', 'config.json, tokenizer.json and onnx/model.onnx of your own'],
    ['claude-mem models use static', 'back to the word vectors'],
  ],
  positionals: {
    action: { type: 'string', describe: 'list, pull or use', default: 'list' },
    name: { type: 'string', describe: 'A model; use: or static' },
  },
  options: { json: jsonOption },
  run: async ({ action, name, json }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    if (chosen === 'list') {
      if (name !== undefined)
        throw new UsageError('models list takes no name; to fetch one: claude-mem models pull NAME')
      return await list(cli, json === true)
    }
    if (name === undefined || name.trim() === '') {
      throw new UsageError(`models ${chosen} needs a name: claude-mem models lists some`)
    }
    return chosen === 'pull' ? await pull(cli, name, json === true) : await use(cli, name, json === true)
  },
})

async function list(cli: Cli, json: boolean): Promise<number> {
  const { canRunModels, localModels } = await import('../../search/embedders/local-models.ts')
  const { RECOMMENDED } = await import('../../search/embedders/recommended.ts')
  const { modelLines } = await import('../render/models.ts')
  const { values, sources } = loadSettings(cli.paths.dataDir, cli.env)
  const directory = cli.paths.models
  const inUse = values[SETTING]
  const local = localModels(directory)
  const view: ModelsView = {
    inUse,
    from: sources[SETTING],
    problem: inUse === STATIC ? null : await problemOf(inUse, local),
    canRunModels: canRunModels(),
    directory,
    local,
    recommended: RECOMMENDED,
  }
  if (json) cli.printJson(view)
  else cli.print(...modelLines(view, cli.look()))
  return 0
}

async function problemOf(inUse: string, local: readonly LocalModel[]): Promise<string | null> {
  const { givenName, modelNamed } = await import('../../search/embedders/model-name.ts')
  try {
    const model = modelNamed(inUse)
    if (model.at === 'folder') return existsSync(model.folder) ? null : `there is no folder ${model.folder}`
    const name = givenName(model)
    return local.some((there) => there.name === name)
      ? null
      : `it is not there; fetch it: claude-mem models pull ${name}`
  } catch (error) {
    return messageOf(error)
  }
}

async function pull(cli: Cli, given: string, json: boolean): Promise<number> {
  const { localModels } = await import('../../search/embedders/local-models.ts')
  const { givenName, modelNamed } = await import('../../search/embedders/model-name.ts')
  const { downloadLine } = await import('../render/models.ts')
  const { bytes } = await import('../times.ts')
  if (given === STATIC) throw new UsageError('static comes with the program: there is nothing to fetch')
  const model = modelNamed(given)
  const name = givenName(model)
  if (model.at === 'folder') throw new UsageError(`a folder needs not be fetched: claude-mem models use ${given}`)
  const directory = cli.paths.models
  let shown = ''
  const { dimensions } = await withEmbedder(cli, name, {
    allowRemote: true,
    onProgress: (progress) => {
      const line = downloadLine(name, progress, cli.look())
      if (line !== shown) cli.progress(line)
      shown = line
    },
  }).finally(() => cli.progress(''))
  const size = localModels(directory).find((local) => local.name === name)?.bytes ?? 0
  if (json) cli.printJson({ name, dimensions, bytes: size, directory })
  else {
    cli.print(
      `${clean(name)} is there: ${bytes(size)}, ${dimensions} dimensions`,
      `To use it: claude-mem models use ${clean(name)}`,
    )
  }
  return 0
}

async function use(cli: Cli, given: string, json: boolean): Promise<number> {
  const { setSetting } = await import('../settings-file.ts')
  const { name, dimensions } = given === STATIC ? await tryStatic() : await tryModel(cli, given)
  setSetting(cli.paths.dataDir, SETTING, name)
  if (json) cli.printJson({ name, dimensions })
  else cli.print(`${clean(name)} is now the embedder: it loads, and gives ${dimensions} dimensions`, ...whatNow(cli))
  return 0
}

async function tryStatic(): Promise<{ name: string; dimensions: number }> {
  const { staticEmbedder } = await import('../../search/embedders/static.ts')
  const { dimensions } = await staticEmbedder()
  return { name: STATIC, dimensions }
}

async function tryModel(cli: Cli, given: string): Promise<{ name: string; dimensions: number }> {
  const { givenName, modelNamed } = await import('../../search/embedders/model-name.ts')
  const name = givenName(modelNamed(given))
  const { dimensions } = await withEmbedder(cli, name, { allowRemote: false })
  return { name, dimensions }
}

/** Loading it embeds a first text: what comes back works. */
async function withEmbedder(
  cli: Cli,
  model: string,
  how: { allowRemote: boolean; onProgress?: (progress: { loadedBytes: number; totalBytes: number }) => void },
): Promise<{ dimensions: number }> {
  const { transformersEmbedder } = await import('../../search/embedders/transformers.ts')
  let embedder: TransformersEmbedder | null = null
  try {
    embedder = await interruptible((signal) =>
      transformersEmbedder({ model, cacheDir: cli.paths.models, signal, ...how }),
    )
    return { dimensions: embedder.dimensions }
  } finally {
    await embedder?.close()
  }
}

function whatNow(cli: Cli): string[] {
  const inEnvironment = cli.env[SETTING]
  if (inEnvironment !== undefined) return [`But the environment says ${SETTING}=${clean(inEnvironment)}, which wins.`]
  return [
    'A running daemon takes it up at its next start: claude-mem restart',
    'Memories are then embedded again in the background; claude-mem status shows how far it is.',
  ]
}
