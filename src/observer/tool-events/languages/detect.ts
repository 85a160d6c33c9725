/** Which language a file is in, by its name; and the regions of files that have several languages. */
import { COMPILED_LANGUAGES } from './compiled-languages.ts'
import { CONFIG_LANGUAGES, css } from './config-languages.ts'
import type { EditSide, Language } from './language.ts'
import { javascript, SCRIPTING_LANGUAGES, typescript } from './scripting-languages.ts'

const LANGUAGES = [...SCRIPTING_LANGUAGES, ...COMPILED_LANGUAGES, ...CONFIG_LANGUAGES]
const BY_EXTENSION = new Map(
  LANGUAGES.flatMap((language) =>
    language.extensions.split(' ').map((extension): [string, Language] => [extension, language]),
  ),
)
const WITH_REGIONS = new Set(['vue', 'svelte', 'html', 'htm', 'astro'])
/** Files that tools write; their changes are consequences of other changes. */
const GENERATED =
  /(?:^|[.-])(?:lock|min)\.(?:json|ya?ml|js|css|mjs)$|^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|Cargo\.lock|poetry\.lock|uv\.lock|go\.sum|Gemfile\.lock|composer\.lock)$|\.(?:map|snap|lock)$/i

interface DetectedLanguage {
  name: string
  /** Null: the file has several languages, each in its regions. */
  language: Language | null
  generated: boolean
}

/** Null: the language is not known. */
export function detectLanguage(file: string): DetectedLanguage | null {
  const name = file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : null
  const generated = GENERATED.test(name)
  const language =
    LANGUAGES.find(({ fileNames }) => fileNames?.test(name)) ?? (extension ? BY_EXTENSION.get(extension) : undefined)
  if (language) return { name: language.name, language, generated }
  if (extension === null || !WITH_REGIONS.has(extension)) return null
  return { name: extension === 'htm' ? 'html' : extension, language: null, generated }
}

type Region = 'script' | 'style' | 'markup'

const OPENING_TAG = /^\s*<(script|style)\b([^>]*)>\s*$/i
const CLOSING_TAG = /<\/(?:script|style)>/i

interface RegionSides {
  language: Language
  old: EditSide
  new: EditSide
}

/** Each language is read as if the lines of the others were blank, so that line numbers stay the same. */
export function splitRegions(old: EditSide, now: EditSide, file: string): RegionSides[] {
  const isAstro = file.endsWith('.astro')
  const isTyped =
    isAstro || [...old.lines, ...now.lines].some((line) => OPENING_TAG.test(line) && /lang=["']tsx?["']/.test(line))
  const before = lineRegions(old, isAstro)
  const after = lineRegions(now, isAstro)
  const script = isTyped ? typescript : javascript
  return [
    { language: script, old: onlyRegion(old, before, 'script'), new: onlyRegion(now, after, 'script') },
    { language: css, old: onlyRegion(old, before, 'style'), new: onlyRegion(now, after, 'style') },
  ]
}

function lineRegions(side: EditSide, isAstro: boolean): Region[] {
  // A fragment without tags shows no region; it is more likely code than markup.
  if (!side.lines.some((line) => OPENING_TAG.test(line) || /^\s*<\w/.test(line))) return side.lines.map(() => 'script')
  let region: Region = 'markup'
  let inFrontmatter = false
  return side.lines.map((line) => {
    if (isAstro && /^---\s*$/.test(line)) {
      inFrontmatter = !inFrontmatter
      return 'markup'
    }
    if (inFrontmatter) return 'script'
    const tag = OPENING_TAG.exec(line)?.[1]
    if (tag !== undefined) {
      region = tag.toLowerCase() === 'style' ? 'style' : 'script'
      return 'markup'
    }
    if (CLOSING_TAG.test(line)) region = 'markup'
    return region
  })
}

function onlyRegion(side: EditSide, regions: Region[], region: Region): EditSide {
  return {
    lines: side.lines.map((line, i) => (regions[i] === region ? line : '')),
    change: side.change.map((change, i) => (regions[i] === region ? change : 0)),
    starts: side.starts,
  }
}
