/** Lines that are the same but for a number, a text or the right side of an assignment: `retries = 3` to `5`. */
import type { ValueChange } from '../types.ts'
import type { Language } from './language.ts'
import type { View } from './symbols.ts'

/** A value worth telling stands on a short line; the patterns below are quadratic in its length. */
const LINE_MAX = 240

/** Pairs looked at; more than that is a rewrite, not a change of values. */
const PAIRS_MAX = 200
/** A line with more new literals than this is another line. */
const LITERALS_MAX = 3
const VALUE_MAX = 70

const LITERAL =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<![\w.$])-?\d[\d_]*(?:\.\d+)?\w*|\b(?:true|false|null|None|nil|True|False|undefined)\b/g
const KEYWORD =
  /^(?:if|else|elif|for|while|switch|case|return|const|let|var|val|and|or|not|in|is|new|await|throw|raise|yield|number|string|boolean|int|float|bool|of|def|fn|func|function|auto|static|final|public|private|unless|when|match|typeof|assert|echo|then|do|export|default)$/
/** Texts for people, names of tests, modules and routes: told elsewhere or not worth telling. */
const IDLE_CALL =
  /^(?:log|info|warn|debug|trace|print|println|printf|puts|echo|it|test|describe|context|require|import|include|get|post|put|patch|delete|route|use|t|toBe|toEqual|assertEqual|assert_eq|expect|equal|strictEqual|add_argument|option)$/
const ASSIGN =
  /^(?:[\w$]+\s+){0,4}?((?:this\.|self\.|@|\$)?[\w$.]+)(?:\??:\s*[\w<>[\]|., &*]+?)?\s*(?::=|=(?![=>]))\s*(.+?)[;,]?$/
const IMPORTING = /^(?:import|from|use|using|require|include|#include|export\s+\*|\}\s*from)\b/

interface ReadLine {
  text: string
  shape: string
  literals: { text: string; at: number }[]
  owner: string | null
}

export function changedLiterals(before: View, after: View, language: Language): ValueChange[] {
  const old = linesByChange(before, language)
  const now = linesByChange(after, language)
  const changes: ValueChange[] = []
  let pairs = 0
  for (const [change, removed] of old) {
    const added = now.get(change)
    if (!added) continue
    const byShape = new Map<string, ReadLine[]>()
    for (const line of added) {
      const list = byShape.get(line.shape)
      if (list) list.push(line)
      else byShape.set(line.shape, [line])
    }
    const unmatched: ReadLine[] = []
    for (const line of removed) {
      if (pairs++ > PAIRS_MAX) return changes
      const mate = takeMate(byShape.get(line.shape), line)
      if (mate) changes.push(...literalChanges(line, mate))
      else unmatched.push(line)
    }
    changes.push(...assignmentChanges(unmatched, [...byShape.values()].flat()))
  }
  return changes
}

function takeMate(list: ReadLine[] | undefined, line: ReadLine): ReadLine | undefined {
  if (!list) return undefined
  const same = list.findIndex((one) => one.text === line.text)
  return list.splice(Math.max(0, same), 1)[0]
}

function linesByChange(view: View, language: Language): Map<number, ReadLine[]> {
  const result = new Map<number, ReadLine[]>()
  const { lines, change } = view.side
  let count = 0
  for (let i = 0; i < lines.length && count < PAIRS_MAX * 2; i++) {
    const number = change[i] ?? 0
    const line = lines[i] ?? ''
    if (number === 0 || line.length >= LINE_MAX) continue
    const text = line.trim()
    if (text === '' || language.comment.test(text) || IMPORTING.test(text)) continue
    count++
    const owner = view.outline.owner[i] ?? null
    const literals: ReadLine['literals'] = []
    const shape = text.replace(LITERAL, (literal: string, at: number) => {
      literals.push({ text: literal, at })
      return '\0'
    })
    const read = { text, shape, literals, owner: owner && owner.kind === 'function' ? owner.name : null }
    const list = result.get(number)
    if (list) list.push(read)
    else result.set(number, [read])
  }
  return result
}

function literalChanges(old: ReadLine, now: ReadLine): ValueChange[] {
  const changes: ValueChange[] = []
  for (let i = 0; i < old.literals.length; i++) {
    const from = old.literals[i]
    const to = now.literals[i]
    if (!from || !to || from.text === to.text) continue
    const name = nameAt(now, to.at, to.text.length)
    if (name === null || from.text.length > VALUE_MAX || to.text.length > VALUE_MAX) continue
    changes.push({ name, from: from.text, to: to.text })
  }
  return changes.length > LITERALS_MAX ? [] : changes
}

/** What a person would call the literal at this place of the line. */
function nameAt(line: ReadLine, at: number, length: number): string | null {
  const prefix = line.text.slice(0, at)
  const typed = /([\w$]+)\??\s*:\s*[\w<>[\]|. ]+=\s*$/.exec(prefix)
  if (typed) return plain(typed[1])
  const compared = /([\w$.@-]+)["'\])]*\s*(?:[=<>!]=?=?|:=|:|=>|->|\?\?=?|\|\||&&|[-+*/%]=?)\s*$/.exec(prefix)
  const direct = compared && plain(compared[1])
  if (direct) return direct
  const call = /([\w$.!]+)\s*\((?:[^()]|\([^()]*\))*$/.exec(prefix)
  const callee = call && plain(call[1]?.replace(/!$/, ''))
  const key = plain(ASSIGN.exec(line.text)?.[1] ?? /^["']?([\w$-]+)["']?\s*:/.exec(line.text)?.[1])
  if (key && !(callee && IDLE_CALL.test(last(callee)) && key === callee)) return key
  if (callee) return IDLE_CALL.test(last(callee)) || /^(?:console|logger|log)\./.test(callee) ? null : callee
  const behind = plain(/^\s*[<>=!]+\s*([\w$.]+)/.exec(line.text.slice(at + length))?.[1])
  return behind ?? (/^return\b/.test(line.text) ? line.owner : null)
}

function last(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function plain(name: string | undefined): string | null {
  const bare = name?.replace(/^(?:this|self)\.|^[@$.-]+/g, '').replace(/[.-]+$/, '')
  return bare && /[\p{L}_]/u.test(bare) && /^[\p{L}_$]/u.test(bare) && !KEYWORD.test(bare) ? bare : null
}

/** `hash = md5(x)` that became `hash = sha256(x)`. */
function assignmentChanges(old: ReadLine[], now: ReadLine[]): ValueChange[] {
  const changes: ValueChange[] = []
  const targets = (lines: ReadLine[]): Map<string, string> => {
    const found = new Map<string, string>()
    for (const { text } of lines) {
      const match = ASSIGN.exec(text)
      const name = plain(match?.[1])
      const value = match?.[2]
      if (name && value && value.length <= VALUE_MAX && !/[{([,]$|=>|^function\b|^async\b/.test(value))
        found.set(name, found.has(name) ? '' : value)
    }
    return found
  }
  const fresh = targets(now)
  for (const [name, from] of targets(old)) {
    const to = fresh.get(name)
    if (from && to && from !== to) changes.push({ name, from, to })
  }
  return changes
}
