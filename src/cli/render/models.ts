/** `claude-mem models` for people. */
import type { LocalModel } from '../../search/embedders/local-models.ts'
import type { RecommendedModel } from '../../search/embedders/recommended.ts'
import type { DownloadProgress } from '../../search/embedders/transformers.ts'
import type { LoadedSettings } from '../../settings.ts'
import { bar } from '../bar.ts'
import type { Look } from '../style.ts'
import { table } from '../table.ts'
import { clean, cut, padEnd } from '../text.ts'
import { bytes } from '../times.ts'

export interface ModelsView {
  inUse: string
  from: LoadedSettings['sources'][keyof LoadedSettings['sources']]
  /** Why it cannot be used, as far as can be seen without loading it. */
  problem: string | null
  /** The optional dependency is there. */
  canRunModels: boolean
  directory: string
  local: LocalModel[]
  recommended: readonly RecommendedModel[]
}

export function modelLines(view: ModelsView, look: Look): string[] {
  const { style } = look
  return [
    `${style.bold(clean(view.inUse))} is in use${view.from === 'default' ? '' : ` (from the ${view.from})`}`,
    ...(view.problem === null ? [] : [style.yellow(`! ${clean(view.problem)}; static is used meanwhile`)]),
    ...(view.canRunModels
      ? []
      : [
          style.yellow(
            '! models need @huggingface/transformers, which is not installed: npm install -g claude-mem --include=optional',
          ),
        ]),
    '',
    style.bold(`There, in ${clean(view.directory)}`),
    ...(view.local.length === 0 ? ['  no models; static comes with the program'] : localTable(view, look)),
    '',
    style.bold('Worth a try'),
    ...recommendedTable(view, look),
    '',
    style.dim('claude-mem models pull NAME fetches one, claude-mem models use NAME uses it'),
  ]
}

function localTable(view: ModelsView, look: Look): string[] {
  const rows = view.local.map((local) => [
    clean(local.name),
    bytes(local.bytes),
    local.name === view.inUse ? 'in use' : '',
  ])
  return table([{ title: 'name', narrow: 'cut' }, { title: 'size', align: 'right' }, { title: '' }], rows, look)
}

function recommendedTable(view: ModelsView, look: Look): string[] {
  const rows = view.recommended.map(({ name, dimensions, megabytes, languages, about }) => [
    name,
    String(dimensions),
    `${megabytes} MB`,
    languages,
    about,
  ])
  return table(
    [
      { title: 'name' },
      { title: 'dimensions', align: 'right' },
      { title: 'size', align: 'right' },
      { title: 'languages' },
      { title: 'about', narrow: 'wrap' },
    ],
    rows,
    look,
  )
}

const BAR_COLUMNS = 24

export function downloadLine(name: string, { loadedBytes, totalBytes }: DownloadProgress, look: Look): string {
  const done = padEnd(bar(loadedBytes, totalBytes, BAR_COLUMNS), BAR_COLUMNS)
  const line = `${clean(name)} ${done} ${bytes(loadedBytes)} of ${bytes(totalBytes)}`
  return look.columns === null ? line : cut(line, look.columns - 1)
}
