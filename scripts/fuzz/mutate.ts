/**
 * Damages valid samples: values of other types, texts that are hard to handle, broken JSON, broken bytes. Everything comes
 * from one `Random`, so that an input can be made again from its seed and index.
 */
import type { Random } from '../lib/random.ts'

type Json = unknown

/** Characters whose repetition makes careless patterns slow, one of each class. */
const REPEATED = [
  '*** Add File: a\n',
  '<task_result>\n',
  '<content>\n',
  '<hook_context></hook_context>',
  'a',
  'Z',
  '0',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '.',
  '-',
  '_',
  '/',
  '\\',
  '"',
  "'",
  '`',
  '<',
  '>',
  '(',
  '[',
  '{',
  '*',
  '#',
  '=',
  ':',
  '&',
  '%',
  '@',
  'é',
  '漢',
  '🙂',
  '\u200b',
  '\0',
  '\ud800',
  'ab',
  'a ',
  ' \n',
  '<a',
  '</',
  '<!--',
  '<private>',
  '&lt;',
  '\\u0000',
  '../',
  'AKIA',
  'a.b',
  'a@b.',
  '- ',
  '> ',
  '| ',
] as const

const HARD_TEXTS = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\udc00\ud800',
  'a\u0000b',
  '\u202eevil\u202c',
  '\u2028\u2029',
  '\ufeff',
  'é'.normalize('NFD'),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  'true',
  '-0',
  '1e400',
  '9007199254740993',
  '0x10',
  '../../../../etc/passwd',
  '/dev/zero',
  '/dev/full',
  '/proc/self/mem',
  '/proc/self/fd/0',
  'C:\\Windows\\System32',
  '\\\\?\\C:\\x',
  'CON',
  'file:///etc/passwd',
  'http://127.0.0.1:1/',
  "'; DROP TABLE events; --",
  '" OR NEAR(a b, 1) *',
  'a AND NOT (',
  '^{*}$',
  '<private>x</private>',
  '<private>never closed',
  '</private></private>',
  '<observation><title>x</title></observation>',
  '<!-- claude-mem -->',
  '%00%ff%zz',
  '%',
  '$(id)',
  '{{x}}',
  'AKIAIOSFODNN7EXAMPLE',
  'password=hunter2hunter2',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIE',
  'line\u0085line\u000bline\u000cline',
  '\x1b[31mred\x1b]0;title\x07',
  '[Request interrupted by user]',
  'transcript:start:x',
  'remember:x',
] as const

const HARD_NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.5,
  1e-7,
  255,
  65_536,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  8.64e15,
  8.64e15 + 1,
  9e15,
  1e21,
  1e308,
  -1e308,
  5e-324,
] as const

/** Lengths of long texts: mostly short, so that a million inputs take minutes. */
function longLength(random: Random): number {
  const dice = random.next()
  if (dice < 0.9) return random.between(2, 300)
  if (dice < 0.995) return random.between(300, 20_000)
  return random.between(20_000, 140_000)
}

export function hardText(random: Random): string {
  const dice = random.next()
  if (dice < 0.5) return random.pick(HARD_TEXTS)
  if (dice < 0.8) {
    const part = random.pick(REPEATED)
    return part.repeat(Math.ceil(longLength(random) / part.length))
  }
  if (dice < 0.9) return `${hardText(random)}${hardText(random)}`
  return Array.from({ length: random.between(1, 40) }, () => String.fromCharCode(random.between(0, 0xffff))).join('')
}

export function hardValue(random: Random): Json {
  const dice = random.next()
  if (dice < 0.4) return hardText(random)
  if (dice < 0.6) return random.pick(HARD_NUMBERS)
  if (dice < 0.75) return random.pick<Json>([null, true, false, [], {}, [[]], [null], { '': '' }])
  if (dice < 0.85) return Array.from({ length: random.between(1, 60) }, () => random.pick<Json>(['x', 0, null, {}]))
  if (dice < 0.95) return { [hardText(random).slice(0, 60)]: hardText(random) }
  return nested(random)
}

/** Deep enough to overflow a recursive reader now and then. */
function nested(random: Random): Json {
  const depth = random.chance(0.9) ? random.between(5, 200) : random.between(1_000, 6_000)
  let value: Json = random.pick<Json>([null, 'x', 0])
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

/** A copy with one to four changes at random places of the tree. */
export function mutateValue(sample: Json, random: Random): Json {
  let value = structuredClone(sample)
  const changes = random.chance(0.7) ? 1 : random.between(2, 4)
  for (let i = 0; i < changes; i++) value = changeAt(value, random, 0)
  return value
}

const MAX_DEPTH = 12

function changeAt(value: Json, random: Random, depth: number): Json {
  if (depth < MAX_DEPTH && Array.isArray(value) && value.length > 0 && random.chance(0.85)) {
    return changeItem(value, random, depth)
  }
  if (depth < MAX_DEPTH && isRecord(value) && Object.keys(value).length > 0 && random.chance(0.95)) {
    return changeField(value, random, depth)
  }
  return typeof value === 'string' && random.chance(0.4) ? mutateText(value, random) : hardValue(random)
}

function changeItem(list: readonly Json[], random: Random, depth: number): Json {
  const at = random.between(0, list.length - 1)
  const dice = random.next()
  if (dice < 0.1) return list.toSpliced(at, 1)
  if (dice < 0.2) return list.toSpliced(at, 0, list[at])
  if (dice < 0.25) return Array.from({ length: random.between(2, 200) }, () => list[at])
  return list.toSpliced(at, 1, changeAt(list[at], random, depth + 1))
}

function changeField(record: Record<string, Json>, random: Random, depth: number): Json {
  const names = Object.keys(record)
  const name = names[random.between(0, names.length - 1)] ?? ''
  const dice = random.next()
  const { [name]: value, ...rest } = record
  if (dice < 0.12) return rest
  if (dice < 0.18) return { ...rest, [hardText(random).slice(0, 80)]: value }
  if (dice < 0.24) return { ...record, [hardText(random).slice(0, 80)]: hardValue(random) }
  if (dice < 0.3) return { ...record, [name]: record[names[random.between(0, names.length - 1)] ?? ''] }
  return { ...record, [name]: changeAt(value, random, depth + 1) }
}

/** Cuts, repeats, inserts, replaces: on characters. */
export function mutateText(text: string, random: Random): string {
  const at = random.between(0, text.length)
  const to = Math.min(text.length, at + random.between(0, 30))
  switch (random.between(0, 6)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(at)
    case 2:
      return text.slice(0, at) + text.slice(to)
    case 3:
      return text.slice(0, to) + text.slice(at)
    case 4:
      return text.slice(0, at) + hardText(random) + text.slice(at)
    case 5:
      return text.slice(0, at) + hardText(random) + text.slice(to)
    default:
      return `${text}${text.slice(at, to).repeat(random.between(1, 20))}`
  }
}

/** JSON of a damaged value, or damaged JSON. */
export function mutateJson(sample: Json, random: Random): string {
  const dice = random.next()
  if (dice < 0.7) return stringify(mutateValue(sample, random))
  const text = stringify(sample)
  if (dice < 0.8) return mutateText(text, random)
  if (dice < 0.85) return `\ufeff${text}`
  // The same field twice, with another value.
  if (dice < 0.9) return text.replace(/^\{/, () => `{"${hardName(sample, random)}":${stringify(hardValue(random))},`)
  if (dice < 0.95) return `${text}${random.pick([' ', '\n', ',', text, '}', '\0'])}`
  return stringify(mutateText(text, random))
}

function hardName(sample: Json, random: Random): string {
  const names = isRecord(sample) ? Object.keys(sample) : []
  return names[random.between(0, names.length - 1)] ?? 'x'
}

/** Nested too deep for the stack: then it is not JSON. */
function stringify(value: Json): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return '['.repeat(10_000)
  }
}

export function mutateBytes(bytes: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes)
  const at = random.between(0, changed.length)
  switch (random.between(0, 5)) {
    case 0:
      return changed.subarray(0, at)
    case 1:
      return changed.subarray(at)
    case 2: {
      for (let i = 0, count = random.between(1, 8); i < count && changed.length > 0; i++) {
        const place = random.between(0, changed.length - 1)
        changed[place] = random.between(0, 255)
      }
      return changed
    }
    case 3:
      return Buffer.concat([changed.subarray(0, at), randomBytes(random), changed.subarray(at)])
    case 4:
      return Buffer.concat([changed, changed.subarray(at)])
    default:
      return Buffer.concat([
        changed.subarray(0, at),
        changed.subarray(Math.min(changed.length, at + random.between(1, 20))),
      ])
  }
}

export function randomBytes(random: Random, most = 64): Buffer {
  return Buffer.from(Array.from({ length: random.between(1, most) }, () => random.between(0, 255)))
}

function isRecord(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
