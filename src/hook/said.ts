/** For the model, and for the person. */
export interface Said {
  context: string | null
  message: string | null
}

/** Of something that came from outside. */
export function said(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
