/** Where the reader stands in a reply: the next tag, and the text before it. */
import { Finder, scanTags, type Tag } from './scan.ts'

export class Cursor {
  readonly reply: string
  readonly tags: readonly Tag[]
  /** Index of the next tag. */
  next = 0
  /** Index of the first character that was not read yet. */
  at = 0
  readonly #commentEnd: Finder

  constructor(reply: string) {
    this.reply = reply
    this.tags = scanTags(reply)
    this.#commentEnd = new Finder(reply, '-->')
  }

  /** The next tag that is not inside a comment. */
  peek(): Tag | null {
    for (let tag = this.tags[this.next]; tag !== undefined; tag = this.tags[this.next]) {
      const comment = this.reply.slice(this.at, tag.start).lastIndexOf('<!--')
      const end = comment < 0 ? -1 : this.#commentEnd.from(this.at + comment)
      if (end < tag.end) return tag
      this.at = end
      while ((this.tags[this.next]?.start ?? end) < end) this.next++
    }
    return null
  }

  pass(tag: Tag): void {
    this.next++
    this.at = tag.end
  }

  passTo(index: number): void {
    this.next = index + 1
    this.at = this.tags[index]?.end ?? this.reply.length
  }

  /** To just before a tag; behind the last one is the end of the reply. */
  stopAt(index: number): Tag | null {
    const tag = this.tags[index]
    this.next = index
    this.at = tag?.start ?? this.reply.length
    return tag ?? null
  }

  /** Index of the tag that closes the one at `index`, null for none. */
  closing(index: number): number | null {
    const tag = this.tags[index]
    const close = tag?.nextClose ?? null
    if (tag === undefined || close === null || (tag.nextRoot !== null && tag.nextRoot < close)) return null
    if (tag.nextOpen === null || tag.nextOpen > close) return close
    // A text may speak of its own tag, once, or of the pair of them.
    if (tag.is.role !== 'text' || tag.nextOpen !== index + 1 || close !== index + 2) return null
    const outer = this.tags[close]?.nextClose ?? null
    return outer === close + 1 ? outer : close
  }
}
