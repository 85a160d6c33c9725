/** Names and values of files that are nothing else, with the dotted path to each. */
import type { Entry, Side } from './language.ts'
import { indentOf, LINE_MAX, unquote } from './text.ts'

const ENTRIES_MAX = 400

/** Keys that hold deeper ones; a list item adds no name. */
class Path {
  private readonly keys: { indent: number; name: string }[] = []

  leave(indent: number): void {
    while ((this.keys.at(-1)?.indent ?? -1) >= indent) this.keys.pop()
  }

  enter(indent: number, name: string): void {
    this.keys.push({ indent, name })
  }

  clear(): void {
    this.keys.length = 0
  }

  of(name: string): string {
    const names = this.keys.map((key) => key.name).filter((key) => key !== '')
    if (name !== '') names.push(name)
    return names.join('.')
  }
}

type Put = (name: string, value: string) => void

/** Walks the lines of a side; what a changed line puts becomes an entry. */
function walk(side: Side, read: (text: string, indent: number, put: Put, path: Path) => void): Entry[] {
  const entries: Entry[] = []
  const path = new Path()
  for (let i = 0; i < side.lines.length && entries.length < ENTRIES_MAX; i++) {
    if (side.starts.has(i)) path.clear()
    const line = side.lines[i] ?? ''
    const indent = indentOf(line)
    if (indent < 0 || line.length >= LINE_MAX) continue
    const changed = (side.change[i] ?? 0) > 0
    read(line.trim(), indent, (name, value) => changed && name !== '' && entries.push({ name, value }), path)
  }
  return entries
}

/** A list may stand at the column of its key; the key must outlive its items. */
const LIST_ROOM = 0.5
const YAML_KEY =
  /^(?:"([^"]{1,100})"|'([^']{1,100})'|([^\s:#'"{}[\],&*!|>%@`-][^:#]{0,99}?|-[^\s:][^:#]{0,99}?))\s*:(?:\s+(.*))?$/

export function yamlEntries(side: Side): Entry[] {
  let block = -1
  return walk(side, (text, column, put, path) => {
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
    if (!item) path.leave(indent - LIST_ROOM)
    const match = YAML_KEY.exec(rest)
    if (!match) {
      if (item) put(path.of(''), bare(rest))
      return
    }
    const key = match[1] ?? match[2] ?? match[3] ?? ''
    const value = bare(match[4] ?? '')
    if (/^[|>][+-]?\d?$/.test(value)) block = indent
    else if (value === '' || /^[&!]\S+$/.test(value)) path.enter(indent - LIST_ROOM, key)
    else put(path.of(key), value)
  })
}

function bare(value: string): string {
  return value.replace(/\s+#.*$/, '').trim()
}

const JSON_KEY = /^"((?:[^"\\]|\\.){1,200})"\s*:\s*(.*?),?$/

export function jsonEntries(side: Side): Entry[] {
  return walk(side, (text, indent, put, path) => {
    path.leave(indent)
    const match = JSON_KEY.exec(text)
    if (!match) {
      const scalar = /^("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null),?$/.exec(text)
      if (scalar) put(path.of(''), scalar[1] ?? '')
      else if (/^[{[]/.test(text) && indent > 0) path.enter(indent, '')
      return
    }
    const [, key = '', value = ''] = match
    if (/[{[]$/.test(value)) path.enter(indent, key)
    else put(path.of(key), value)
  })
}

const INI_KEY = /^((?:"[^"]+"|'[^']+'|[\w$][\w$.@/ -]*?))\s*(?:=|:(?!:))\s*(.*)$/

/** TOML, INI and properties. */
export function sectionEntries(side: Side): Entry[] {
  let list: string | null = null
  return walk(side, (text, _, put, path) => {
    if (/^[#;!]/.test(text)) return
    if (list !== null) {
      if (/^\]/.test(text)) list = null
      else if (/^["'\d{]/.test(text)) put(path.of(list), bare(text).replace(/,$/, ''))
      return
    }
    const section = /^\[\[?\s*([^\]]{1,120})\s*\]\]?/.exec(text)
    if (section) {
      path.clear()
      path.enter(0, (section[1] ?? '').replace(/["']/g, '').trim())
      return
    }
    const match = INI_KEY.exec(text)
    if (!match) return
    const key = unquote((match[1] ?? '').trim())
    const value = bare(match[2] ?? '')
    if (/^\[\s*$/.test(value)) list = key
    else put(path.of(key), value)
  })
}

/** Lines that need no path: each pattern has groups `name` and `value`. */
export function lineEntries(...patterns: RegExp[]): (side: Side) => Entry[] {
  return (side) =>
    walk(side, (text, _, put) => {
      for (const pattern of patterns) {
        const groups = pattern.exec(text)?.groups
        if (!groups?.name) continue
        put(groups.name, groups.value?.trim() ?? '')
        return
      }
    })
}

/** HCL: blocks with labels, assignments inside. */
export function blockEntries(side: Side): Entry[] {
  return walk(side, (text, indent, put, path) => {
    if (/^(?:#|\/\/)/.test(text)) return
    path.leave(indent)
    const block = /^(\w+)((?:\s+"[^"]*")*)\s*(?:=\s*)?\{$/.exec(text)
    if (block) {
      const labels = [...(block[2] ?? '').matchAll(/"([^"]*)"/g)].map((label) => label[1] ?? '')
      path.enter(
        indent,
        labels.length > 1 ? labels.join('.') : labels.length === 1 ? `${block[1]}.${labels[0]}` : (block[1] ?? ''),
      )
      return
    }
    const match = /^"?([\w.-]+)"?\s*=\s*(.+?),?$/.exec(text)
    if (match) put(path.of(match[1] ?? ''), match[2] ?? '')
  })
}

const NOT_A_COLUMN =
  /^(?:CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|CHECK|INDEX|KEY|EXCLUDE|SELECT|FROM|WHERE|AND|OR|ON|SET|VALUES|CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|ADD|JOIN|LEFT|INNER|ORDER|GROUP|LIMIT|BEGIN|END|RETURN|RETURNS|LANGUAGE|IF|ELSE|DECLARE|WITH|UNION|COMMENT|REFERENCES|GRANT|REVOKE|AS|CASE|WHEN|THEN|RENAME|MODIFY|CHANGE)\b/i
const TABLE =
  /^(?:CREATE|ALTER)\s+(?:\w+\s+)?TABLE\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:ONLY\s+)?[`"[]?(?:\w+[`"\]]?\.[`"[]?)?(\w+)/i

/** Columns: `orders.total` is `numeric not null`. */
export function columnEntries(side: Side): Entry[] {
  let table: string | null = null
  return walk(side, (text, _, put) => {
    if (text.startsWith('--')) return
    const head = TABLE.exec(text)
    if (head) table = head[1] ?? null
    if (table !== null) {
      const added = /\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?[`"[]?(\w+)[`"\]]?\s+(\w[^;]*?)[,;]?$/i.exec(text)
      const column =
        head || NOT_A_COLUMN.test(text) ? null : /^[`"[]?(\w+)[`"\]]?\s+([A-Za-z]\w*.*?),?(?:\s*--.*)?$/.exec(text)
      if (added && !NOT_A_COLUMN.test(added[1] ?? '')) put(`${table}.${added[1]}`, added[2] ?? '')
      else if (column && !added) put(`${table}.${column[1]}`, (column[2] ?? '').replace(/\)?;$/, ''))
    }
    if (text.endsWith(';')) table = null
  })
}
