/** The transcripts of Claude Code: `<config>/projects/<directory>/<session>.jsonl`. */
import { join } from 'node:path'
import { readEntries } from './lines.ts'
import { addTranscript, directoriesIn, type FoundTranscripts, namesIn, type TranscriptReader } from './reader.ts'

export const claudeCodeTranscripts: TranscriptReader = {
  client: 'claude-code',
  find: ({ env, home }) => findTranscripts(env.CLAUDE_CONFIG_DIR || join(home, '.claude')),
  // Whatever no other reader recognises is read as one.
  recognises: () => true,
  entries: readEntries,
}

/** Files of subagents belong to the session that started them. */
const AGENT_FILE = /^agent-/

export function findTranscripts(configDir: string): FoundTranscripts {
  const found: FoundTranscripts = { files: [], problems: [] }
  for (const directory of directoriesIn(join(configDir, 'projects'), found)) {
    for (const file of namesIn(directory, found)) {
      if (!file.endsWith('.jsonl') || AGENT_FILE.test(file)) continue
      addTranscript(claudeCodeTranscripts.client, join(directory, file), found)
    }
  }
  return found
}
