/**
 * Secrets whose format shows what they are: keys and tokens with a known prefix, credentials in headers and URLs,
 * private keys. Every pattern begins with a literal or is bounded, so the time is linear in the length of the text.
 */
import type { Span, SpanRule } from './private-parts.ts'
import { isPlaceholderValue } from './secret-names.ts'

export interface SecretRule {
  kind: string
  /** Literals: a text without any of them contains no such secret, and the pattern is not tried. */
  hints: readonly string[]
  /** The secret has no characters other than those of `DENSE`: only long words are searched for the hints. */
  dense?: boolean
  /** Its capture group is the secret; without one the whole match is. */
  readonly pattern: RegExp
  /** Returns false for a match that is not a secret. */
  accepts?: (secret: string) => boolean
}

const hasDigit = (text: string): boolean => /\d/.test(text)
/** `Basic authentication` is prose, not a credential. */
const isNotWord = (text: string): boolean => !/^[A-Z]?[a-z]+$/.test(text) && !isPlaceholderValue(text)

/**
 * Matches only at the start of a word. In JSON text the `n` of an escaped line break is not part of a word, nor is the `m` of a
 * terminal's colour.
 */
const atWordStart = (pattern: RegExp): RegExp =>
  new RegExp(`(?:(?<![\\w-])|(?<=\\\\[bfnrt])|(?<=\\[[\\d;]{0,12}m))${pattern.source}`, pattern.flags)

const ALPHANUMERIC = '[A-Za-z0-9]'
const HEX = '[0-9a-f]'
const URL_SAFE = '[\\w-]'

/**
 * Tokens that are a literal prefix and characters of one class: kind, prefixes, class, least number of characters. The
 * prefixes are those that the vendors document for secret scanners.
 */
export const PREFIXED_TOKENS: readonly [kind: string, prefixes: string, characters: string, least: number][] = [
  ['anthropic-key', 'sk-ant-', URL_SAFE, 16],
  ['github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', ALPHANUMERIC, 30],
  ['github-token', 'github_pat_', '\\w', 30],
  ['gitlab-token', 'glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- glffct-', '[\\w.-]', 20],
  ['google-token', 'ya29. GOCSPX- 1//0', URL_SAFE, 20],
  ['slack-token', 'xapp- xoxe.', '[\\w.-]', 20],
  ['stripe-key', 'whsec_', '[A-Za-z0-9+/=]', 24],
  ['npm-token', 'npm_', ALPHANUMERIC, 36],
  ['pypi-token', 'pypi-', URL_SAFE, 40],
  ['huggingface-token', 'hf_ api_org_', ALPHANUMERIC, 30],
  ['digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', HEX, 64],
  ['vault-token', 'hvs. hvb. hvr.', URL_SAFE, 20],
  ['groq-key', 'gsk_', ALPHANUMERIC, 30],
  ['perplexity-key', 'pplx-', ALPHANUMERIC, 30],
  ['linear-key', 'lin_api_ lin_oauth_', ALPHANUMERIC, 30],
  ['notion-token', 'ntn_', ALPHANUMERIC, 40],
  ['notion-token', 'secret_', ALPHANUMERIC, 43],
  ['supabase-token', 'sbp_', HEX, 40],
  ['supabase-token', 'sb_secret_', URL_SAFE, 20],
  ['age-key', 'AGE-SECRET-KEY-1', '[A-Z0-9]', 40],
  ['shopify-token', 'shpat_ shpca_ shppa_ shpss_', '[0-9a-fA-F]', 32],
  ['square-token', 'sq0atp- sq0csp- sq0idp-', URL_SAFE, 22],
  ['replicate-token', 'r8_', ALPHANUMERIC, 30],
  ['xai-key', 'xai-', ALPHANUMERIC, 60],
  ['nvidia-key', 'nvapi-', URL_SAFE, 40],
  ['tavily-key', 'tvly-', URL_SAFE, 24],
  ['cerebras-key', 'csk-', ALPHANUMERIC, 40],
  ['pinecone-key', 'pcsk_', '\\w', 40],
  ['langsmith-key', 'lsv2_pt_ lsv2_sk_', '\\w', 30],
  ['grafana-token', 'glsa_ glc_', '[\\w=+/]', 32],
  ['newrelic-key', 'NRAK- NRII- NRJS-', URL_SAFE, 19],
  ['sentry-token', 'sntrys_ sntryu_', '[\\w=+/-]', 40],
  ['postman-key', 'PMAK-', '[0-9a-f-]', 40],
  ['planetscale-token', 'pscale_pw_ pscale_tkn_ pscale_oauth_', '[\\w.=-]', 30],
  ['doppler-token', 'dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.', '[\\w.-]', 40],
  ['figma-token', 'figd_ figoh_ figor_', '[\\w-]', 36],
  ['atlassian-token', 'ATATT3 ATCTT3 ATBB', '[\\w=-]', 24],
  ['tailscale-key', 'tskey-', URL_SAFE, 20],
  ['netlify-token', 'nfp_ nfc_ nfo_', ALPHANUMERIC, 36],
  ['circleci-token', 'CCIPAT_ CCIPRJ_', '\\w', 40],
  ['buildkite-token', 'bkua_', HEX, 40],
  ['rubygems-key', 'rubygems_', HEX, 48],
  ['pulumi-token', 'pul-', HEX, 40],
  ['sonar-token', 'sqp_ squ_ sqa_', HEX, 40],
  ['sourcegraph-token', 'sgp_', '\\w', 40],
  ['brevo-key', 'xkeysib- xsmtpsib-', '[0-9A-Za-z-]', 60],
  ['fly-token', 'fm1r_ fm2_ fo1_', '[\\w=+/,-]', 40],
  ['dynatrace-token', 'dt0c01. dt0s16.', '[A-Z0-9.]', 80],
  ['onepassword-token', 'ops_eyJ', '[\\w=+/-]', 100],
  ['prefect-key', 'pnu_ pnb_', ALPHANUMERIC, 36],
  ['posthog-key', 'phx_ phs_', ALPHANUMERIC, 40],
  ['neon-key', 'napi_', ALPHANUMERIC, 50],
  ['typeform-token', 'tfp_', '[\\w.-]', 40],
  ['readme-key', 'rdme_', '[a-z0-9]', 60],
  ['shippo-token', 'shippo_live_ shippo_test_', HEX, 40],
  ['adafruit-key', 'aio_', ALPHANUMERIC, 28],
  ['contentful-token', 'CFPAT-', URL_SAFE, 43],
  ['clojars-token', 'CLOJARS_', ALPHANUMERIC, 60],
  ['easypost-key', 'EZAK EZTK', ALPHANUMERIC, 54],
  ['flutterwave-key', 'FLWSECK_TEST- FLWSECK-', URL_SAFE, 32],
  ['heroku-token', 'HRKU-', URL_SAFE, 36],
  ['artifactory-key', 'AKCp', ALPHANUMERIC, 60],
  ['duffel-token', 'duffel_live_ duffel_test_', '[\\w=-]', 43],
  ['aws-bedrock-key', 'ABSK', '[A-Za-z0-9+/=]', 100],
  ['amazon-mws-token', 'amzn.mws.', '[0-9a-f-]', 36],
  ['elevenlabs-key', 'sk_', HEX, 48],
  ['firecrawl-key', 'fc-', HEX, 32],
  ['mailgun-key', 'key-', HEX, 32],
  ['databricks-token', 'dapi', HEX, 32],
  ['launchdarkly-key', 'sdk- api- mob-', '[0-9a-f]{8}-[0-9a-f-]', 27],
  ['plaid-token', 'access-sandbox- access-production- access-development-', '[0-9a-f-]', 36],
]

/** Its pattern is made when it is needed: a hook starts for every tool use, and hardly any text has such a token. */
function prefixedRule([kind, prefixes, characters, least]: (typeof PREFIXED_TOKENS)[number]): SecretRule {
  const hints = prefixes.split(' ')
  let made: RegExp | null = null
  return {
    kind,
    hints,
    dense: true,
    get pattern() {
      const alternatives = hints.map((prefix) => prefix.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
      made ??= atWordStart(new RegExp(`(?:${alternatives})${characters}{${least},}`, 'g'))
      return made
    },
  }
}

/** Words that are long enough for a token. There are few of them in most texts, and they are found in one pass. */
const DENSE = /[\w.+/=~:,-]{15,}/g

/** The rules whose hints are in the text. */
export function applicableRules(text: string): SecretRule[] {
  const words = text.match(DENSE)?.join(' ') ?? ''
  return SECRET_RULES.filter(({ hints, dense }) => hints.some((hint) => (dense ? words : text).includes(hint)))
}

export const SECRET_RULES: readonly SecretRule[] = [
  ...PREFIXED_TOKENS.map(prefixedRule),
  { kind: 'openai-key', dense: true, hints: ['sk-'], pattern: atWordStart(/sk-[\w-]{20,}/g), accepts: hasDigit },
  {
    kind: 'aws-access-key-id',
    dense: true,
    hints: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    pattern: atWordStart(/A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])/g),
  },
  {
    kind: 'aws-secret-key',
    hints: ['ecret', 'ECRET'],
    pattern:
      /secret[_ ]?(?:access[_ ]?)?key\\{0,3}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/gi,
  },
  { kind: 'google-key', dense: true, hints: ['AIza'], pattern: /AIza[\w-]{35}(?![\w-])/g },
  {
    kind: 'slack-webhook',
    hints: ['hooks.slack.com'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/+-]{8,})/g,
  },
  {
    kind: 'discord-webhook',
    hints: ['/api/webhooks/'],
    pattern: /discord(?:app)?\.com\/api\/webhooks\/\d{10,25}\/([\w-]{30,})/g,
  },
  { kind: 'teams-webhook', hints: ['webhook.office.com'], pattern: /webhook\.office\.com\/([\w@/-]{30,})/g },
  { kind: 'slack-token', dense: true, hints: ['xox'], pattern: /xox[abceoprs]-[A-Za-z0-9-]{10,}/g, accepts: hasDigit },
  {
    kind: 'stripe-key',
    dense: true,
    hints: ['k_live_', 'k_test_'],
    pattern: atWordStart(/[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g),
  },
  { kind: 'sendgrid-key', dense: true, hints: ['SG.'], pattern: atWordStart(/SG\.[\w-]{16,}\.[\w-]{16,}/g) },
  { kind: 'twilio-key', dense: true, hints: ['SK'], pattern: atWordStart(/SK[0-9a-f]{32}(?!\w)/g) },
  { kind: 'mailchimp-key', dense: true, hints: ['-us'], pattern: atWordStart(/[0-9a-f]{32}-us\d{1,2}(?!\w)/g) },
  { kind: 'resend-key', dense: true, hints: ['re_'], pattern: atWordStart(/re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/g) },
  { kind: 'mapbox-token', dense: true, hints: ['sk.eyJ'], pattern: atWordStart(/sk\.eyJ[\w-]{40,}\.[\w-]{16,}/g) },
  { kind: 'airtable-token', dense: true, hints: ['pat'], pattern: atWordStart(/pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/g) },
  { kind: 'terraform-token', dense: true, hints: ['.atlasv1.'], pattern: /[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}/g },
  { kind: 'azure-secret', dense: true, hints: ['Q~'], pattern: /[\w.~-]{3}\dQ~[\w.~-]{31,34}/g },
  {
    kind: 'telegram-token',
    dense: true,
    hints: [':AA'],
    pattern: /(?<![\d.:])\d{8,10}:AA[\w-]{32,34}(?![\w-])/g,
  },
  {
    kind: 'discord-token',
    dense: true,
    hints: ['.'],
    pattern: atWordStart(/[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g),
    accepts: hasDigit,
  },
  { kind: 'jwt', dense: true, hints: ['eyJ'], pattern: atWordStart(/eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g) },
  { kind: 'signature', hints: ['ig='], pattern: /[?&;]sig=([\w%+/=-]{16,})/g },
  { kind: 'signature', hints: ['-Signature='], pattern: /[?&;]X-(?:Amz|Goog)-Signature=([0-9a-f]{32,})/gi },
  { kind: 'jwk', hints: ['"kty"', '\\"kty'], pattern: /\\{0,3}"d\\{0,3}"\s{0,8}:\s{0,8}\\{0,3}"([\w-]{32,})/g },
  {
    kind: 'key',
    hints: [' key'],
    pattern:
      /(?:api|access|secret|private|master|signing) key["']?[ \t]{0,4}(?:[:=]|is)[ \t]{0,4}["'`]?([\w+/=.~-]{12,})/gi,
    accepts: (secret) => hasDigit(secret) && isNotWord(secret),
  },
  {
    kind: 'authorization',
    hints: ['uthorization', 'UTHORIZATION'],
    pattern:
      /(?<![a-z])authorization\\{0,3}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["'`]?(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,8}([\w.~+/=:-]{6,})/gi,
    accepts: isNotWord,
  },
  {
    kind: 'authorization',
    hints: ['uthorization', 'UTHORIZATION'],
    pattern: /(?<![a-z])authorization\\{0,3}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["'`]?([\w.~+/=:-]{6,})/gi,
    accepts: (secret) => hasDigit(secret) && isNotWord(secret) && !/^\w+\.\w+\.?/.test(secret.slice(0, 40)),
  },
  {
    kind: 'authorization',
    hints: ['earer ', 'EARER '],
    pattern: atWordStart(/bearer[ \t]{1,8}([\w.~+/=-]{16,})/gi),
    accepts: (secret) => hasDigit(secret) && isNotWord(secret),
  },
  {
    kind: 'cookie',
    hints: ['ookie', 'OOKIE'],
    // Up to the quote or the end of the line: a request has all cookies in one header, an answer has one and attributes.
    pattern: atWordStart(
      /cookie\\{0,3}["']?[ \t]{0,4}:[ \t]{0,4}[[\\"'`]{0,5}([^\s=;"'`<>()[\]{}\\]{1,128}=[^\r\n"'`\\]{4,4096})/gi,
    ),
    accepts: isCookie,
  },
  {
    kind: 'cookie',
    hints: ['et-cookie', 'et-Cookie', 'ET-COOKIE'],
    pattern:
      /set-cookie\\{0,3}["']?[ \t]{0,4}:[ \t]{0,4}[[\\"'`]{0,5}[^\s=;"'`<>()[\]{}\\]{1,128}=([^\s;"'`\\]{4,4096})/gi,
    accepts: isNotWord,
  },
  {
    kind: 'url-password',
    hints: ['://'],
    pattern: /:\/\/[^\s/:@"'`<>\\]{0,128}:([^\s/"'`<>\\]{1,256})@/g,
    accepts: (secret) => !isPlaceholderValue(secret),
  },
]

/** At least one value that is not a plain word: `theme=dark` alone is not a secret. */
function isCookie(header: string): boolean {
  return header.split(';').some((pair) => {
    const value = pair.slice(pair.indexOf('=') + 1).trim()
    return value.length >= 6 && isNotWord(value)
  })
}

/**
 * PEM private keys. In a block that was cut, one end is enough: a BEGIN without END masks the rest of the text, an END
 * without BEGIN everything before it. A PuTTY key has no such ends: it is masked from its private lines to its MAC.
 */
export const PRIVATE_KEYS: SpanRule = {
  hint: /PRIVATE KEY|Private-Lines:/,
  marker: '[secret:private-key]',
  find(text) {
    const spans: Span[] = []
    let start: number | null = null
    for (const match of text.matchAll(KEY_MARKS)) {
      const end = match.index + match[0].length
      if (match[1] === 'BEGIN' || match[0].startsWith('Private-Lines')) {
        if (start === null && !isQuotedMark(text, end, end)) start = match.index
        continue
      }
      // A MAC alone follows the private lines of a key that is already masked.
      if (match[1] === undefined && start === null) continue
      if (start === null && isQuotedMark(text, match.index - 1, match.index - KEY_WINDOW)) continue
      spans.push({ start: start ?? spans.at(-1)?.end ?? 0, end })
      start = null
    }
    if (start !== null) spans.push({ start, end: text.length })
    return spans
  },
}

/** Characters beside a mark in which a key has its first or last line. */
const KEY_WINDOW = 120

/** Code that compares with a mark has it in quotes, with no key beside it. */
function isQuotedMark(text: string, quoteAt: number, from: number): boolean {
  if (!/["'`]/.test(text[quoteAt] ?? '')) return false
  return !/[A-Za-z0-9+/=]{40}/.test(text.slice(Math.max(0, from), Math.max(0, from) + KEY_WINDOW))
}

const KEY_MARKS =
  /-----(BEGIN|END) (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: \d{1,4}|Private-MAC: [0-9a-f]{1,128}/g
