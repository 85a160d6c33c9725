/** Terminal colours, and the properties of the output that every renderer needs. */

export type Paint = (text: string) => string

/** SGR codes that switch an attribute on and off. */
const SGR_CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const

export type Style = Readonly<Record<keyof typeof SGR_CODES, Paint>>

/** Without colour every paint returns its text unchanged. */
export function createStyle(coloured: boolean): Style {
  const paint = (name: keyof typeof SGR_CODES): Paint => {
    const [on, off] = SGR_CODES[name]
    return coloured ? (text) => (text === '' ? '' : `\x1b[${on}m${text}\x1b[${off}m`) : (text) => text
  }
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    blue: paint('blue'),
    cyan: paint('cyan'),
  }
}

/** NO_COLOR (https://no-color.org) switches colour off if it is not empty; FORCE_COLOR switches it on, for `| less -R`. */
export function shouldUseColour(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  if ((env.NO_COLOR ?? '') !== '') return false
  if ((env.FORCE_COLOR ?? '') !== '') return env.FORCE_COLOR !== '0'
  return isTerminal && env.TERM !== 'dumb'
}

/** Properties of the output. Every renderer takes its data and a `Display`. */
export interface Display {
  style: Style
  /** Width of the terminal; null when the output is not a terminal and nothing needs to be truncated. */
  columns: number | null
  /** Epoch ms. Relative times ("2 min ago") are relative to this. */
  now: number
  /** The terminal cannot show box-drawing characters. */
  ascii?: boolean
}

/** A terminal that declares no locale is assumed to support UTF-8. */
export function isAsciiTerminal(env: NodeJS.ProcessEnv): boolean {
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((value) => (value ?? '') !== '') ?? ''
  return env.TERM === 'dumb' || (locale !== '' && !/utf-?8/i.test(locale))
}
