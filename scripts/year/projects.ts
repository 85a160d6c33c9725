/** The repositories of a made-up developer, and the words of their trade. Everything else is combined from these. */
export interface YearProject {
  name: string
  language: 'typescript' | 'python' | 'go'
  /** Folders of its sources. */
  folders: readonly [string, ...string[]]
  /** What its code is about. */
  nouns: readonly [string, ...string[]]
}

export const PROJECTS: readonly [YearProject, ...YearProject[]] = [
  {
    name: 'storefront',
    language: 'typescript',
    folders: ['src/cart', 'src/checkout', 'src/catalog', 'src/account', 'src/api'],
    nouns: [
      'basket',
      'coupon',
      'address',
      'invoice',
      'shipment',
      'discount',
      'wishlist',
      'variant',
      'refund',
      'session',
    ],
  },
  {
    name: 'ledger',
    language: 'python',
    folders: ['ledger/imports', 'ledger/rules', 'ledger/reports', 'ledger/store'],
    nouns: [
      'posting',
      'statement',
      'currency',
      'balance',
      'category',
      'transfer',
      'receipt',
      'budget',
      'period',
      'account',
    ],
  },
  {
    name: 'dispatcher',
    language: 'go',
    folders: ['internal/queue', 'internal/route', 'internal/worker', 'cmd/dispatcher'],
    nouns: [
      'webhook',
      'retry',
      'lease',
      'deadline',
      'partition',
      'payload',
      'endpoint',
      'backoff',
      'signature',
      'batch',
    ],
  },
  {
    name: 'telemetry-ui',
    language: 'typescript',
    folders: ['app/charts', 'app/panels', 'app/state', 'app/query'],
    nouns: ['series', 'legend', 'axis', 'threshold', 'annotation', 'dashboard', 'filter', 'sample', 'gauge', 'tooltip'],
  },
  {
    name: 'mailroom',
    language: 'python',
    folders: ['mailroom/parse', 'mailroom/deliver', 'mailroom/archive'],
    nouns: [
      'envelope',
      'mailbox',
      'attachment',
      'bounce',
      'thread',
      'signature',
      'label',
      'digest',
      'header',
      'template',
    ],
  },
  {
    name: 'gatekeeper',
    language: 'go',
    folders: ['internal/token', 'internal/policy', 'internal/audit', 'cmd/gatekeeper'],
    nouns: ['claim', 'scope', 'issuer', 'grant', 'policy', 'tenant', 'secret', 'rotation', 'audience', 'session'],
  },
]

export const VERBS = [
  'load',
  'parse',
  'merge',
  'validate',
  'expire',
  'resolve',
  'render',
  'split',
  'record',
  'restore',
] as const
export const QUALITIES = ['stale', 'empty', 'duplicate', 'late', 'partial', 'nested', 'oversized', 'unknown'] as const
export const CAUSES = [
  'the clock of the caller is ahead',
  'the cache was filled before the migration',
  'an index is off by one at the end of a page',
  'two workers take the same row',
  'the default is applied after the filter',
  'the error is swallowed in the callback',
  'rounding happens before the sum',
  'the lock is released too early',
] as const

export const EXTENSIONS = { typescript: 'ts', python: 'py', go: 'go' } as const
