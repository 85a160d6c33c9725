/** Colours by name; plain text where nobody would see them. */

export type Paint = (text: string) => string

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const

export type Style = Readonly<Record<keyof typeof CODES, Paint>>

export function styleOf(coloured: boolean): Style {
  const paint = (name: keyof typeof CODES): Paint => {
    const [open, close] = CODES[name]
    return coloured ? (text) => (text === '' ? '' : `\x1b[${open}m${text}\x1b[${close}m`) : (text) => text
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

/** https://no-color.org: set and not empty means no colour; FORCE_COLOR is for `| less -R`. */
export function wantsColour(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  if ((env.NO_COLOR ?? '') !== '') return false
  if ((env.FORCE_COLOR ?? '') !== '') return env.FORCE_COLOR !== '0'
  return isTerminal && env.TERM !== 'dumb'
}

/** How something is to be shown: what every renderer needs besides its data. */
export interface Look {
  style: Style
  /** Width of the terminal; null when the output goes elsewhere and nothing needs to be cut. */
  columns: number | null
  now: number
  /** The terminal has no signs to draw with. */
  ascii?: boolean
}

/** A terminal that says nothing about itself is taken for one of today. */
export function isAscii(env: NodeJS.ProcessEnv): boolean {
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((value) => (value ?? '') !== '') ?? ''
  return env.TERM === 'dumb' || (locale !== '' && !/utf-?8/i.test(locale))
}
