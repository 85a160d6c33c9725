/** Which language a file is in, by its name. */
import { c, cpp } from './c.ts'
import {
  css,
  dockerfile,
  dotenv,
  gemfile,
  gomod,
  gradle,
  graphql,
  hcl,
  ini,
  json,
  makefile,
  markdown,
  prisma,
  properties,
  proto,
  requirements,
  toml,
  xml,
  yaml,
} from './config.ts'
import { csharp } from './csharp.ts'
import { go } from './go.ts'
import { java, kotlin } from './java.ts'
import type { Language } from './language.ts'
import { php } from './php.ts'
import { python } from './python.ts'
import { ruby } from './ruby.ts'
import { rust } from './rust.ts'
import { shell } from './shell.ts'
import { sql } from './sql.ts'
import { swift } from './swift.ts'
import { javascript, typescript } from './typescript.ts'

const BY_EXTENSION: [Language, string][] = [
  [typescript, 'ts tsx mts cts'],
  [javascript, 'js jsx mjs cjs'],
  [python, 'py pyi pyw'],
  [go, 'go'],
  [rust, 'rs'],
  [java, 'java'],
  [kotlin, 'kt kts'],
  [c, 'c'],
  [cpp, 'h hh hpp hxx cc cpp cxx ino m mm cu'],
  [ruby, 'rb rake ru gemspec'],
  [php, 'php phtml'],
  [csharp, 'cs'],
  [swift, 'swift'],
  [sql, 'sql ddl'],
  [shell, 'sh bash zsh ksh bats'],
  [yaml, 'yaml yml'],
  [json, 'json jsonc json5 webmanifest'],
  [toml, 'toml'],
  [ini, 'ini cfg conf editorconfig service'],
  [properties, 'properties'],
  [markdown, 'md mdx markdown'],
  [makefile, 'mk make'],
  [hcl, 'tf tfvars hcl'],
  [css, 'css scss sass less'],
  [gradle, 'gradle'],
  [xml, 'xml csproj fsproj props targets'],
  [prisma, 'prisma'],
  [proto, 'proto'],
  [graphql, 'graphql gql'],
  [dockerfile, 'dockerfile'],
]

const EXTENSIONS = new Map(
  BY_EXTENSION.flatMap(([language, names]) => names.split(' ').map((name): [string, Language] => [name, language])),
)

const BY_NAME: [RegExp, Language][] = [
  [/^(?:Dockerfile|Containerfile)(?:\.|$)/i, dockerfile],
  [/^(?:GNU)?makefile$/i, makefile],
  [/^\.env(?:\.|$)|\.env$|^\.envrc$/, dotenv],
  [/^build\.gradle\.kts$/, gradle],
  [/^requirements.*\.(?:txt|in)$|^constraints\.txt$/, requirements],
  [/^go\.mod$/, gomod],
  [/^Gemfile$/, gemfile],
  [/^(?:Rakefile|Vagrantfile|Podfile)$/, ruby],
  [/^\.(?:bashrc|zshrc|profile|bash_profile)$/, shell],
  [/^\.(?:prettierrc|eslintrc|babelrc|swcrc)$/, json],
  [/^\.(?:npmrc|editorconfig|gitconfig)$/, ini],
]

const REGIONS = new Set(['vue', 'svelte', 'html', 'htm', 'astro'])
/** Made by tools: what changed in them is a consequence. */
const GENERATED =
  /(?:^|[.-])(?:lock|min)\.(?:json|ya?ml|js|css|mjs)$|^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|Cargo\.lock|poetry\.lock|uv\.lock|go\.sum|Gemfile\.lock|composer\.lock)$|\.(?:map|snap|lock)$/i

export interface Detected {
  name: string
  /** Null: the file is made of several languages, each in its region. */
  language: Language | null
  generated: boolean
}

/** Null where the kind is not known. */
export function detect(file: string): Detected | null {
  const base = file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)
  const extension = base.slice(base.lastIndexOf('.') + 1).toLowerCase()
  const generated = GENERATED.test(base)
  const named = BY_NAME.find(([pattern]) => pattern.test(base))?.[1]
  const language = named ?? (base.includes('.') ? EXTENSIONS.get(extension) : undefined)
  if (language) return { name: language.name, language, generated }
  if (base.includes('.') && REGIONS.has(extension))
    return { name: extension === 'htm' ? 'html' : extension, language: null, generated }
  return null
}
