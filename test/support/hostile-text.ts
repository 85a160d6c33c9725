/** Texts that make careless patterns slow: one character or a pair, repeated. */
import { expectLinearTime } from './linear-time.ts'

export const HOSTILE_PIECES: readonly string[] = [
  ...' \n\t\r\v',
  ...'aA1é中',
  ...'.,;:!?@$%&~^+=/\\|*_-#<>()[]{}"\'`',
  ...['\u00a0', '\u200b', '\u0301', '😀', '\ud83d', '\udc00', '\u0000', '\u001b[', '\u2028'],
  ...['a ', '- ', '\n ', ' \n', '\r\n', '\n- ', '\n* a', '1. ', '\n1. a', '# ', '> ', '**', '__', '``', '```\n', '~~~'],
  ...[
    '[](',
    '[a](',
    '![',
    '<a',
    '<a>',
    '</',
    '<!--',
    '-->',
    '&lt;',
    '&#',
    '{{',
    '${',
    '$(',
    '"a',
    "'a",
    '\\"',
    '\\n',
    '"\\',
  ],
  ...[
    'a.',
    'a,',
    'a-',
    'a_',
    'aA',
    'a1',
    'a/',
    'a:',
    ': ',
    'a=',
    '=a',
    'a(',
    '()',
    '{a:',
    '://',
    'a@',
    '//',
    '/*',
    '*/',
    '--',
    '=>',
  ],
  ...[
    '| ',
    '|\n',
    '\n\n',
    '+\n',
    '\n+',
    '\n-',
    '\n@@',
    '1:',
    '1,',
    '1.',
    '1 ',
    ' at ',
    'error',
    'Error: ',
    'fail',
    'a\n',
  ],
  ...[
    'password',
    'password=',
    'password: ',
    'token ',
    'secret:',
    'key',
    '_key',
    'pass ',
    'eyJ',
    'sk-',
    '-----BEGIN ',
    'login ',
  ],
  ...[
    '<private>',
    '</private>',
    '<observation>',
    '<title>',
    '<fact>',
    '<tool_use ',
    '<claude-mem-context>',
    '<!-- claude-mem:begin',
  ],
  ...[
    'curl -u ',
    'mysql -p',
    'diff --git a/',
    '==> ',
    '.env:',
    'kind: Secret\n',
    'data:\n',
    'import ',
    'from ',
    'def ',
    'impl ',
  ],
  ...[
    'because ',
    'use ',
    'let ',
    'We decided to ',
    'and ',
    'exit ',
    'npm test;',
    'git commit -m ',
    '<<EOF\n',
    "'$'",
    'PASS ',
  ],
  // A word without blanks, with many names.
  ...['?token=d&', 'token=a;key=b;', '"token":{', '| token |\n', 'token,key\n'],
  // What adapters of clients look for.
  ...[
    '*** Add File: a\n',
    '*** Update File: a\n@@\n',
    '@@ -1 +1 @@\n+',
    '<task_result>',
    '<task_result>\n',
    '<content>\n',
    '</file>',
    '<hook_context>',
    '<hook_context></hook_context>',
    '\nError: ',
    '\nExit Code: 1',
    '<shellId: ',
    '<exited with exit code 1> ',
  ],
]

/** Characters. */
const LARGE = 65_536
/** Each is compared with eight times as much. The small ones are for functions that read only the beginning of a text. */
const SIZES = [256, 2_048, LARGE / 8]
/** Work on 64 KB that takes less CPU time than this cannot be quadratic: that would be billions of steps. In ms. */
const SURELY_LINEAR_MS = 250

/** Blanks are between words: alone most functions would trim them. */
export function repeated(piece: string, chars: number): string {
  const text = piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars)
  return text.trim() === '' ? `a${text}b` : text
}

/** Fails if the time of `work` grows faster than the text, for any of the pieces. */
export function expectLinearOnHostileText(
  work: (text: string) => unknown,
  name: string,
  pieces: readonly string[] = HOSTILE_PIECES,
): void {
  for (const piece of pieces) {
    const before = process.cpuUsage()
    work(repeated(piece, LARGE))
    const { user } = process.cpuUsage(before)
    if (user / 1_000 < SURELY_LINEAR_MS) continue
    for (const size of SIZES) {
      expectLinearTime((chars) => work(repeated(piece, chars)), size, `${name} on ${JSON.stringify(piece)}, ${size}`)
    }
  }
}
