/** What people should know about the daemon, newest last: shown by `status`, and logged. */
export interface Notice {
  at: number
  level: 'info' | 'warn' | 'error'
  text: string
}

const MOST = 50

export class Notices {
  readonly #list: Notice[] = []

  add(at: number, level: Notice['level'], text: string): void {
    // The same thing again moves to the end instead of filling the list.
    const known = this.#list.findIndex((notice) => notice.text === text)
    if (known !== -1) this.#list.splice(known, 1)
    this.#list.push({ at, level, text })
    if (this.#list.length > MOST) this.#list.shift()
  }

  get list(): readonly Notice[] {
    return this.#list
  }
}
