/**
 * The named parts of one side of an edit, and which part each line belongs to, in one pass from top to bottom.
 *
 * Nesting is read from the indentation: that is right in every formatted file, needs no parser and works in a
 * fragment. In languages with braces, a part that is opened by a brace is closed by one, so that a dedented string or
 * an `#ifdef` in a body does not end it.
 */
import { indentation, MAX_CODE_LINE_CHARS } from './code-text.ts'
import type { CodePartKind, Declaration, EditSide, Language } from './language.ts'

export interface CodePart {
  /** With its owner: `Cart.addItem`. */
  name: string
  ownName: string
  kind: CodePartKind
  parent: CodePart | null
  /** First and last line, decorators included. */
  start: number
  end: number
  /** The line of the declaration. */
  at: number
  exported: boolean
  test: boolean
}

interface CodeOutline {
  parts: CodePart[]
  /** The innermost part of each line. */
  owner: (CodePart | null)[]
}

export interface OutlinedSide {
  side: EditSide
  outline: CodeOutline
}

export function outlineSide(side: EditSide, language: Language): OutlinedSide {
  return { side, outline: new OutlineBuilder(side, language).build() }
}

/** The part, or what contains it where it is a namespace. */
export function withoutNamespace(part: CodePart | null): CodePart | null {
  let current = part
  while (current?.kind === 'namespace') current = current.parent
  return current
}

/** A part that is open at the current line. */
interface Frame {
  part: CodePart
  indent: number
  /** A brace was opened and has to be closed. */
  braced: boolean
  /** The least indentation inside: that of the members. */
  inner: number
  until: RegExp | null
}

interface DeclarationMatch {
  rule: Declaration
  match: RegExpExecArray
}

const CLOSER = /^(?:[}\])]|(?:end|done|fi|esac)\b|<\/)/
const OPENER = /(?:[{([,:]|=>|\bdo|\bdo\s*\|[^|]*\|)$/
const BRACE_AT_END = /[{([,]$/
/** C++ access labels and goto labels are indented less than the code around them. */
const LABEL = /^(?:(?:public|private|protected)(?:\s+slots)?|[a-z_]\w*)\s*:$/
/** Lines read after the last change, to find where its part ends. */
const LINES_BELOW = 60
/** A template string that never ends is a misread quote; code continues at a line like this. */
const RESUME = /^(?:export|function|class|def|func|fun|async|public|describe)\b/

class OutlineBuilder {
  private readonly parts: CodePart[] = []
  private readonly owner: (CodePart | null)[]
  private stack: Frame[] = []
  /** The delimiter of the string of several lines that is open. */
  private quote: string | null = null
  /** The first of the decorators above the current line. */
  private leading: { line: number; indent: number } | null = null

  constructor(
    private readonly side: EditSide,
    private readonly language: Language,
  ) {
    this.owner = new Array(side.lines.length).fill(null)
  }

  build(): CodeOutline {
    const { lines, change, starts } = this.side
    const last = Math.min(lines.length, change.findLastIndex((one) => one > 0) + 1 + LINES_BELOW)
    for (let i = 0; i < last; i++) {
      if (starts.size > 1 && starts.has(i)) {
        this.stack = []
        this.quote = null
        this.leading = null
      }
      this.readLine(i)
    }
    while (this.stack.length > 0) this.pop(last - 1)
    return { parts: this.parts, owner: this.owner }
  }

  private readLine(i: number): void {
    const line = this.side.lines[i] ?? ''
    const indent = indentation(line)
    const text = line.trim()
    if (indent < 0 || this.isInsideString(text, indent)) {
      this.owner[i] = this.stack.at(-1)?.part ?? null
      return
    }
    if (this.language.comment.test(text)) {
      this.owner[i] = this.enclosing(indent)
      return
    }
    this.quote = this.language.strings?.find((quote) => hasOddCount(text, quote)) ?? null
    const closes = CLOSER.test(text)
    const readable = line.length < MAX_CODE_LINE_CHARS && !closes
    const declared = readable && this.language.hint.test(text) ? matchDeclaration(text, this.language, null) : null
    this.closeFrames(i, indent, text, closes, declared !== null)
    if (this.owner[i]) return
    const frame = this.stack.at(-1)
    if (frame && indent > frame.indent && indent < frame.inner) frame.inner = indent
    const mayBeMember = readable && frame && holdsMembers(frame.part) && indent <= frame.inner && !LABEL.test(text)
    const found = declared ?? (mayBeMember ? matchDeclaration(text, this.language, frame.part) : null)
    if (found) this.openPart(found, i, indent, text)
    else this.addLine(i, indent, text, closes)
  }

  private isInsideString(text: string, indent: number): boolean {
    if (this.quote === null) return false
    if (this.quote === '`' && indent === 0 && RESUME.test(text)) {
      this.quote = null
      return false
    }
    if (hasOddCount(text, this.quote)) this.quote = null
    return true
  }

  /** Closes the parts that end before or at this line. A line that closes a part belongs to it. */
  private closeFrames(i: number, indent: number, text: string, closes: boolean, declares: boolean): void {
    const { nesting } = this.language
    for (let frame = this.stack.at(-1); frame; frame = this.stack.at(-1)) {
      const staysOpen = frame.braced && !declares && nesting === 'braces'
      if (nesting === 'flat') {
        if (!declares) return
      } else if (frame.indent > indent) {
        if (staysOpen && !closes) return
      } else if (frame.indent < indent) {
        return
      } else if (closes) {
        this.owner[i] = frame.part
        if (OPENER.test(text)) frame.braced = true
        else this.pop(i)
        return
      } else if (text.startsWith('{')) {
        frame.braced = true
        return
      } else if (staysOpen) return
      this.pop(i - 1)
    }
  }

  private pop(end: number): void {
    const frame = this.stack.pop()
    if (frame && frame.part.end < end) frame.part.end = end
  }

  private addLine(i: number, indent: number, text: string, closes: boolean): void {
    const frame = this.stack.at(-1)
    this.owner[i] = frame?.part ?? null
    if (this.language.leading?.test(text)) this.leading ??= { line: i, indent }
    else if (this.leading && indent <= this.leading.indent && !closes) this.leading = null
    if (frame?.until?.test(text)) this.pop(i)
  }

  private openPart(found: DeclarationMatch, i: number, indent: number, text: string): void {
    const parent = this.stack.at(-1)?.part ?? null
    const start = this.leading?.indent === indent ? this.leading.line : i
    this.leading = null
    const part = makePart(found, this.language, parent, start, i, this.side.lines)
    if (part === null) {
      this.owner[i] = parent
      return
    }
    this.parts.push(part)
    this.owner.fill(part, start, i + 1)
    const braced = BRACE_AT_END.test(text)
    const until = found.rule.until ?? null
    if (until?.test(text)) return
    if (this.language.nesting === 'flat' || braced || this.continuesBelow(i, indent))
      this.stack.push({ part, indent, braced, inner: Number.POSITIVE_INFINITY, until })
  }

  /** Whether the lines below belong to a declaration that does not end in a brace. */
  private continuesBelow(at: number, indent: number): boolean {
    for (let i = at + 1; i < this.side.lines.length && !this.side.starts.has(i); i++) {
      const next = this.side.lines[i] ?? ''
      const below = indentation(next)
      if (below < 0) continue
      return below > indent || (below === indent && next.trimStart().startsWith('{'))
    }
    return false
  }

  private enclosing(indent: number): CodePart | null {
    const isFlat = this.language.nesting === 'flat'
    return this.stack.findLast((frame) => isFlat || frame.indent < indent)?.part ?? null
  }
}

function hasOddCount(text: string, quote: string): boolean {
  let count = 0
  for (let at = text.indexOf(quote); at !== -1; at = text.indexOf(quote, at + quote.length)) {
    if (text[at - 1] !== '\\') count++
  }
  return count % 2 === 1
}

const IDENTIFIER = /^[\p{L}_$#@][\p{L}\p{N}_$]*[?!=]?$/u
const MAX_IDENTIFIER_CHARS = 80
/** Kinds of parts with any text as their name. */
const FREE_NAMES = new Set<CodePartKind>(['test', 'route', 'namespace', 'section'])

function matchDeclaration(text: string, language: Language, parent: CodePart | null): DeclarationMatch | null {
  for (const rule of language.declarations) {
    if ((rule.member === true) !== (parent !== null)) continue
    const match = rule.pattern.exec(text)
    if (match) return { rule, match }
  }
  return null
}

function makePart(
  { rule: { kind }, match }: DeclarationMatch,
  language: Language,
  parent: CodePart | null,
  start: number,
  at: number,
  lines: string[],
): CodePart | null {
  // Local variables of a function are not parts.
  const isVariable = kind === 'const' || kind === 'object'
  if (isVariable && parent && !holdsMembers(parent) && parent.kind !== 'namespace') return null
  const { name = '', owner, verb } = match.groups ?? {}
  const ownName = name.trim()
  const isName = ownName.length <= MAX_IDENTIFIER_CHARS && (language.identifier ?? IDENTIFIER).test(ownName)
  if (!isName && !FREE_NAMES.has(kind)) return null
  return {
    name: verb
      ? `${verb.toUpperCase()} ${ownName}`
      : owner
        ? `${owner}.${ownName}`
        : qualifiedName(ownName, parent, kind),
    ownName,
    kind,
    parent,
    start,
    end: at,
    at,
    exported: language.exported?.((lines[at] ?? '').trim(), ownName) ?? false,
    test: lines.slice(start, at + 1).some((line) => language.test?.test(line.trim())),
  }
}

/** With its nearest owner only: `Shop.Cart.addItem` is `Cart.addItem`. */
function qualifiedName(ownName: string, parent: CodePart | null, kind: CodePartKind): string {
  if (kind === 'test' || kind === 'section') return ownName
  let owner = parent
  while (owner && (/^(?:namespace|test|route)$/.test(owner.kind) || owner.ownName === '')) owner = owner.parent
  return owner ? `${owner.ownName}.${ownName}` : ownName
}

function holdsMembers(part: CodePart): boolean {
  return part.kind === 'type' || part.kind === 'object'
}
