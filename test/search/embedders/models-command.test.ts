import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../../src/cli/cli.ts'
import { modelsCommand } from '../../../src/cli/commands/models.ts'
import { exitCodeFor, failureMessage, parse } from '../../../src/cli/parse.ts'
import { jsonLine } from '../../../src/cli/text.ts'
import { dataPaths } from '../../../src/lib/paths.ts'
import { type Bundle, bundle } from '../../store/bundle.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { Hub } from './hub.ts'
import { tinyModelFiles, writeTinyModel } from './tiny-model.ts'

const installed = (() => {
  try {
    return createRequire(import.meta.url).resolve('@huggingface/transformers') !== ''
  } catch {
    return false
  }
})()

const program = process.argv[1]
let worker: Bundle
let dataDir: string
const hubs: Hub[] = []

beforeAll(() => {
  worker = bundle('src/search/embedders/transformers-worker.ts', 'embedder-worker.js')
  // The worker lies beside the program that runs.
  process.argv[1] = join(dirname(worker.file), 'cli.js')
})
afterAll(() => {
  process.argv[1] = program ?? ''
  worker.dispose()
})
beforeEach(() => {
  dataDir = temporaryDirectory('models')
})
afterEach(async () => {
  delete process.env.HF_ENDPOINT
  for (const hub of hubs.splice(0)) await hub.close()
})

async function run(args: string[], env: NodeJS.ProcessEnv = {}) {
  let stdout = ''
  let stderr = ''
  const progress: string[] = []
  const cli: Cli = {
    ...createCli(import.meta.url),
    paths: dataPaths(dataDir),
    env,
    print: (...lines) => {
      stdout += `${lines.join('\n')}\n`
    },
    printJson: (value) => {
      stdout += `${jsonLine(value)}\n`
    },
    printStderr: (line) => {
      stderr += `${line}\n`
    },
    progress: (line) => void progress.push(line),
  }
  const code = await parse(['models', ...args], [modelsCommand], cli).catch((error: unknown) => {
    cli.printStderr(failureMessage(error, cli.env))
    return exitCodeFor(error)
  })
  return { code, stdout, stderr, progress }
}

const setting = () => JSON.parse(readFileSync(join(dataDir, 'settings.json'), 'utf8')).CLAUDE_MEM_EMBEDDER

async function hubWithModel(): Promise<void> {
  const hub = await Hub.serving('tiny/words', tinyModelFiles())
  hubs.push(hub)
  process.env.HF_ENDPOINT = hub.url.slice(0, -1)
}

describe('models list', () => {
  it('shows the embedder in use, downloaded and recommended models', async () => {
    const { code, stdout } = await run([])
    expect(code).toBe(0)
    expect(stdout).toContain('static is in use\n')
    expect(stdout).toContain('no models; static comes with the program')
    expect(stdout).toMatch(/Xenova\/all-MiniLM-L6-v2@q8 +384 +23 MB +English/)
  })

  it('lists models whose files are complete, with their size', async () => {
    writeTinyModel(join(dataDir, 'models', 'tiny', 'words'))
    mkdirSync(join(dataDir, 'models', 'half', 'fetched'), { recursive: true })
    writeFileSync(join(dataDir, 'models', 'half', 'fetched', 'config.json'), '{}')
    writeFileSync(join(dataDir, 'models', 'stray.txt'), '')
    const { stdout } = await run(['list', '--json'])
    const bytes = ['config.json', 'tokenizer.json', 'onnx/model.onnx'].reduce(
      (sum, file) => sum + (tinyModelFiles().get(file)?.length ?? 0),
      0,
    )
    expect(JSON.parse(stdout)).toMatchObject({
      inUse: 'static',
      from: 'default',
      canRunModels: installed,
      local: [{ name: 'tiny/words@fp32', bytes }],
    })
    expect((await run([])).stdout).toContain('tiny/words@fp32')
  })

  it.each([
    [
      'tiny/words',
      '! it is not downloaded; download it: claude-mem models pull tiny/words@fp32; static is used until then',
    ],
    ['/no/such/folder', /! there is no folder .*folder; static is used until then/],
    ['no model', '! "no model" names no model'],
    ['', '! "" names no model'],
  ])('warns if the embedder in use is %j', async (inUse, warning) => {
    writeFileSync(join(dataDir, 'settings.json'), JSON.stringify({ CLAUDE_MEM_EMBEDDER: inUse }))
    const { code, stdout } = await run([])
    if (typeof warning === 'string') expect(stdout).toContain(warning)
    else expect(stdout).toMatch(warning)
    expect(code).toBe(0)
  })

  it.each([
    [['fetch'], 'unknown action'],
    [['list', 'x'], 'takes no name'],
    [['pull'], 'models pull needs a name'],
    [['use', ' '], 'models use needs a name'],
    [['pull', 'static'], 'nothing to download'],
    [['pull', './folder'], 'claude-mem models use ./folder'],
    [['pull', 'a b'], 'names no model'],
    [['use', 'https://example.com/x'], 'names no model'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await run(args)
    expect(stderr).toContain(message)
    expect(code).not.toBe(0)
  })
})

describe.skipIf(!installed)('models pull and use (needs @huggingface/transformers)', () => {
  it('pull downloads a model with a progress bar, use makes it the embedder', async () => {
    await hubWithModel()
    const pulled = await run(['pull', 'tiny/words'])
    expect(pulled.stderr).toBe('')
    expect(pulled.stdout).toMatch(
      /^tiny\/words@fp32 is downloaded: .*, 4 dimensions\nTo use it: claude-mem models use tiny\/words@fp32/,
    )
    expect(pulled.progress.at(-2)).toMatch(/^tiny\/words@fp32 █{24} (\S+ K?B) of \1$/)
    expect(pulled.progress.at(-1)).toBe('')

    const used = await run(['use', 'tiny/words'])
    expect(used.stdout).toContain('tiny/words@fp32 is now the embedder')
    expect(used.stdout).toContain('embedded again in the background')
    expect(setting()).toBe('tiny/words@fp32')
    expect((await run([])).stdout).toMatch(/^tiny\/words@fp32 is in use \(from the file\)\n\n/)

    expect((await run(['use', 'static', '--json'])).stdout).toBe('{"name":"static","dimensions":100}\n')
    expect(setting()).toBe('static')
  })

  it('use downloads nothing and changes nothing if the model is not on this machine', async () => {
    await hubWithModel()
    const { code, stderr } = await run(['use', 'tiny/words'])
    expect(stderr).toContain(
      'tiny/words@fp32 is not on this machine. Download it: claude-mem models pull tiny/words@fp32',
    )
    expect(code).toBe(1)
    expect(hubs[0]?.asked).toEqual([])
    expect(setting).toThrow('ENOENT')
  })

  it('use accepts a folder, and reports that the environment overrides the setting', async () => {
    const folder = join(dataDir, 'mine')
    writeTinyModel(folder)
    const { stdout } = await run(['use', folder], { CLAUDE_MEM_EMBEDDER: 'static' })
    expect(stdout).toContain('The environment variable CLAUDE_MEM_EMBEDDER=static overrides this setting.')
    expect(setting()).toBe(`${folder}@fp32`)
  })

  it('pull reports that the hub cannot be reached', async () => {
    const hub = await Hub.listen((_, response) => void response.writeHead(503).end())
    hubs.push(hub)
    process.env.HF_ENDPOINT = hub.url
    const { code, stderr } = await run(['pull', 'tiny/words@q8'])
    expect(stderr).toContain(`${hub.url} cannot be reached: it answered 503`)
    expect(stderr).toContain('try again: claude-mem models pull tiny/words@q8')
    expect(code).toBe(1)
  })
})
