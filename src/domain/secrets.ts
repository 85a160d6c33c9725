/**
 * Masks secrets before a text leaves the hook's process. The detectors: secrets with a known format (API keys, tokens,
 * headers), secrets in command lines, values that are assigned to a name such as `DB_PASSWORD`, columns with such a name,
 * lines of files that exist to hold secrets, and all of these in base64. Each takes time that is linear in the length of
 * the text.
 */
import { LiteralSearch } from '../lib/literal-search.ts'
import { maskQuotedFiles, maskSecretManifests, maskTypedCommands } from './credential-files.ts'
import { removeSpans } from './private-parts.ts'
import { maskAssignments } from './secret-assignments.ts'
import { maskCommands } from './secret-commands.ts'
import { maskEncoded } from './secret-encoded.ts'
import { applicableRules, FORMAT_HINTS, LEAST_TOKEN, PRIVATE_KEYS, type SecretRule } from './secret-formats.ts'
import { maskEscapedLines, maskHunks } from './secret-lines.ts'
import { LANGUAGE_HINTS } from './secret-names.ts'
import { maskMarkedObjects, OBJECT_HINTS } from './secret-objects.ts'
import { maskTables, TABLE_HINTS } from './secret-tables.ts'

/** Replaces every secret by `[secret:kind]`. Idempotent. */
export function maskSecrets(text: string): string {
  // Most names and many values of a payload.
  if (text.length < LEAST_TOKEN && SHORT_WORD.test(text)) return text
  return maskEscapedLines(text, (lines) => maskEncoded(maskHunks(maskPlain(lines), maskPlain), maskPlain))
}

/** Without a sign that could be between a name and its value. */
const SHORT_WORD = /^\w*$/

function maskPlain(text: string): string {
  let masked = text
  // Repeated until nothing changes: masking one secret may reveal the start of the next.
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const before = masked
    masked = maskSecretManifests(maskQuotedFiles(maskTypedCommands(removeSpans(masked, PRIVATE_KEYS))))
    const hints = secretHints(masked)
    masked = maskMarkedObjects(masked, hints)
    for (const rule of applicableRules(masked, hints, pass > 0)) masked = applyRule(masked, rule)
    masked = maskAssignments(maskCommands(masked), hints)
    if (pass === 0) masked = maskTables(masked, hints)
    if (masked === before) break
  }
  return masked
}

/** What the detectors need to know of a text, so that most of them need not read it. */
export function secretHints(text: string): ReadonlySet<string> {
  search ??= new LiteralSearch([...FORMAT_HINTS, ...OBJECT_HINTS, ...LANGUAGE_HINTS, ...TABLE_HINTS])
  return search.found(text)
}

/** Made when it is needed: hooks that report no text do not need it. */
let search: LiteralSearch | null = null

/** Real text needs two passes; secrets that are concatenated need more. */
const MAX_PASSES = 9

function applyRule(text: string, rule: SecretRule): string {
  return text.replace(rule.pattern, (match: string, ...groups: unknown[]) => {
    const group = groups
      .slice(
        0,
        groups.findIndex((one) => typeof one === 'number'),
      )
      .find((one) => one !== undefined)
    const secret = typeof group === 'string' ? group : match
    if (rule.accepts?.(secret) === false) return match
    const at = match.lastIndexOf(secret)
    return `${match.slice(0, at)}[secret:${rule.kind}]${match.slice(at + secret.length)}`
  })
}
