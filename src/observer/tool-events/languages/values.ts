/** Names with a value that changed, was added or was removed: constants, settings, literals in changed lines. */
import { trimEndMatching } from '../../../lib/trim.ts'
import type { ValueChange } from '../types.ts'
import { cleanName, MAX_CODE_LINE_CHARS, maskSecretValue, SECRET_MASK, unquote } from './code-text.ts'
import type { Language, NamedValue } from './language.ts'
import { type OutlinedSide, withoutNamespace } from './outline.ts'

export const MAX_VALUE_CHANGES = 30
const MAX_VALUE_CHARS = 80
const EMPTY = /^(?:0|null|None|nil|true|false|True|False|''|""|\[\]|\{\}|new \w+\(\)|\w+\(\))$/

export function valueChanges(before: OutlinedSide, after: OutlinedSide, language: Language): ValueChange[] {
  if (language.entries)
    return showValues(compareValues(language.entries(before.side), language.entries(after.side)), language)
  const constants = compareValues(findConstants(before, language), findConstants(after, language)).filter(
    (value) => !isEmptyField(value),
  )
  const known = new Set(constants.map(({ name }) => lastNamePart(name)))
  const literals = literalChanges(before, after, language).filter(({ name }) => !known.has(lastNamePart(name)))
  return showValues([...constants, ...literals], language)
}

/** A field with an empty initial value is not worth mentioning. */
function isEmptyField({ name, from, to }: ValueChange): boolean {
  const value = from === null ? to : to === null ? from : null
  return value !== null && name.includes('.') && EMPTY.test(value)
}

function lastNamePart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** The values that only one side has, paired by name in their order. */
function compareValues(old: NamedValue[], now: NamedValue[]): ValueChange[] {
  const removed = new Map<string, string[]>()
  for (const { name, value } of old) removed.set(name, [...(removed.get(name) ?? []), value])
  const added = now.filter(({ name, value }) => {
    const values = removed.get(name)
    const same = values?.indexOf(value) ?? -1
    if (same >= 0) values?.splice(same, 1)
    return same < 0
  })
  const changes: ValueChange[] = added.map(({ name, value }) => ({
    name,
    from: removed.get(name)?.shift() ?? null,
    to: value,
  }))
  for (const [name, values] of removed) for (const value of values) changes.push({ name, from: value, to: null })
  return changes
}

/** Constants of the file and of its classes, not the variables of functions. */
function findConstants({ side, outline }: OutlinedSide, language: Language): NamedValue[] {
  const constants: NamedValue[] = []
  for (let i = 0; i < side.lines.length && constants.length < MAX_VALUE_CHANGES * 4; i++) {
    const line = side.lines[i] ?? ''
    if (side.change[i] === 0 || line.length >= MAX_CODE_LINE_CHARS) continue
    const owner = withoutNamespace(outline.owner[i] ?? null)
    if (owner !== null && owner.kind !== 'type' && owner.kind !== 'section' && owner.at !== i) continue
    const text = line.trim()
    for (const pattern of language.constants ?? []) {
      const { name, value } = pattern.exec(text)?.groups ?? {}
      if (!name || value === undefined) continue
      const prefix = owner && owner.ownName !== name && owner.ownName !== '' ? `${owner.ownName}.` : ''
      constants.push({ name: prefix + name, value: value.trim() })
      break
    }
  }
  return constants
}

/** Without secrets, duplicates and values that look equal once they are shortened. */
function showValues(changes: ValueChange[], language: Language): ValueChange[] {
  const shown = new Map<string, ValueChange>()
  for (const change of changes) {
    const name = cleanName(change.name)
    const show = (value: string | null) => {
      if (value === null) return null
      return language.secret ? SECRET_MASK : cleanName(maskSecretValue(name, unquote(value.trim())), MAX_VALUE_CHARS)
    }
    const [from, to] = [show(change.from), show(change.to)]
    if (name === '' || (from === to && to !== SECRET_MASK)) continue
    const key = `${name}\0${from}\0${to}`
    if (!shown.has(key)) shown.set(key, { name, from, to })
    if (shown.size >= MAX_VALUE_CHANGES) break
  }
  return [...shown.values()]
}

/** The patterns below are quadratic in the length of a line. */
const MAX_LITERAL_LINE_CHARS = 240
/** Pairs of lines that are compared; more than that is a rewrite. */
const MAX_LINE_PAIRS = 200
/** A line with more new literals than this is another line. */
const MAX_LITERALS = 3
const MAX_LITERAL_CHARS = 70

const LITERALS =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<![\w.$])-?\d[\d_]*(?:\.\d+)?\w*|\b(?:true|false|null|None|nil|True|False|undefined)\b/g
const KEYWORD =
  /^(?:if|else|elif|for|while|switch|case|return|const|let|var|val|and|or|not|in|is|new|await|throw|raise|yield|number|string|boolean|int|float|bool|of|def|fn|func|function|auto|static|final|public|private|unless|when|match|typeof|assert|echo|then|do|export|default)$/
/** Calls with texts for people, and names of tests, modules and routes: those are read elsewhere or not worth it. */
const IGNORED_CALL =
  /^(?:log|info|warn|debug|trace|print|println|printf|puts|echo|it|test|describe|context|require|import|include|get|post|put|patch|delete|route|use|t|toBe|toEqual|assertEqual|assert_eq|expect|equal|strictEqual|add_argument|option)$/
const ASSIGNMENT =
  /^(?:[\w$]+\s+){0,4}?((?:this\.|self\.|@|\$)?[\w$.]+)(?:\??:\s*[\w<>[\]|., &*]+?)?\s*(?::=|=(?![=>]))\s*(.+?)[;,]?$/
const IMPORT = /^(?:import|from|use|using|require|include|#include|export\s+\*|\}\s*from)\b/

interface ChangedLine {
  text: string
  /** The text with each literal replaced: lines of equal shape differ in their literals only. */
  shape: string
  literals: { text: string; at: number }[]
  /** The function that contains it. */
  owner: string | null
}

/** Lines that differ only in a literal or in the right side of an assignment: `retries = 3` to `5`. */
function literalChanges(before: OutlinedSide, after: OutlinedSide, language: Language): ValueChange[] {
  const old = linesByChange(before, language)
  const now = linesByChange(after, language)
  const changes: ValueChange[] = []
  let pairs = 0
  for (const [change, removed] of old) {
    const added = [...(now.get(change) ?? [])]
    if (added.length === 0) continue
    const unmatched: ChangedLine[] = []
    for (const line of removed) {
      if (pairs++ > MAX_LINE_PAIRS) return changes
      const sameShape = added.filter(({ shape }) => shape === line.shape)
      const match = sameShape.find(({ text }) => text === line.text) ?? sameShape[0]
      if (match === undefined) unmatched.push(line)
      else {
        added.splice(added.indexOf(match), 1)
        changes.push(...changedLiterals(line, match))
      }
    }
    changes.push(...assignmentChanges(unmatched, added))
  }
  return changes
}

function linesByChange({ side, outline }: OutlinedSide, language: Language): Map<number, ChangedLine[]> {
  const result = new Map<number, ChangedLine[]>()
  let count = 0
  for (let i = 0; i < side.lines.length && count < MAX_LINE_PAIRS * 2; i++) {
    const change = side.change[i] ?? 0
    const line = side.lines[i] ?? ''
    const text = line.trim()
    if (change === 0 || line.length >= MAX_LITERAL_LINE_CHARS || text === '') continue
    if (language.comment.test(text) || IMPORT.test(text)) continue
    count++
    const owner = outline.owner[i] ?? null
    const literals: ChangedLine['literals'] = []
    const shape = text.replace(LITERALS, (literal: string, at: number) => {
      literals.push({ text: literal, at })
      return '\0'
    })
    const lines = result.get(change) ?? []
    lines.push({ text, shape, literals, owner: owner?.kind === 'function' ? owner.name : null })
    result.set(change, lines)
  }
  return result
}

function changedLiterals(old: ChangedLine, now: ChangedLine): ValueChange[] {
  const changes = old.literals.flatMap(({ text: from }, i) => {
    const to = now.literals[i]
    if (!to || from === to.text) return []
    const name = literalName(now, to.at, to.text.length)
    if (name === null || from.length > MAX_LITERAL_CHARS || to.text.length > MAX_LITERAL_CHARS) return []
    return [{ name, from, to: to.text }]
  })
  return changes.length > MAX_LITERALS ? [] : changes
}

/** Characters before a literal that are read for its name: the patterns below take quadratic time. */
const MAX_PREFIX_CHARS = 160

/** What a literal is the value of: a variable, a property, a parameter's function, or what it is compared with. */
function literalName(line: ChangedLine, at: number, length: number): string | null {
  const prefix = line.text.slice(Math.max(0, at - MAX_PREFIX_CHARS), at)
  const typed = /([\w$]+)\??\s*:\s*[\w<>[\]|. ]+=\s*$/.exec(prefix)
  if (typed) return plainName(typed[1])
  const compared = /([\w$.@-]+)["'\])]*\s*(?:[=<>!]=?=?|:=|:|=>|->|\?\?=?|\|\||&&|[-+*/%]=?)\s*$/.exec(prefix)
  const direct = plainName(compared?.[1])
  if (direct) return direct
  const call = /([\w$.!]+)\s*\((?:[^()]|\([^()]*\))*$/.exec(prefix)
  const callee = plainName(call?.[1]?.replace(/!$/, ''))
  const isIgnored = callee !== null && IGNORED_CALL.test(lastNamePart(callee))
  const key = plainName(ASSIGNMENT.exec(line.text)?.[1] ?? /^["']?([\w$-]+)["']?\s*:/.exec(line.text)?.[1])
  if (key && !(isIgnored && key === callee)) return key
  if (callee) return isIgnored || /^(?:console|logger|log)\./.test(callee) ? null : callee
  const behind = plainName(/^\s*[<>=!]+\s*([\w$.]+)/.exec(line.text.slice(at + length))?.[1])
  return behind ?? (/^return\b/.test(line.text) ? line.owner : null)
}

/** Null for keywords and what is not a name. */
function plainName(name: string | undefined): string | null {
  const bare = name && trimEndMatching(name.replace(/^(?:this|self)\.|^[@$.-]+/g, ''), /[.-]/)
  return bare && /[\p{L}_]/u.test(bare) && /^[\p{L}_$]/u.test(bare) && !KEYWORD.test(bare) ? bare : null
}

/** `hash = md5(x)` that became `hash = sha256(x)`. */
function assignmentChanges(old: ChangedLine[], now: ChangedLine[]): ValueChange[] {
  const newValues = assignedValues(now)
  return [...assignedValues(old)].flatMap(([name, from]) => {
    const to = newValues.get(name)
    return from && to && from !== to ? [{ name, from, to }] : []
  })
}

/** A name that is assigned twice has the value ''. */
function assignedValues(lines: ChangedLine[]): Map<string, string> {
  const values = new Map<string, string>()
  for (const { text } of lines) {
    const [, target, value] = ASSIGNMENT.exec(text) ?? []
    const name = plainName(target)
    if (name && value && value.length <= MAX_LITERAL_CHARS && !/[{([,]$|=>|^function\b|^async\b/.test(value))
      values.set(name, values.has(name) ? '' : value)
  }
  return values
}
