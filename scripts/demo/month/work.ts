/** A month of somebody's work in four projects, told turn by turn: what was asked, done, learned. */
import type { FunctionChange, ObservationType } from '../../../src/memory/observation.ts'

export interface Learned {
  type: ObservationType
  title: string
  subtitle: string
  narrative: string
  facts: string[]
  concepts: string[]
  read?: string[]
  modified?: string[]
  functions?: FunctionChange[]
}

export interface WorkTurn {
  project: 'shop' | 'gateway' | 'atlas-docs' | 'pocket'
  prompt: string
  /** Commands, or files that were read or edited. */
  did: string[]
  learned: Learned[]
  completed: string
  nextSteps: string
}

export const WORK: readonly WorkTurn[] = [
  {
    project: 'shop',
    prompt: 'The checkout test fails since the Stripe upgrade. Find out why and fix it properly.',
    did: [
      'npm test',
      'src/checkout/charge.ts',
      'src/cart/total.ts',
      'node -e "console.log(33.1*3*100)"',
      'src/cart/money.ts',
      'npm test',
      'git commit',
    ],
    learned: [
      {
        type: 'bugfix',
        title: 'Checkout failed because totals were float dollars',
        subtitle: 'Stripe 19 refuses amounts that are not whole cents',
        narrative:
          'Cart totals were floating point dollars multiplied by 100 at the last moment: 33.1 * 3 * 100 is 9930.000000000002. Stripe 19 validates amounts before it sends them and refused the charge. Rounding at the call hid it for one test and broke the coupon test, so the totals themselves became integer cents.',
        facts: [
          '33.1 * 3 * 100 === 9930.000000000002',
          'stripe@19 validates `amount` client side',
          'Rounding in charge.ts broke test/coupon.test.ts (8440 instead of 8441)',
        ],
        concepts: ['money', 'stripe', 'floating point'],
        read: ['src/checkout/charge.ts', 'src/checkout/gateway.ts'],
        modified: ['src/cart/total.ts', 'src/cart/money.ts', 'src/checkout/charge.ts'],
        functions: [
          { name: 'total', file: 'src/cart/total.ts', action: 'modified' },
          { name: 'cents', file: 'src/cart/money.ts', action: 'new' },
        ],
      },
      {
        type: 'decision',
        title: 'Money is integer cents everywhere, not decimal.js',
        subtitle: 'The database stores integers, and the bundle stays small',
        narrative:
          'decimal.js would have been the smaller diff, but it adds 32 KB to the browser bundle and the database stores integers anyway. All amounts are integer cents from the catalogue to the invoice; only the view formats them.',
        facts: ['decimal.js adds 32 KB to the browser bundle', 'Only src/view/format.ts may divide by 100'],
        concepts: ['money', 'architecture'],
        modified: ['src/cart/money.ts'],
      },
    ],
    completed: 'The checkout test is green again (47 of 47); amounts are integer cents from the cart to Stripe.',
    nextSteps: 'The invoice template still formats dollars by hand.',
  },
  {
    project: 'gateway',
    prompt: 'p99 of the gateway doubles every afternoon. Where does the time go?',
    did: [
      'kubectl top pods',
      'src/pool.ts',
      'src/upstream.ts',
      'npx autocannon -c 200 http://localhost:8080/health',
      'src/pool.ts',
      'npm run bench',
    ],
    learned: [
      {
        type: 'discovery',
        title: 'The afternoon latency is TLS handshakes, not the upstream',
        subtitle: 'keep-alive connections were closed after 5 s',
        narrative:
          'Node closes idle keep-alive sockets after five seconds. In the afternoon requests come in bursts with pauses of six to ten seconds between them, so nearly every burst began with full TLS handshakes: 180 of the 240 ms at p99.',
        facts: [
          'keepAliveTimeout defaults to 5,000 ms',
          'A handshake to the payment upstream takes 61 ms at the median',
          'Bursts are 6 to 10 s apart between 14:00 and 17:00',
        ],
        concepts: ['latency', 'tls', 'keep-alive'],
        read: ['src/pool.ts', 'src/upstream.ts'],
      },
      {
        type: 'change',
        title: 'Upstream sockets stay open for 65 s',
        subtitle: 'Longer than the load balancer’s own 60 s',
        narrative:
          'The pool keeps idle sockets for 65 seconds, a little longer than the load balancer, so that it is never we who close first. p99 under the recorded afternoon load fell from 240 to 71 ms.',
        facts: [
          'p99 240 ms before, 71 ms after (recorded load, 200 connections)',
          'The load balancer closes idle connections after 60 s',
        ],
        concepts: ['latency', 'configuration'],
        modified: ['src/pool.ts', 'config/production.yaml'],
      },
    ],
    completed: 'Found and removed the afternoon handshakes; p99 is 71 ms under the recorded load.',
    nextSteps: 'Watch open sockets per pod for a week.',
  },
  {
    project: 'atlas-docs',
    prompt: 'Search on the docs site finds nothing for Japanese pages.',
    did: ['src/search/index.ts', 'node scripts/query.mjs 検索', 'src/search/tokenize.ts', 'npm test -- search'],
    learned: [
      {
        type: 'bugfix',
        title: 'Japanese pages were indexed as one endless word',
        subtitle: 'The tokenizer split on spaces only',
        narrative:
          'The tokenizer split on white space, which Japanese does not use, so a page was one token. It now uses Intl.Segmenter where the page’s language has no spaces, and pairs of characters for what the segmenter does not know.',
        facts: ['Intl.Segmenter is in Node 16 and newer', 'Index size grew from 1.9 to 2.3 MB'],
        concepts: ['search', 'i18n'],
        modified: ['src/search/tokenize.ts'],
        functions: [{ name: 'tokenize', file: 'src/search/tokenize.ts', action: 'modified' }],
      },
    ],
    completed: 'Searches in Japanese and Chinese find their pages.',
    nextSteps: 'Thai has no test page yet.',
  },
  {
    project: 'pocket',
    prompt: 'The app drains the battery when it is offline.',
    did: ['adb shell dumpsys batterystats', 'lib/sync/retry.dart', 'lib/sync/queue.dart', 'flutter test'],
    learned: [
      {
        type: 'bugfix',
        title: 'Offline sync retried every second for ever',
        subtitle: 'The backoff was reset by the connectivity callback',
        narrative:
          'Android reports “connected” for a Wi-Fi without internet. Each report reset the exponential backoff, so the queue woke the radio once a second. The backoff now resets only after a request succeeded.',
        facts: ['ConnectivityResult.wifi does not mean internet', '3,400 wakeups an hour before, 12 after'],
        concepts: ['battery', 'sync', 'backoff'],
        modified: ['lib/sync/retry.dart'],
        functions: [{ name: 'Backoff.reset', file: 'lib/sync/retry.dart', action: 'modified' }],
      },
    ],
    completed: 'Offline the app wakes the radio 12 times an hour instead of 3,400.',
    nextSteps: 'Check iOS background fetch for the same pattern.',
  },
  {
    project: 'shop',
    prompt: 'Add coupons with an expiry date; they are valid on their last day.',
    did: [
      'src/cart/coupons.ts',
      'test/coupon-expiry.test.ts',
      'npm test',
      'src/cart/coupons.ts',
      'migrations/0012_coupon_expiry.sql',
      'npm test',
    ],
    learned: [
      {
        type: 'feature',
        title: 'Coupons expire at the end of their last day, in the shop’s zone',
        subtitle: 'The comparison is by calendar day, not by instant',
        narrative:
          'A coupon that is good until 31 March is good all day in the shop’s time zone, wherever the customer is. The expiry is stored as a date without time and compared with today’s date in Europe/Berlin.',
        facts: [
          'coupons.expires_on is DATE, not TIMESTAMP',
          'Temporal is not available in Node 20: Intl.DateTimeFormat gives the local date',
        ],
        concepts: ['coupons', 'time zones'],
        modified: ['src/cart/coupons.ts', 'migrations/0012_coupon_expiry.sql'],
        functions: [
          { name: 'redeem', file: 'src/cart/coupons.ts', action: 'modified' },
          { name: 'isExpired', file: 'src/cart/coupons.ts', action: 'new' },
        ],
      },
    ],
    completed: 'Coupons have an expiry date; 50 tests pass.',
    nextSteps: 'Show the date on the coupon page.',
  },
  {
    project: 'gateway',
    prompt: 'Rate limit by API key instead of by address.',
    did: ['src/limit.ts', 'src/keys.ts', 'redis-cli --latency', 'src/limit.ts', 'npm test'],
    learned: [
      {
        type: 'decision',
        title: 'Rate limits use a sliding window in Redis, counted per key',
        subtitle: 'Token buckets per pod let a customer through once for each pod',
        narrative:
          'With a bucket in each pod a customer gets the limit times the number of pods. A sliding window in Redis costs one round trip (0.4 ms) and is the same everywhere; when Redis does not answer within 5 ms, requests are let through and counted locally.',
        facts: ['Redis round trip 0.4 ms at the median inside the cluster', 'Fails open after 5 ms'],
        concepts: ['rate limiting', 'redis'],
        modified: ['src/limit.ts'],
      },
      {
        type: 'refactor',
        title: 'Key lookup moved out of the request path',
        subtitle: 'Keys are cached for 30 s with their limits',
        narrative:
          'The lookup of an API key was a query for each request. Keys and their limits are now read once and kept for 30 seconds; a revoked key is announced over Redis and dropped at once.',
        facts: ['Database queries per second fell from 900 to 4'],
        concepts: ['caching'],
        modified: ['src/keys.ts'],
      },
    ],
    completed: 'Limits hold across pods and count by key.',
    nextSteps: 'Return `retry-after` with 429.',
  },
  {
    project: 'pocket',
    prompt: 'Why do photos sometimes upload twice?',
    did: [
      'lib/upload/uploader.dart',
      'sqlite3 app.db "select * from uploads limit 20"',
      'lib/upload/uploader.dart',
      'flutter test',
    ],
    learned: [
      {
        type: 'bugfix',
        title: 'Photos uploaded twice when the app was killed after sending',
        subtitle: 'The row was marked only after the response',
        narrative:
          'The upload was marked as done when the response came back. An app that was killed in between sent it again at the next start. Each upload now has an id made before the first attempt, and the server answers a known id with what it stored.',
        facts: [
          'The id is a UUID stored with the row before the request',
          'The server returns 200 with `duplicate: true`',
        ],
        concepts: ['idempotency', 'upload'],
        modified: ['lib/upload/uploader.dart', 'lib/upload/upload_row.dart'],
      },
    ],
    completed: 'An upload counts once, however often it is sent.',
    nextSteps: 'Clean up the doubles of the last week.',
  },
  {
    project: 'atlas-docs',
    prompt: 'The build takes nine minutes. Make it fast.',
    did: ['npm run build -- --profile', 'src/build/render.ts', 'src/build/images.ts', 'npm run build', 'npm run build'],
    learned: [
      {
        type: 'discovery',
        title: 'Seven of nine build minutes are image resizing',
        subtitle: 'Every image is resized on every build',
        narrative:
          'The profile shows 412 s in sharp: 1,300 images in four sizes, each time. Rendering the pages takes 58 s.',
        facts: ['412 s in sharp, 58 s in rendering', '1,300 images × 4 sizes'],
        concepts: ['build', 'performance'],
        read: ['src/build/images.ts'],
      },
      {
        type: 'feature',
        title: 'Resized images are kept by content hash',
        subtitle: 'A build with no new image takes 64 s',
        narrative:
          'Resized images are stored under the hash of the source and the options, in a directory that CI keeps between runs. A cold build is as slow as before, a warm one takes 64 seconds.',
        facts: ['Warm build 64 s, cold 540 s', 'The cache is 410 MB; CI keeps it for 14 days'],
        concepts: ['build', 'caching'],
        modified: ['src/build/images.ts', '.github/workflows/build.yml'],
      },
    ],
    completed: 'A warm build takes 64 s instead of 540 s.',
    nextSteps: 'Render pages in two workers.',
  },
  {
    project: 'shop',
    prompt: 'Customers in Norway see the wrong VAT.',
    did: ['src/tax/rates.ts', 'rg "vat" src', 'src/tax/rates.ts', 'npm test -- tax'],
    learned: [
      {
        type: 'bugfix',
        title: 'Norway was taxed like an EU country',
        subtitle: 'VOEC applies below 3,000 NOK',
        narrative:
          'Norway is not in the EU, so the destination rule for EU consumers does not apply. Below 3,000 NOK the shop collects 25 % under VOEC; above it the customer pays at the border and the shop must not add VAT.',
        facts: ['The threshold is per item, not per order', 'VOEC number goes on the parcel label'],
        concepts: ['tax', 'norway'],
        modified: ['src/tax/rates.ts'],
        functions: [{ name: 'vatFor', file: 'src/tax/rates.ts', action: 'modified' }],
      },
      {
        type: 'change',
        title: 'Tax rates carry the law they come from',
        subtitle: 'Each row has a source and a date',
        narrative:
          'Every rate in the table now names its source and the day from which it holds, so that the next change can be checked instead of believed.',
        facts: ['62 rates, 62 sources'],
        concepts: ['tax'],
        modified: ['src/tax/rates.ts', 'test/tax/sources.test.ts'],
      },
    ],
    completed: 'Norway is right below and above the threshold; every rate names its source.',
    nextSteps: 'Switzerland has a similar threshold: check it.',
  },
  {
    project: 'gateway',
    prompt: 'Upgrade to Node 22 and see what breaks.',
    did: ['npm test', 'src/upstream.ts', 'Dockerfile', 'npm test', 'npm run bench'],
    learned: [
      {
        type: 'discovery',
        title: 'Node 22 breaks nothing but the mock of fetch',
        subtitle: 'undici’s MockAgent must be the version that Node bundles',
        narrative:
          'All tests pass on Node 22 except those that mock fetch: the MockAgent of undici 5 is not seen by the fetch of Node 22. With undici 6 as a dev dependency they pass.',
        facts: ['undici@6 is needed for MockAgent on Node 22', 'Start-up is 11 % faster'],
        concepts: ['node', 'upgrade', 'testing'],
        modified: ['package.json', 'Dockerfile'],
      },
    ],
    completed: 'The gateway runs on Node 22.',
    nextSteps: 'Remove the --experimental flags from the start script.',
  },
  {
    project: 'pocket',
    prompt: 'Settle how we store dates in the local database.',
    did: ['lib/db/schema.dart', 'rg DateTime lib', 'lib/db/schema.dart', 'docs/decisions/0007-dates.md'],
    learned: [
      {
        type: 'decision',
        title: 'Dates are stored as UTC milliseconds, days as ISO text',
        subtitle: 'A birthday is not an instant',
        narrative:
          'Moments are integers in UTC milliseconds; calendar days (birthdays, due dates) are ISO dates without a zone. Mixing them moved birthdays by a day for users who travel.',
        facts: ['Birthdays moved by a day east of UTC+10', 'ADR 0007'],
        concepts: ['dates', 'database', 'architecture'],
        modified: ['lib/db/schema.dart', 'docs/decisions/0007-dates.md'],
      },
    ],
    completed: 'ADR 0007 says how dates are stored; the schema follows it.',
    nextSteps: 'Migrate the two old columns.',
  },
  {
    project: 'shop',
    prompt: 'The order list is slow for large customers.',
    did: [
      'psql -c "explain analyze select …"',
      'src/orders/list.ts',
      'migrations/0013_orders_keyset.sql',
      'npm test -- orders',
    ],
    learned: [
      {
        type: 'refactor',
        title: 'The order list pages by key instead of by offset',
        subtitle: 'Page 400 takes as long as page 1',
        narrative:
          'OFFSET 20,000 read and threw away twenty thousand rows. The list now continues after the last (created_at, id) it showed, with an index on both.',
        facts: ['1.9 s before, 6 ms after for page 400', 'Index orders_customer_created_id'],
        concepts: ['postgres', 'performance', 'pagination'],
        modified: ['src/orders/list.ts', 'migrations/0013_orders_keyset.sql'],
        functions: [{ name: 'listOrders', file: 'src/orders/list.ts', action: 'modified' }],
      },
    ],
    completed: 'Order lists of any length open in milliseconds.',
    nextSteps: 'The export still uses offsets.',
  },
]
