/** Numbers, sizes and colours in texts for people. */

/** `1 session`, `2 sessions`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function formatBytes(count: number): string {
  if (count < 1024) return `${count} B`
  const kilobytes = count / 1024
  if (kilobytes < 1024) return `${kilobytes.toFixed(kilobytes < 10 ? 1 : 0)} KB`
  const megabytes = kilobytes / 1024
  if (megabytes < 1024) return `${megabytes.toFixed(megabytes < 10 ? 1 : 0)} MB`
  return `${(megabytes / 1024).toFixed(1)} GB`
}

/** `950`, `1.2k`, `34k`, `5.6M` */
export function formatCount(count: number): string {
  const whole = Math.round(count)
  if (whole < 1_000) return String(whole)
  if (whole < 999_500) return `${twoDigits(whole / 1_000)}k`
  return `${twoDigits(whole / 1_000_000)}M`
}

function twoDigits(number: number): string {
  return number < 9.95 ? number.toFixed(1).replace(/\.0$/, '') : String(Math.round(number))
}

const paint = (open: number, close: number) => (text: string) => `\u001b[${open}m${text}\u001b[${close}m`

export const bold = paint(1, 22)
export const cyan = paint(36, 39)
export const yellow = paint(33, 39)

const COLOR_CODES = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')

export function stripColors(text: string): string {
  return text.replace(COLOR_CODES, '')
}
