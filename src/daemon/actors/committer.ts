/** Group commit: commits that arrive while the store is busy share its next transaction. */
import type { Commit, CommitResult } from '../../store/commit.ts'
import type { Store } from '../../store/port.ts'

/** Commits in one transaction. More would only delay the first of them. */
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

  /** Resolves once the commit is durable or has failed. */
  submit(commit: Commit): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ commit, resolve, reject })
      if (this.#busy) return
      this.#busy = true
      // Commits of the same turn of the event loop join the group.
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
          if (result === undefined) member.reject(new Error('the store returned no result for a commit'))
          else member.resolve(result)
        })
      } catch (error) {
        for (const member of group) member.reject(error)
      }
    }
    this.#busy = false
  }
}
