/** What the memory already has of sessions whose transcripts are to be read. */
export interface AskedSession {
  session: string
  /** Id of the event with which its transcript ends. */
  end: string
}

export interface ReportedSession {
  session: string
  /** It came from somewhere else than its transcript: hooks, an import. */
  hooks: boolean
  /** Its transcript was read, or begun. */
  transcript: boolean
  /** To this very end. */
  finished: boolean
}
