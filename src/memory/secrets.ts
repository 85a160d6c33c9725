/**
 * Secrets in known shapes are masked before anything leaves the hook's process. Every pattern begins with a
 * literal or is held back from starting twice in one run of its own characters, so that the time stays linear;
 * `hints` spare a text that holds none of the literals from all of them.
 */
import { isPlaceholder, maskAssignments } from './assignments.ts'
import { removeSpans, type Span, type SpanRule } from './spans.ts'

export interface SecretRule {
  kind: string
  /** A text without any of these holds no such secret. */
  hints: readonly string[]
  pattern: RegExp
  /** Which group is the secret: 0 is the whole match. */
  group: 0 | 1 | 2
  /** False for what only looks like one. */
  accepts?: (secret: string) => boolean
}

const hasDigit = (text: string): boolean => /\d/.test(text)
/** `Basic authentication` is prose. */
const isNoWord = (text: string): boolean => !/^[A-Z]?[a-z]+$/.test(text) && !isPlaceholder(text)

/** Not inside a longer word; the n of a `\n` in a text that holds JSON is none. */
const startOf = (pattern: RegExp): RegExp =>
  new RegExp(`(?:(?<![\\w-])|(?<=\\\\[bfnrt]))${pattern.source}`, pattern.flags)

export const SECRET_RULES: readonly SecretRule[] = [
  { kind: 'anthropic-key', hints: ['sk-ant-'], pattern: /sk-ant-[\w-]{16,}/g, group: 0 },
  { kind: 'openai-key', hints: ['sk-'], pattern: startOf(/sk-[\w-]{20,}/g), group: 0, accepts: hasDigit },
  {
    kind: 'aws-access-key-id',
    hints: ['AKIA', 'ASIA'],
    pattern: startOf(/A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/g),
    group: 0,
  },
  {
    kind: 'aws-secret-key',
    hints: ['ecret', 'ECRET'],
    pattern:
      /secret_?(?:access_?)?key\\{0,3}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/gi,
    group: 1,
  },
  {
    kind: 'github-token',
    hints: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    pattern: /gh[pousr]_[A-Za-z0-9]{30,}/g,
    group: 0,
  },
  { kind: 'github-token', hints: ['github_pat_'], pattern: /github_pat_\w{30,}/g, group: 0 },
  { kind: 'gitlab-token', hints: ['glpat-'], pattern: /glpat-[\w.-]{20,}/g, group: 0 },
  { kind: 'google-key', hints: ['AIza'], pattern: /AIza[\w-]{35}(?![\w-])/g, group: 0 },
  {
    kind: 'slack-webhook',
    hints: ['hooks.slack.com'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/+-]{8,})/g,
    group: 1,
  },
  {
    kind: 'slack-token',
    hints: ['xox'],
    pattern: /xox[abeoprs]-[A-Za-z0-9-]{10,}/g,
    group: 0,
    accepts: hasDigit,
  },
  {
    kind: 'stripe-key',
    hints: ['k_live_', 'k_test_'],
    pattern: startOf(/[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g),
    group: 0,
  },
  { kind: 'npm-token', hints: ['npm_'], pattern: /npm_[A-Za-z0-9]{36,}/g, group: 0 },
  { kind: 'pypi-token', hints: ['pypi-'], pattern: /pypi-[\w-]{40,}/g, group: 0 },
  { kind: 'huggingface-token', hints: ['hf_'], pattern: /hf_[A-Za-z0-9]{30,}/g, group: 0 },
  { kind: 'sendgrid-key', hints: ['SG.'], pattern: startOf(/SG\.[\w-]{16,}\.[\w-]{16,}/g), group: 0 },
  { kind: 'twilio-key', hints: ['SK'], pattern: startOf(/SK[0-9a-f]{32}(?!\w)/g), group: 0 },
  { kind: 'jwt', hints: ['eyJ'], pattern: startOf(/eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g), group: 0 },
  {
    kind: 'authorization',
    hints: ['uthorization', 'UTHORIZATION'],
    pattern:
      /authorization\\{0,3}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["'`]?(?:(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,8})?([\w.~+/=:-]{6,})/gi,
    group: 1,
    accepts: isNoWord,
  },
  {
    kind: 'authorization',
    hints: ['earer ', 'EARER '],
    pattern: startOf(/bearer[ \t]{1,8}([\w.~+/=-]{16,})/gi),
    group: 1,
    accepts: (secret) => hasDigit(secret) && isNoWord(secret),
  },
  {
    kind: 'url-password',
    hints: ['://'],
    pattern: /:\/\/[^\s/:@"'`<>\\]{0,128}:([^\s/"'`<>\\]{1,256})@/g,
    group: 1,
    accepts: (secret) => !isPlaceholder(secret),
  },
]

/** The masked text: `[secret:kind]` for each secret. Masking twice is masking once. */
export function maskSecrets(text: string): string {
  let masked = removeSpans(text, PRIVATE_KEYS)
  // Again while it finds something: masking one secret may bare the beginning of the next.
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const before = masked
    for (const rule of SECRET_RULES) {
      if (rule.hints.some((hint) => masked.includes(hint))) masked = applyRule(masked, rule)
    }
    masked = maskAssignments(masked)
    if (masked === before) break
  }
  return masked
}

/** Two do for all real text; more are for secrets glued to one another. */
const MAX_PASSES = 8

function applyRule(text: string, rule: SecretRule): string {
  return text.replace(rule.pattern, (match: string, ...groups: unknown[]) => {
    const group = groups[rule.group - 1]
    const secret = rule.group === 0 || typeof group !== 'string' ? match : group
    if (rule.accepts?.(secret) === false) return match
    const at = match.lastIndexOf(secret)
    return `${match.slice(0, at)}[secret:${rule.kind}]${match.slice(at + secret.length)}`
  })
}

/**
 * PEM private keys. Of a block that was cut, one end is enough: a BEGIN without END hides the rest of the text,
 * an END without BEGIN everything before it.
 */
export const PRIVATE_KEYS: SpanRule = {
  hint: /PRIVATE KEY/,
  marker: '[secret:private-key]',
  find(text) {
    const spans: Span[] = []
    let start: number | null = null
    for (const match of text.matchAll(/-----(BEGIN|END) (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g)) {
      if (match[1] === 'BEGIN') {
        start ??= match.index
        continue
      }
      spans.push({ start: start ?? spans.at(-1)?.end ?? 0, end: match.index + match[0].length })
      start = null
    }
    if (start !== null) spans.push({ start, end: text.length })
    return spans
  },
}
