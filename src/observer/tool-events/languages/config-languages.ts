/** Configuration files, markup, schemas and SQL: mostly names and values, with the dotted path to each. */
import { indentation, MAX_CODE_LINE_CHARS, unquote } from './code-text.ts'
import { type EditSide, HASH_COMMENT, type Language, type NamedValue, part } from './language.ts'

const MAX_ENTRIES = 400

/** The keys around the current line. A list item adds no name. */
class KeyPath {
  private keys: { indent: number; name: string }[] = []

  /** Leaves the keys at this indentation and deeper ones. */
  leave(indent: number): void {
    while ((this.keys.at(-1)?.indent ?? -1) >= indent) this.keys.pop()
  }

  enter(indent: number, name: string): void {
    this.keys.push({ indent, name })
  }

  clear(): void {
    this.keys = []
  }

  join(name: string): string {
    return [...this.keys.map((key) => key.name), name].filter((key) => key !== '').join('.')
  }
}

type AddEntry = (name: string, value: string) => void

/** Reads every line, for the path, and keeps the entries of changed lines. */
function readEntries(
  side: EditSide,
  readLine: (text: string, indent: number, add: AddEntry, path: KeyPath) => void,
): NamedValue[] {
  const entries: NamedValue[] = []
  const path = new KeyPath()
  for (let i = 0; i < side.lines.length && entries.length < MAX_ENTRIES; i++) {
    if (side.starts.has(i)) path.clear()
    const line = side.lines[i] ?? ''
    const indent = indentation(line)
    if (indent < 0 || line.length >= MAX_CODE_LINE_CHARS) continue
    const changed = (side.change[i] ?? 0) > 0
    readLine(line.trim(), indent, (name, value) => changed && name !== '' && entries.push({ name, value }), path)
  }
  return entries
}

/** A list may be at the column of its key, and the key must stay in the path during the list. */
const LIST_INDENT = 0.5
const YAML_KEY =
  /^(?:"([^"]{1,100})"|'([^']{1,100})'|([^\s:#'"{}[\],&*!|>%@`-][^:#]{0,99}?|-[^\s:][^:#]{0,99}?))\s*:(?:\s+(.*))?$/

function yamlEntries(side: EditSide): NamedValue[] {
  let block = -1
  return readEntries(side, (text, column, add, path) => {
    if (block >= 0 && column > block) return
    block = -1
    if (text.startsWith('#') || text.startsWith('---')) return
    let rest = text
    let indent = column
    let item = false
    while (rest.startsWith('- ')) {
      item = true
      path.leave(indent + (indent === column ? 0 : 1))
      const body = rest.slice(2).trimStart()
      indent += rest.length - body.length
      rest = body
    }
    if (!item) path.leave(indent - LIST_INDENT)
    const match = YAML_KEY.exec(rest)
    if (!match) {
      if (item) add(path.join(''), withoutComment(rest))
      return
    }
    const key = match[1] ?? match[2] ?? match[3] ?? ''
    const value = withoutComment(match[4] ?? '')
    if (/^[|>][+-]?\d?$/.test(value)) block = indent
    else if (value === '' || /^[&!]\S+$/.test(value)) path.enter(indent - LIST_INDENT, key)
    else add(path.join(key), value)
  })
}

function withoutComment(value: string): string {
  return value.replace(/\s#.*$/, '').trim()
}

const JSON_KEY = /^"((?:[^"\\]|\\.){1,200})"\s*:\s*(.*?),?$/

function jsonEntries(side: EditSide): NamedValue[] {
  return readEntries(side, (text, indent, add, path) => {
    path.leave(indent)
    const match = JSON_KEY.exec(text)
    if (!match) {
      const scalar = /^("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null),?$/.exec(text)
      if (scalar) add(path.join(''), scalar[1] ?? '')
      else if (/^[{[]/.test(text) && indent > 0) path.enter(indent, '')
      return
    }
    const [, key = '', value = ''] = match
    if (/[{[]$/.test(value)) path.enter(indent, key)
    else add(path.join(key), value)
  })
}

const INI_KEY = /^((?:"[^"]+"|'[^']+'|[\w$][\w$.@/ -]*?))\s*(?:=|:(?!:))\s*(.*)$/

/** TOML, INI and properties. */
function sectionEntries(side: EditSide): NamedValue[] {
  let list: string | null = null
  return readEntries(side, (text, _, add, path) => {
    if (/^[#;!]/.test(text)) return
    if (list !== null) {
      if (/^\]/.test(text)) list = null
      else if (/^["'\d{]/.test(text)) add(path.join(list), withoutComment(text).replace(/,$/, ''))
      return
    }
    const section = /^\[\[?\s*([^\]]{1,120})\s*\]\]?/.exec(text)?.[1]
    if (section !== undefined) {
      path.clear()
      path.enter(0, section.replace(/["']/g, '').trim())
      return
    }
    const match = INI_KEY.exec(text)
    if (!match) return
    const key = unquote((match[1] ?? '').trim())
    const value = withoutComment(match[2] ?? '')
    if (/^\[\s*$/.test(value)) list = key
    else add(path.join(key), value)
  })
}

/** Lines without a path: each pattern has the groups `name` and `value`. */
function lineEntries(...patterns: RegExp[]): (side: EditSide) => NamedValue[] {
  return (side) =>
    readEntries(side, (text, _, add) => {
      for (const pattern of patterns) {
        const { name, value } = pattern.exec(text)?.groups ?? {}
        if (name) return add(name, value?.trim() ?? '')
      }
    })
}

/** HCL: blocks with labels, and assignments in them. */
function blockEntries(side: EditSide): NamedValue[] {
  return readEntries(side, (text, indent, add, path) => {
    if (/^(?:#|\/\/)/.test(text)) return
    path.leave(indent)
    const block = /^(\w+)((?:\s+"[^"]*")*)\s*(?:=\s*)?\{$/.exec(text)
    if (block) {
      const labels = [...(block[2] ?? '').matchAll(/"([^"]*)"/g)].map(([, label]) => label)
      return path.enter(indent, (labels.length > 1 ? labels : [block[1], ...labels]).join('.'))
    }
    const match = /^"?([\w.-]+)"?\s*=\s*(.+?),?$/.exec(text)
    if (match) add(path.join(match[1] ?? ''), match[2] ?? '')
  })
}

const NOT_A_COLUMN =
  /^(?:CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|CHECK|INDEX|KEY|EXCLUDE|SELECT|FROM|WHERE|AND|OR|ON|SET|VALUES|CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|ADD|JOIN|LEFT|INNER|ORDER|GROUP|LIMIT|BEGIN|END|RETURN|RETURNS|LANGUAGE|IF|ELSE|DECLARE|WITH|UNION|COMMENT|REFERENCES|GRANT|REVOKE|AS|CASE|WHEN|THEN|RENAME|MODIFY|CHANGE)\b/i
const TABLE =
  /^(?:CREATE|ALTER)\s+(?:\w+\s+)?TABLE\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:ONLY\s+)?[`"[]?(?:\w+[`"\]]?\.[`"[]?)?(\w+)/i

/** Columns: `orders.total` is `numeric not null`. */
function columnEntries(side: EditSide): NamedValue[] {
  let table: string | null = null
  return readEntries(side, (text, _, add) => {
    if (text.startsWith('--')) return
    const head = TABLE.exec(text)
    if (head) table = head[1] ?? null
    if (table !== null) {
      const added = /\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?[`"[]?(\w+)[`"\]]?\s+(\w[^;]*?)[,;]?$/i.exec(text)
      const column =
        head || NOT_A_COLUMN.test(text) ? null : /^[`"[]?(\w+)[`"\]]?\s+([A-Za-z]\w*.*?),?(?:\s*--.*)?$/.exec(text)
      if (added && !NOT_A_COLUMN.test(added[1] ?? '')) add(`${table}.${added[1]}`, added[2] ?? '')
      else if (column && !added) add(`${table}.${column[1]}`, (column[2] ?? '').replace(/\)?;$/, ''))
    }
    if (text.endsWith(';')) table = null
  })
}

const NEVER = /^\b$/

/** A language without parts, unless `more` has declarations. */
function config(name: string, extensions: string, more: Partial<Language>): Language {
  return { name, extensions, nesting: 'flat', comment: HASH_COMMENT, hint: NEVER, declarations: [], ...more }
}

export const css = config('css', 'css scss sass less', {
  nesting: 'braces',
  comment: /^(?:\/\*|\*|\/\/)/,
  hint: /^@(?:keyframes|mixin|function|layer)\b/,
  declarations: [part('function', /^@(?:keyframes|mixin|function|layer)\s+(?<name>[\w-]+)/)],
  identifier: /^[\w-]+$/,
  imports: [/^@(?:import|use|forward)\s+(?:url\()?['"]([^'"]+)['"]/],
  entries: lineEntries(
    /^(?<name>--[\w-]+)\s*:\s*(?<value>[^;]{1,80});?/,
    /^(?<name>[$@][\w-]+)\s*:\s*(?<value>[^;]{1,80});?/,
  ),
})

const SQL_NAME = String.raw`[\x60"[]?(?:\w+[\x60"\]]?\.[\x60"[]?)?(?<name>[A-Za-z_]\w*)`
/** NAME is an SQL name, a blank any white space. */
const sqlPattern = (source: string) =>
  new RegExp(`^${source.replaceAll(' ', String.raw`\s+`).replace('NAME', SQL_NAME)}`, 'i')

const GRAPHQL_TYPE = String.raw`^(?:extend\s+)?(?:type|input|interface|enum|union|scalar|query|mutation|fragment)`

export const CONFIG_LANGUAGES: Language[] = [
  css,
  config('yaml', 'yaml yml', { entries: yamlEntries }),
  config('json', 'json jsonc json5 webmanifest', {
    fileNames: /^\.(?:prettierrc|eslintrc|babelrc|swcrc)$/,
    comment: /^\/\//,
    entries: jsonEntries,
  }),
  config('toml', 'toml', { entries: sectionEntries }),
  config('ini', 'ini cfg conf editorconfig service', {
    fileNames: /^\.(?:npmrc|editorconfig|gitconfig)$/,
    comment: /^[#;]/,
    entries: sectionEntries,
  }),
  config('properties', 'properties', { comment: /^[#!]/, entries: sectionEntries }),
  config('dockerfile', 'dockerfile', {
    fileNames: /^(?:Dockerfile|Containerfile)(?:\.|$)/i,
    hint: /^FROM\b/i,
    declarations: [part('type', /^FROM\s+\S+\s+AS\s+(?<name>[\w.-]+)/i)],
    identifier: /^[\w.-]+$/,
    entries: lineEntries(
      /^(?<name>(?:ENV|ARG)\s+\w+)(?:[= ](?<value>.*))?$/i,
      /^(?<name>FROM|EXPOSE|WORKDIR|USER|CMD|ENTRYPOINT|HEALTHCHECK)\s+(?<value>.+)$/i,
      /^(?<name>RUN)\s+(?<value>.{1,80})$/i,
    ),
  }),
  config('dotenv', '', {
    fileNames: /^\.env(?:\.|$)|\.env$|^\.envrc$/,
    entries: lineEntries(/^(?:export\s+)?(?<name>[A-Za-z_]\w*)\s*=(?<value>.*)$/),
    secret: true,
  }),
  config('requirements', '', {
    fileNames: /^requirements.*\.(?:txt|in)$|^constraints\.txt$/,
    entries: lineEntries(/^(?<name>[A-Za-z][\w.-]*(?:\[[\w,-]+\])?)\s*(?<value>(?:[=<>~!]=?=?)[^;#]*)?(?:[;#].*)?$/),
  }),
  config('gomod', '', {
    fileNames: /^go\.mod$/,
    entries: lineEntries(
      /^(?<name>go|toolchain)\s+(?<value>[\w.]+)$/,
      /^(?:require\s+)?(?<name>[\w-]+\.[\w./-]+)\s+(?<value>v[\w.+-]+)/,
    ),
  }),
  config('ruby', '', {
    fileNames: /^Gemfile$/,
    entries: lineEntries(/^gem\s+['"](?<name>[\w-]+)['"](?:,\s*(?<value>.*))?$/, /^(?<name>ruby)\s+(?<value>.+)$/),
  }),
  config('gradle', 'gradle', {
    fileNames: /^build\.gradle\.kts$/,
    comment: /^\/\//,
    entries: lineEntries(
      /^(?:\w*[iI]mplementation|api|compileOnly|runtimeOnly|classpath|kapt|ksp|annotationProcessor)[ (]+['"](?<name>[\w.-]+:[\w.-]+)(?::(?<value>[\w.+-]+))?['"]/,
      /^id[ (]+['"](?<name>[\w.-]+)['"]\)?\s+version\s+['"](?<value>[^'"]+)['"]/,
      /^(?<name>[a-z]\w*)\s*=\s*(?<value>.{1,80})$/,
    ),
  }),
  config('xml', 'xml csproj fsproj props targets', {
    comment: /^<!--/,
    entries: lineEntries(
      /^<PackageReference\s+Include="(?<name>[\w.-]+)"\s+Version="(?<value>[^"]+)"/,
      /^<(?<name>[\w.-]+)>(?<value>[^<]{1,80})<\/[\w.-]+>$/,
    ),
  }),
  config('makefile', 'mk make', {
    fileNames: /^(?:GNU)?makefile$/i,
    nesting: 'indent',
    hint: /^[\w./%-][\w./% -]*:(?!=)/,
    declarations: [part('function', /^(?<name>[\w./%-]{1,200})(?=[\s:])[\w./% \t-]{0,1000}::?(?![=:])/)],
    identifier: /^[\w./%-]+$/,
    constants: [/^(?:export\s+)?(?<name>[A-Za-z_]\w*)\s*[:?+]?=\s*(?<value>.{0,100})$/],
  }),
  config('hcl', 'tf tfvars hcl', {
    nesting: 'braces',
    comment: /^(?:#|\/\/)/,
    hint: /^(?:resource|data|module|variable|output|provider|locals)\b/,
    declarations: [
      part('type', /^(?:resource|data)\s+"(?<owner>[\w-]+)"\s+"(?<name>[\w-]+)"/),
      part('type', /^(?<owner>module|variable|output|provider)\s+"(?<name>[\w-]+)"/),
    ],
    identifier: /^[\w-]+$/,
    entries: blockEntries,
  }),
  config('markdown', 'md mdx markdown', {
    comment: /^<!--/,
    hint: /^#{1,6}\s/,
    declarations: [part('section', /^#{1,6}\s+(?<name>.{1,200}?)\s*#*$/)],
    strings: ['```'],
  }),
  config('prisma', 'prisma', {
    nesting: 'braces',
    comment: /^\/\//,
    hint: /^(?:model|enum|type)\b/,
    declarations: [part('type', /^(?:model|enum|type)\s+(?<name>\w+)/)],
  }),
  config('protobuf', 'proto', {
    nesting: 'braces',
    comment: /^(?:\/\/|\/\*|\*)/,
    hint: /^(?:message|service|enum|rpc)\b/,
    declarations: [part('type', /^(?:message|service|enum)\s+(?<name>\w+)/), part('function', /^rpc\s+(?<name>\w+)/)],
    imports: [/^import\s+(?:public\s+)?"([^"]+)"/],
  }),
  config('graphql', 'graphql gql', {
    nesting: 'braces',
    hint: new RegExp(`${GRAPHQL_TYPE}\\b`),
    declarations: [part('type', `${GRAPHQL_TYPE}\\s+(?<name>\\w+)`)],
  }),
  config('sql', 'sql ddl', {
    comment: /^(?:--|\/\*|\*)/,
    hint: /^(?:CREATE|ALTER)\b/i,
    declarations: [
      part('type', sqlPattern('CREATE (?:\\w+ )?TABLE (?:IF NOT EXISTS )?NAME'), /;$/),
      part('const', sqlPattern('CREATE (?:UNIQUE )?INDEX (?:CONCURRENTLY )?(?:IF NOT EXISTS )?NAME'), /;$/),
      part(
        'type',
        sqlPattern('CREATE (?:OR REPLACE )?(?:MATERIALIZED )?(?:VIEW|TYPE|SEQUENCE) (?:IF NOT EXISTS )?NAME'),
        /;$/,
      ),
      part('function', sqlPattern('CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE|TRIGGER) NAME')),
    ],
    entries: columnEntries,
    notable: [],
  }),
]
