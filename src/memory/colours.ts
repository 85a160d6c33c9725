/** Colours in what a client shows to a person. The hook knows whether they are wanted. */
const paint = (open: number, close: number) => (text: string) => `\u001b[${open}m${text}\u001b[${close}m`

export const bold = paint(1, 22)
export const cyan = paint(36, 39)
export const yellow = paint(33, 39)

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')

export function withoutColours(text: string): string {
  return text.replace(COLOURS, '')
}
