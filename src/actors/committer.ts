/** Group commit: what several sessions decide while the store is busy shares its next transaction. */
import type { Commit, CommitResult } from '../store/commit.ts'
import type { Store } from '../store/port.ts'

/** Members of one transaction. More would only delay the first of them. */
const MAX_GROUP = 128

interface Waiting {
  commit: Commit
  resolve: (result: CommitResult) => void
  reject: (error: unknown) => void
}

export class Committer {
  readonly #store: Pick<Store, 'commit'>
  #queue: Waiting[] = []
  #busy = false

  constructor(store: Pick<Store, 'commit'>) {
    this.#store = store
  }

  /** Resolves once the commit is durable, or is known not to be. */
  submit(commit: Commit): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ commit, resolve, reject })
      if (this.#busy) return
      this.#busy = true
      // What arrives in the same turn of the event loop joins the group.
      setImmediate(() => void this.#work())
    })
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, MAX_GROUP)
      try {
        const results = await this.#store.commit(group.map((member) => member.commit))
        group.forEach((member, i) => {
          const result = results[i]
          if (result === undefined) member.reject(new Error('the store gave no result for a commit'))
          else member.resolve(result)
        })
      } catch (error) {
        for (const member of group) member.reject(error)
      }
    }
    this.#busy = false
  }
}
