/**
 * Rows of the second corpus: how a vendor documents a format, with the secrets in it marked, and harmless texts that look
 * like it. They were written before any rule was changed because of them.
 */
import type { SecretValues } from '../samples.ts'

/** A text in that format. `s` marks a secret. A first line that begins with `$ ` is a command, the rest its output. */
export type DocumentedText = (v: SecretValues, s: (secret: string) => string) => string

export interface DocumentedFormat {
  vendor: string
  format: string
  /** Where the vendor documents it. */
  source: string
  secret: readonly DocumentedText[]
  harmless: readonly DocumentedText[]
}

export const documented = (
  vendor: string,
  format: string,
  source: string,
  secret: readonly DocumentedText[],
  harmless: readonly DocumentedText[],
): DocumentedFormat => ({ vendor, format, source, secret, harmless })
