/**
 * Secrets whose format shows what they are: keys and tokens with a known prefix, credentials in headers and URLs,
 * private keys. Every pattern begins with a literal or is bounded, so the time is linear in the length of the text.
 */
import type { Span, SpanRule } from './private-parts.ts'
import { isMixed, isPlaceholderValue, isWord, looksRandom } from './secret-names.ts'

export interface SecretRule {
  kind: string
  /** Literals: a text without any of them contains no such secret, and the pattern is not tried. In lower case unless `dense`. */
  hints: readonly string[]
  /** The secret has only characters of `DENSE`, and at least so many: it is searched for in words of that length. */
  dense?: number
  /** Its capture group is the secret; without one the whole match is. */
  readonly pattern: RegExp
  /** Returns false for a match that is not a secret. */
  accepts?: (secret: string) => boolean
}

const hasDigit = (text: string): boolean => /\d/.test(text)
const isNotWord = (text: string): boolean => !isWord(text)

/**
 * Matches only at the start of a word. In JSON text the `n` of an escaped line break is not part of a word, nor is the `m` of a
 * terminal's colour.
 */
const WORD_START = '(?:(?<![\\w-])|(?<=\\\\[bfnrt])|(?<=\\[[\\d;]{0,12}m))'
const atWordStart = (pattern: RegExp): RegExp => new RegExp(WORD_START + pattern.source, pattern.flags)
/** The same for a word and what follows it. The word is searched for first: that takes a tenth of the time. */
const wordAtStart = (word: string, rest: RegExp): RegExp =>
  new RegExp(`${word}(?<=${WORD_START}${word})${rest.source}`, rest.flags)

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
  ['google-token', 'ya29.', '[\\w.-]', 20],
  ['google-token', 'GOCSPX- 1//0', URL_SAFE, 20],
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
  ['docker-token', 'dckr_pat_ dckr_oat_', URL_SAFE, 20],
  ['nuget-key', 'oy2', '[a-z0-9]', 43],
  ['cloudflare-token', 'cfut_ cfat_ cfk_', ALPHANUMERIC, 40],
  ['vercel-token', 'vcp_ vci_ vca_ vcr_ vck_', ALPHANUMERIC, 24],
  ['neon-password', 'npg_', ALPHANUMERIC, 12],
  ['square-token', 'EAAA', URL_SAFE, 60],
  ['facebook-token', 'EAA', ALPHANUMERIC, 80],
  ['razorpay-key', 'rzp_live_ rzp_test_', ALPHANUMERIC, 14],
  ['hubspot-token', 'pat-na1- pat-na2- pat-eu1-', '[0-9a-f-]', 36],
  ['snyk-token', 'snyk_sat. snyk_uat.', '[\\w.-]', 40],
  ['artifactory-token', 'cmVmdGtu', ALPHANUMERIC, 56],
  ['scalingo-token', 'tk-us-', URL_SAFE, 48],
  ['lob-key', 'live_ test_', HEX, 35],
  ['frameio-token', 'fio-u-', URL_SAFE, 64],
  ['ionic-token', 'ion_', '[a-z0-9]', 42],
  ['intra-secret', 's-s4t2ud- s-s4t2af-', HEX, 64],
  ['infracost-key', 'ico-', ALPHANUMERIC, 32],
  ['fireworks-key', 'fw_', ALPHANUMERIC, 22],
  ['extended-private-key', 'xprv9 yprv zprv', ALPHANUMERIC, 100],
]

/** Its pattern is made when it is needed: a hook starts for every tool use, and hardly any text has such a token. */
function prefixedRule([kind, prefixes, characters, least]: (typeof PREFIXED_TOKENS)[number]): SecretRule {
  const hints = prefixes.split(' ')
  let made: RegExp | null = null
  return {
    kind,
    hints,
    dense: Math.min(...hints.map((prefix) => prefix.length)) + least,
    get pattern() {
      const alternatives = hints.map((prefix) => prefix.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
      made ??= atWordStart(new RegExp(`(?:${alternatives})${characters}{${least},}`, 'g'))
      return made
    },
  }
}

/** The characters of tokens, by their codes. */
const DENSE = Uint8Array.from({ length: 128 }, (_, code) => Number(/[\w.+/=~:,-]/.test(String.fromCharCode(code))))
/** Characters of the shortest token. */
export const LEAST_TOKEN = 15
/** Characters before a word that decide whether a token begins there: `[38;5;120m`, the colour of a terminal. */
const WORD_CONTEXT = 16

/**
 * The words that are long enough for a token, of which most texts have few. Such a word has one of every 15 characters of the
 * text, so that most characters are not looked at: it takes a tenth of the time of a pattern.
 */
export function denseWords(text: string): Span[] {
  const words: Span[] = []
  let from = 0
  for (let at = LEAST_TOKEN - 1; at < text.length; at += LEAST_TOKEN) {
    if (DENSE[text.charCodeAt(at)] !== 1) continue
    let start = at
    while (start > from && DENSE[text.charCodeAt(start - 1)] === 1) start--
    while (at < text.length && DENSE[text.charCodeAt(at)] === 1) at++
    if (at - start >= LEAST_TOKEN) words.push({ start, end: at })
    from = at
  }
  return words
}

/** With the characters around it that a pattern looks at. */
const withContext = (text: string, { start, end }: Span): string =>
  text.slice(Math.max(0, start - WORD_CONTEXT), end + 1)

interface RuleHint {
  hint: string
  rule: SecretRule
}

/** The hints of rules for dense words, by their first two characters. */
class HintTable {
  /** Of two characters of 7 bits: 0, or one more than the place in `hints`. */
  readonly #places = new Uint16Array(1 << 14)
  readonly #hints: RuleHint[][] = []
  /** Rules with a hint of one character. They are for long words. */
  readonly #short: RuleHint[] = []

  constructor(rules: readonly SecretRule[]) {
    for (const rule of rules) for (const hint of rule.hints) this.#add({ hint, rule })
  }

  #add(one: RuleHint): void {
    if (one.hint.length < 2) {
      this.#short.push(one)
      return
    }
    const pair = pairOf(one.hint.charCodeAt(0), one.hint.charCodeAt(1))
    const place = this.#places[pair] ?? 0
    if (place > 0) this.#hints[place - 1]?.push(one)
    else this.#places[pair] = this.#hints.push([one])
  }

  /** The rules with a hint in the word, if it is long enough for them. */
  rulesFor(text: string, { start, end }: Span): Set<SecretRule> {
    const found = new Set<SecretRule>()
    const length = end - start
    for (const { hint, rule } of this.#short) {
      if (isLongEnough(length, rule) && text.slice(start, end).includes(hint)) found.add(rule)
    }
    let before = text.charCodeAt(start)
    for (let at = start; at + 1 < end; at++) {
      const next = text.charCodeAt(at + 1)
      const place = this.#places[pairOf(before, next)] ?? 0
      before = next
      if (place === 0) continue
      for (const { hint, rule } of this.#hints[place - 1] ?? []) {
        if (isLongEnough(length, rule) && text.startsWith(hint, at)) found.add(rule)
      }
    }
    return found
  }
}

const pairOf = (first: number, second: number): number => ((first & 127) << 7) | (second & 127)
const isLongEnough = (length: number, { dense = 0 }: SecretRule): boolean => length >= dense

/**
 * The rules that may change the text, in their order. `hints`: those of `FORMAT_HINTS` in the text. `chained`: also those whose pattern matches only after another one was
 * applied, as with tokens that follow each other without a separator.
 */
export function applicableRules(text: string, hints: ReadonlySet<string>, chained = false): SecretRule[] {
  denseHints ??= new HintTable(SECRET_RULES.filter(({ dense }) => dense !== undefined))
  const matching = new Set<SecretRule>()
  for (const word of denseWords(text)) {
    for (const rule of denseHints.rulesFor(text, word)) {
      if (!matching.has(rule) && (chained || withContext(text, word).search(rule.pattern) !== -1)) matching.add(rule)
    }
  }
  shortHints ??= CONTEXT_RULES.flatMap((rule) =>
    rule.hints.filter((hint) => !isSearched(hint)).map((hint) => ({ hint, rule })),
  )
  for (const { hint, rule } of shortHints) if (text.includes(hint)) matching.add(rule)
  if (hints.size > 0) {
    for (const rule of CONTEXT_RULES) if (rule.hints.some((hint) => hints.has(hint))) matching.add(rule)
  }
  return matching.size === 0 ? [] : SECRET_RULES.filter((rule) => matching.has(rule))
}

/** Made when it is needed: hooks that report no text do not need it. */
let denseHints: HintTable | null = null
let shortHints: RuleHint[] | null = null
/** The shortest hint decides how many characters the search skips: `://` is looked for by itself. */
const isSearched = (hint: string): boolean => hint.length >= 5

const LOGIN_WORDS =
  'credential credentials creds login log-in sign-in zugangsdaten anmeldedaten identifiants credenciales credenziali inloggegevens'.split(
    ' ',
  )
/** A word with letters, and digits or signs in between: nobody is called so. */
const isChosen = (text: string): boolean => isMixed(text) && hasDigit(text) && !isPlaceholderValue(text)

export const SECRET_RULES: readonly SecretRule[] = [
  ...PREFIXED_TOKENS.map(prefixedRule),
  { kind: 'openai-key', dense: 23, hints: ['sk-'], pattern: atWordStart(/sk-[\w-]{20,}/g), accepts: hasDigit },
  {
    kind: 'aws-access-key-id',
    dense: 20,
    hints: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    pattern: atWordStart(/A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])/g),
  },
  {
    kind: 'aws-secret-key',
    hints: ['secretkey', 'secret_key', 'secret key', 'secretaccess', 'secret_access', 'secret access'],
    pattern:
      /secret[_ ]?(?:access[_ ]?)?key(?:\\{0,3}["']?[ \t]{0,8}[:=][ \t]{0,8}|[ \t]{1,8})\\{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/gi,
  },
  { kind: 'google-key', dense: 39, hints: ['AIza'], pattern: /AIza[\w-]{35}(?![\w-])/g },
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
  { kind: 'slack-token', dense: 15, hints: ['xox'], pattern: /xox[abceoprs]-[A-Za-z0-9-]{10,}/g, accepts: hasDigit },
  {
    kind: 'stripe-key',
    dense: 18,
    hints: ['k_live_', 'k_test_'],
    pattern: atWordStart(/[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g),
  },
  { kind: 'sendgrid-key', dense: 36, hints: ['SG.'], pattern: atWordStart(/SG\.[\w-]{16,}\.[\w-]{16,}/g) },
  { kind: 'twilio-key', dense: 34, hints: ['SK'], pattern: atWordStart(/SK[0-9a-f]{32}(?!\w)/g) },
  { kind: 'mailchimp-key', dense: 36, hints: ['-us'], pattern: atWordStart(/[0-9a-f]{32}-us\d{1,2}(?!\w)/g) },
  { kind: 'resend-key', dense: 32, hints: ['re_'], pattern: atWordStart(/re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/g) },
  { kind: 'mapbox-token', dense: 63, hints: ['sk.eyJ'], pattern: atWordStart(/sk\.eyJ[\w-]{40,}\.[\w-]{16,}/g) },
  { kind: 'airtable-token', dense: 82, hints: ['pat'], pattern: atWordStart(/pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/g) },
  { kind: 'terraform-token', dense: 63, hints: ['.atlasv1.'], pattern: /[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}/g },
  { kind: 'azure-secret', dense: 37, hints: ['Q~'], pattern: /[\w.~-]{3}\dQ~[\w.~-]{31,34}/g },
  {
    kind: 'telegram-token',
    dense: 43,
    hints: [':AA'],
    pattern: /(?<![\d.:])\d{8,10}:AA[\w-]{32,34}(?![\w-])/g,
  },
  {
    kind: 'discord-token',
    dense: 59,
    hints: ['.'],
    pattern: atWordStart(/[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g),
    accepts: hasDigit,
  },
  {
    kind: 'asana-token',
    dense: 50,
    hints: ['1/', '2/'],
    pattern: atWordStart(/[12]\/\d{12,20}(?:\/\d{12,20})?:[0-9a-f]{32}(?!\w)/g),
  },
  {
    kind: 'harness-token',
    dense: 70,
    hints: ['pat.', 'sat.'],
    pattern: atWordStart(/[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}/g),
  },
  {
    kind: 'azure-devops-token',
    dense: 84,
    hints: ['AZDO'],
    pattern: atWordStart(/[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}/g),
  },
  { kind: 'newrelic-key', dense: 40, hints: ['NRAL'], pattern: atWordStart(/[0-9a-f]{36}NRAL(?!\w)/g) },
  {
    kind: 'crates-token',
    dense: 35,
    hints: ['cio'],
    pattern: atWordStart(/cio[A-Za-z0-9]{32}(?!\w)/g),
    accepts: hasDigit,
  },
  {
    kind: 'mailgun-key',
    dense: 50,
    hints: ['-'],
    pattern: atWordStart(/[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/g),
  },
  {
    kind: 'cloudflare-key',
    dense: 170,
    hints: ['v1.0-'],
    pattern: atWordStart(/v1\.0-[0-9a-f]{24}-[0-9a-f]{146}/g),
  },
  { kind: 'adyen-key', hints: ['AQE'], pattern: atWordStart(/AQE[\w+/=]{40,512}-[\w+/=]{20,128}-[^\s"'`)\\]{8,64}/g) },
  {
    kind: 'braintree-token',
    hints: ['access_token$'],
    pattern: atWordStart(/access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}/g),
  },
  { kind: 'twitter-token', hints: ['aaaaaaaaaaaaaaaaaaaaa'], pattern: atWordStart(/A{21}\w{20,128}%[\w%]{20,256}/g) },
  { kind: 'jwt', dense: 32, hints: ['eyJ'], pattern: atWordStart(/eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g) },
  { kind: 'signature', hints: ['?sig=', '&sig=', ';sig='], pattern: /[?&;]sig=([\w%+/=-]{16,})/g },
  { kind: 'signature', hints: ['-signature='], pattern: /[?&;]X-(?:Amz|Goog)-Signature=([0-9a-f]{32,})/gi },
  { kind: 'signature', hints: ['&signature='], pattern: /[?&]Signature=([\w%+/~=-]{32,})/gi },
  {
    kind: 'jwk',
    hints: ['"kty"', '"kty\\'],
    pattern: /\\{0,3}"(?:d|p|q|dp|dq|qi)\\{0,3}"\s{0,8}:\s{0,8}\\{0,3}"([\w-]{32,})/g,
  },
  {
    kind: 'key',
    hints: ['api key', 'access key', 'secret key', 'private key', 'master key', 'signing key', 'unseal key'],
    pattern:
      /(?:api|access|secret|private|master|signing|unseal) key(?: \d)?["'*]{0,3}[ \t]{0,4}(?:[:=]|is|[*"'`|])[*]{0,2}[ \t]{0,4}["'`*]{0,3}([\w+/=.~-]{12,})/gi,
    accepts: (secret) => hasDigit(secret) && isNotWord(secret),
  },
  {
    kind: 'authorization',
    hints: ['authorization'],
    pattern:
      /(?<![a-z])authorization\\{0,3}["']?(?:[ \t]{0,8}[:=]|[ \t](?=\\{0,3}["']))[ \t]{0,8}\\{0,3}["'`]?(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,8}(?:token=)?\\{0,3}["']?((?!token=)[\w.~+/=:-]{6,})/gi,
    accepts: isNotWord,
  },
  {
    kind: 'authorization',
    hints: ['authorization'],
    pattern: /(?<![a-z])authorization\\{0,3}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["'`]?([\w.~+/=:-]{6,})/gi,
    accepts: (secret) => hasDigit(secret) && isNotWord(secret) && !/^\w+\.\w+\.?/.test(secret.slice(0, 40)),
  },
  {
    kind: 'authorization',
    hints: ['bearer ', 'bearer\t', 'bearer,'],
    pattern: wordAtStart('bearer', /(?:,[ \t]{0,4}|[ \t]{1,8})([\w.~+/=-]{16,})/gi),
    accepts: (secret) => hasDigit(secret) && isNotWord(secret),
  },
  {
    kind: 'cookie',
    hints: ['cookie'],
    // Up to the quote or the end of the line: a request has all cookies in one header, an answer has one and attributes.
    pattern: wordAtStart(
      'cookie',
      /\\{0,3}["']?[ \t]{0,4}[:=](?:[ \t]{0,4}[[\\"'`]{0,5})([^\s=;"'`<>()[\]{}\\]{1,128}=[^\r\n"'`\\]{4,4096})/gi,
    ),
    accepts: isCookie,
  },
  {
    kind: 'cookie',
    hints: ['set-cookie'],
    pattern:
      /set-cookie\\{0,3}["']?[ \t]{0,4}:[ \t]{0,4}[[\\"'`]{0,5}[^\s=;"'`<>()[\]{}\\]{1,128}=([^\s;"'`\\]{4,4096})/gi,
    accepts: isNotWord,
  },
  {
    kind: 'cookie',
    hints: ['document.cookie'],
    // What a browser prints under `document.cookie`.
    pattern: /document\.cookie(?:\s|\\n){1,4}<?[ \t]{0,4}\\{0,3}["']([^"'\n\\]{4,4096})/g,
    accepts: isCookie,
  },
  {
    kind: 'cookie',
    hints: ['cookie(', 'cookies.set(', 'cookies().set(', 'cookie.set('],
    pattern:
      /cookies?(?:\(\))?(?:\.set)?\(\\{0,3}["'][^"'\\]{1,128}\\{0,3}["'],[ \t]{0,4}\\{0,3}["']([^"'\n\\]{12,4096})/gi,
    accepts: (secret) => looksRandom(secret, 12),
  },
  {
    kind: 'cookie',
    hints: ['cookie",', "cookie',", 'cookie\\'],
    // A header as name and value.
    pattern:
      /["'](?:set-)?cookie\\{0,3}["'],(?:\s|\\n){0,40}\\{0,3}["']value\\{0,3}["'][ \t]?:[ \t]?\\{0,3}["']([^"'\n\\]{4,4096})/gi,
    accepts: isCookie,
  },
  {
    kind: 'authorization',
    hints: ['authorization",', "authorization',", 'authorization\\'],
    pattern:
      /authorization\\{0,3}["'],(?:\s|\\n){0,40}\\{0,3}["']value\\{0,3}["'][ \t]?:[ \t]?\\{0,3}["'](?:\w{1,12} )?([\w.~+/=:-]{6,4096})/gi,
    accepts: (secret) => hasDigit(secret) && isNotWord(secret),
  },
  {
    kind: 'authorization',
    hints: ['response='],
    pattern: /digest [^\r\n]{0,600}?[ ,]response=\\{0,3}["']?([0-9a-f]{32,128})/gi,
  },
  {
    kind: 'cookie',
    hints: ['true\t', 'false\t', 'true\\t', 'false\\t'],
    // A line of a cookie jar: seven fields.
    pattern:
      /(?:\t|\\t)(?:TRUE|FALSE)(?:\t|\\t)\/[^\t\n\\]{0,256}(?:\t|\\t)(?:TRUE|FALSE)(?:\t|\\t)-?\d{1,16}(?:\t|\\t)[^\t\n\\]{1,256}(?:\t|\\t)([^\t\r\n\\"]{6,4096})/g,
    accepts: isNotWord,
  },
  {
    kind: 'password',
    hints: ['identified by', 'identified with', 'identified as'],
    pattern:
      /identified[ \t]{1,4}(?:with[ \t]{1,4}[\w'"]{1,64}[ \t]{1,4})?(?:by|as)[ \t]{1,4}(?:password[ \t]{1,4})?\\{0,3}(?:'([^'\n]{1,256})'(?!@)|"([^"\n\\]{1,256})\\{0,3}")/gi,
    accepts: (secret) => !isPlaceholderValue(secret),
  },
  {
    kind: 'password',
    hints: ['identified by', 'identified with', 'identified as'],
    pattern:
      /(?:user|connect to)[ \t]{1,4}\S{1,64}[ \t]{1,4}identified[ \t]{1,4}by[ \t]{1,4}(?!random[ \t])([\w$#]{3,128})/gi,
  },
  {
    kind: 'password',
    hints: [' on >'],
    pattern: /(?:user|SETUSER)[ \t]{1,4}\S{1,64} on >(\S{1,256})/gi,
  },
  {
    kind: 'password',
    hints: ['> auth ', 'auth-pass '],
    pattern: /(?<![\w-])(?:AUTH|auth-pass)[ \t](?:[\w-]{1,64}[ \t])?([\w+/=.~%!@#^*:-]{12,256})/g,
    accepts: (secret) => looksRandom(secret, 12),
  },
  {
    kind: 'password',
    hints: ['securestring'],
    pattern: /ConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?\\{0,3}["']([^"'\n]{1,256}?)\\{0,3}["']/gi,
    accepts: (secret) => !isPlaceholderValue(secret) && !secret.startsWith('$'),
  },
  {
    kind: 'password',
    hints: ['securestring'],
    pattern: /["']([^"'\n\\]{1,256})\\{0,3}["'][ \t]{0,4}\|[ \t]{0,4}ConvertTo-SecureString/gi,
    accepts: (secret) => !isPlaceholderValue(secret),
  },
  {
    kind: 'password',
    hints: [
      ...['getconnection(', 'basicauth(', 'basic_auth(', 'credential', 'userpassword(', '.auth('],
      ...['login(', 'log_in(', 'signin(', 'sign_in(', 'authenticate('],
    ],
    // A call with a name and a password.
    pattern:
      /(?:getConnection|basic_?auth|credentials?(?:\]?::new)?|changeUserPassword|\.auth|log_?in|sign_?in|authenticate)\((?:\\{0,3}["'][^"'\n\\]{0,200}\\{0,3}["'],[ \t]{0,4}){1,2}\\{0,3}["']([^"'\n\\]{4,200})\\{0,3}["']/gi,
    accepts: (secret) => /[^A-Za-z_ -]/.test(secret) && !isPlaceholderValue(secret),
  },
  {
    kind: 'password',
    hints: ['oracle:thin:'],
    pattern: /oracle:thin:[\w.$-]{1,64}\/([^\s@"'`]{1,128})@/gi,
  },
  {
    kind: 'password',
    hints: ['form-data; name='],
    // A field of a form: the value is below a blank line.
    pattern:
      /form-data; name=\\{0,3}["'][\w.[\]-]{0,60}(?:passw(?:or)?d|passphrase|secret|token)[\]]?\\{0,3}["'](?:\r?\n|\\r\\n|\\n){2}([^\r\n\\]{4,4096})/gi,
    accepts: (secret) => !isPlaceholderValue(secret),
  },
  { kind: 'saml', hints: ['samlresponse=', 'samlrequest='], pattern: /SAML(?:Response|Request)=([\w+/=%]{64,})/gi },
  {
    kind: 'password',
    hints: LOGIN_WORDS.map((word) => `${word} `).concat(LOGIN_WORDS.map((word) => `${word}:`)),
    // A name and its password: `credentials: admin:…`, `login: jo@acme.com / …`
    pattern:
      /(?:credentials?|creds|log[ -]?in|sign[ -]?in|zugangsdaten|anmeldedaten|identifiants|credenciales|credenziali|inloggegevens)[*"'` \t]{0,4}[:：][*"'` \t]{0,4}[\w.@+-]{2,64}(?:[ \t]{0,2}[:|][ \t]{0,2}|[ \t]\/[ \t])([^\s"'`|]{6,128})/gi,
    accepts: isChosen,
  },
  { kind: 'credentials', hints: ['_auth=', ':_auth '], pattern: /(?<![A-Za-z0-9])_auth[ =]([A-Za-z0-9+/=]{16,512})/g },
  {
    kind: 'url-token',
    hints: ['://'],
    pattern: /:\/\/([^\s/:@"'`<>\\]{16,256})@/g,
    accepts: (secret) => looksRandom(secret, 16),
  },
  {
    kind: 'url-password',
    hints: ['://'],
    pattern: /:\/\/(?!\[secret:[a-z-]{1,40}\]@)[^\s/:@"'`<>\\]{0,128}:([^\s/"'`<>\\]{1,256})@/g,
    accepts: (secret) => !isPlaceholderValue(secret),
  },
]

/** What is around the secret shows it, not its own characters. */
const CONTEXT_RULES = SECRET_RULES.filter(({ dense }) => dense === undefined)

/** Hints that are searched for together with those of other detectors. */
export const FORMAT_HINTS: readonly string[] = CONTEXT_RULES.flatMap(({ hints }) => hints.filter(isSearched))

const COOKIE_ATTRIBUTE = /^(?:expires|max-age|path|domain|samesite|secure|httponly|partitioned)$/i

/** At least one value that is not a plain word: `theme=dark` alone is not a secret. */
function isCookie(header: string): boolean {
  return header.split(';').some((pair) => {
    const [name = '', value = ''] = [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()]
    return value.length >= 6 && isNotWord(value) && !/\s/.test(value) && !COOKIE_ATTRIBUTE.test(name)
  })
}

/**
 * PEM private keys, and those of PuTTY. A mark (`-----BEGIN … PRIVATE KEY-----`) is masked together with the lines of the key
 * beside it, and the mask ends where they end: code has the marks without a key, and of a key that was cut one end is left.
 */
export const PRIVATE_KEYS: SpanRule = {
  literals: ['PRIVATE KEY', 'Private-Lines:'],
  marker: '[secret:private-key]',
  find(text) {
    const spans: Span[] = []
    const marks = [...text.matchAll(KEY_MARKS)].map(({ index, 0: mark }) => ({
      start: index,
      end: index + mark.length,
      opens: /^(?:-----BEGIN|Private-Lines)/.test(mark),
    }))
    for (const [i, mark] of marks.entries()) {
      const from = Math.max(marks[i - 1]?.end ?? 0, spans.at(-1)?.end ?? 0)
      if (mark.opens) {
        const next = marks[i + 1]
        const lines = keyLines(text.slice(mark.end, next?.start))
        if (lines.chars === 0) continue
        const closes = lines.isAll && next?.opens === false
        spans.push({ start: mark.start, end: closes ? next.end : mark.end + lines.chars })
      } else if (mark.start >= from) {
        const { chars } = keyLines(text.slice(from, mark.start), true)
        if (chars > 0) spans.push({ start: mark.start - chars, end: mark.end })
      }
    }
    return spans
  },
}

const KEY_MARKS =
  /-----(?:BEGIN|END) (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: \d{1,4}|Private-MAC: [0-9a-f]{1,128}/g

/** Also as JSON text has it, and where a text was cut. */
const LINE_BREAK = /((?:\\+[nr]|[\n\r]|\[… [^\]\n]{1,60} …\])+)/
/** What a diff, a listing or source code has before and after the line of a key. */
const LINE_START = /^(?:[\w./-]{0,200}(?::\d+:|-\d+-)|\s{0,8}\d{1,6}(?:[→:|\t]|\\t))?[\s"'`+|>#*,/\\-]*/
const LINE_END = /[\s"'`,;+\\}\]]*$/
const KEY_HEADER = /^[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)*: /
/** Words of base64 in one line: a key whose line breaks became spaces. */
const LEAST_LONG_WORD = 32
/** Characters at either end of a line in which there may be other things than the key. */
const MAX_DECORATION_CHARS = 240

/** Characters of the text that are lines of a key, from its beginning or its end. Blank lines and headers may be among them. */
function keyLines(text: string, fromEnd = false): { chars: number; isAll: boolean } {
  const pieces = text.split(LINE_BREAK)
  if (fromEnd) pieces.reverse()
  let at = 0
  let chars = 0
  for (const [i, piece] of pieces.entries()) {
    at += piece.length
    if (i % 2 === 1) continue
    const kind = keyLineKind(piece)
    if (kind === 'other' || (kind === 'header' && chars > 0 !== fromEnd)) return { chars, isAll: false }
    if (kind === 'key') chars = at
  }
  return { chars, isAll: chars > 0 }
}

function keyLineKind(line: string): 'key' | 'header' | 'blank' | 'other' {
  const head = line.slice(0, MAX_DECORATION_CHARS).replace(LINE_START, '')
  const rest = head + line.slice(MAX_DECORATION_CHARS)
  const tail = rest.slice(-MAX_DECORATION_CHARS).replace(LINE_END, '')
  const inner = rest.slice(0, -MAX_DECORATION_CHARS) + tail
  if (inner === '') return 'blank'
  if (/^[A-Za-z0-9+/]+={0,4}$/.test(inner)) return 'key'
  const words = inner.split(/\s+/)
  const areBase64 = words.every((word) => /^[A-Za-z0-9+/=]+$/.test(word))
  if (areBase64 && words.some((word) => word.length >= LEAST_LONG_WORD)) return 'key'
  return KEY_HEADER.test(inner) ? 'header' : 'other'
}
